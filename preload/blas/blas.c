/* SPDX-License-Identifier: MIT */
/* blas.c - reads the sizes of a call's matrices; see blas.h. */
#include "preload/blas/blas.h"
#include "preload/blas/blas_real.h"
#include "preload/blas/cublas.h"
#include "preload/blas/onednn.h"

#include "collector/session/blas_op.h"
#include "collector/session/gate.h"
#include "collector/session/names.h"
#include "preload/process/hook.h"
#include "preload/process/life.h"
#include "preload/stack/unwind.h"
#include <errno.h>
#include <string.h>

/* How the sizes come, see blas_wrapped.h. */
enum how { F32, F64, C32, C64, G32, G64, LT, ONEDNN };

/* Functions with the sizes in the same places; which, of Fortran's. */
enum place_set {
	GEMM,
	GEMV,
	RANK_K,
	TRIANGLE,
	SYMMETRIC,
	GEMM_BATCH,
	CUDA_GROUPS_EX,
	GEMM_STRIDED,
	CUDA_STRIDED,
	CUDA_BATCHED,
	CUDA_EX,
	CUDA_STRIDED_EX,
	CUDA_BATCHED_EX,
	LU,
	CHOLESKY,
	QR,
	SOLVE,
	SOLVE_LU,
	SVD,
	EIGEN,
	EIGEN_GENERAL,
	LEAST,
	EIGEN_RANGE,
	SVD_BY_PART,
	INVERSE_LU,
	INVERSE_CHOLESKY,
	MAKE_Q,
	APPLY_Q,
	ASKED
};

#define NO -1

struct places {
	uint8_t op;
	int8_t side, trans[2], m, n, k;
	int8_t batch; /* counted from the end, 0 none */
	/* How large the work space is, 0 none: -1 asks how large it should be,
	 * and nothing is computed. */
	int8_t space;
};

static const struct places places[] = {
	[GEMM] = {BLAS_GEMM, NO, {0, 1}, 2, 3, 4, 0, 0},
	[GEMV] = {BLAS_GEMV, NO, {0, NO}, 1, 2, NO, 0, 0},
	[RANK_K] = {BLAS_RANK_K, NO, {1, NO}, NO, 2, 3, 0, 0},
	[TRIANGLE] = {BLAS_TRIANGLE, 0, {2, NO}, 4, 5, NO, 0, 0},
	[SYMMETRIC] = {BLAS_SYMMETRIC, 0, {NO, NO}, 2, 3, NO, 0, 0},
	[GEMM_BATCH] = {BLAS_GEMM, NO, {0, 1}, 2, 3, 4, 0, 0},
	[CUDA_GROUPS_EX] = {BLAS_GEMM, NO, {0, 1}, 2, 3, 4, 0, 0},
	[GEMM_STRIDED] = {BLAS_GEMM, NO, {0, 1}, 2, 3, 4, 1, 0},
	[CUDA_STRIDED] = {BLAS_GEMM, NO, {0, 1}, 2, 3, 4, 1, 0},
	[CUDA_BATCHED] = {BLAS_GEMM, NO, {0, 1}, 2, 3, 4, 1, 0},
	[CUDA_EX] = {BLAS_GEMM, NO, {0, 1}, 2, 3, 4, 0, 0},
	[CUDA_STRIDED_EX] = {BLAS_GEMM, NO, {0, 1}, 2, 3, 4, 3, 0},
	[CUDA_BATCHED_EX] = {BLAS_GEMM, NO, {0, 1}, 2, 3, 4, 3, 0},
	[LU] = {BLAS_LU, NO, {NO, NO}, 0, 1, NO, 0, 0},
	[CHOLESKY] = {BLAS_CHOLESKY, NO, {NO, NO}, 1, 1, NO, 0, 0},
	[QR] = {BLAS_QR, NO, {NO, NO}, 0, 1, NO, 0, 6},
	[SOLVE] = {BLAS_SOLVE, NO, {NO, NO}, 0, 0, 1, 0, 0},
	[SOLVE_LU] = {BLAS_SOLVE_LU, NO, {0, NO}, 1, 1, 2, 0, 0},
	[SVD] = {BLAS_SPECTRUM, NO, {NO, NO}, 1, 2, NO, 0, 11},
	[EIGEN] = {BLAS_SPECTRUM, NO, {NO, NO}, 2, 2, NO, 0, 7},
	[EIGEN_GENERAL] = {BLAS_SPECTRUM, NO, {NO, NO}, 2, 2, NO, 0, 0},
	[LEAST] = {BLAS_SPECTRUM, NO, {NO, NO}, 0, 1, NO, 0, 11},
	[EIGEN_RANGE] = {BLAS_SPECTRUM, NO, {NO, NO}, 3, 3, NO, 0, 17},
	[SVD_BY_PART] = {BLAS_SPECTRUM, NO, {NO, NO}, 2, 3, NO, 0, 12},
	[INVERSE_LU] = {BLAS_INVERSE_LU, NO, {NO, NO}, 0, 0, NO, 0, 5},
	[INVERSE_CHOLESKY] =
		{BLAS_INVERSE_CHOLESKY, NO, {NO, NO}, 1, 1, NO, 0, 0},
	[MAKE_Q] = {BLAS_MAKE_Q, NO, {NO, NO}, 0, 1, 2, 0, 7},
	[APPLY_Q] = {BLAS_APPLY_LEFT, NO, {1, NO}, 2, 3, 4, 0, 11},
	[ASKED] = {BLAS_NONE, NO, {NO, NO}, NO, NO, NO, 0, 0},
};

/* Of an X, cuBLAS says the type of A in this place, as cudaDataType counts. */
#define CUDA_TYPE_AT 8

#define BLAS_TYPE_X  BLAS_TYPE_OTHER

static const struct row {
	uint8_t how, places, type, words;
} rows[] = {
#define X(name, how, op, type, words) {how, op, BLAS_TYPE_##type, words},
	BLAS_WRAPPED_FUNCTIONS(X)
#undef X
};

/* The arguments, together. */
struct blas_call {
	enum blas_function function;
	uintptr_t from;
	uint64_t word[BLAS_WORDS_MAX];
};

static _Atomic uint32_t names[BLAS_FUNCTION_COUNT];

static bool is_wide(unsigned int how)
{
	return how == F64 || how == C64 || how == G64;
}

/* A size, or one of an array of them. */
static int64_t size_at(const void *at, size_t number, bool wide)
{
	return wide ? ((const int64_t *)at)[number]
		    : ((const int32_t *)at)[number];
}

static uint32_t clip(int64_t size)
{
	return size < 0 ? 0 : (uint32_t)min_u64((uint64_t)size, UINT32_MAX);
}

/* Fortran's places, shifted by what comes first elsewhere. */
static uint64_t word(const struct blas_call *call, int place)
{
	const unsigned int how = rows[call->function].how;

	return call->word[place + (how != F32 && how != F64)];
}

static int64_t value(const struct blas_call *call, int place)
{
	const unsigned int how = rows[call->function].how;
	const uint64_t given = word(call, place);

	if (how == F32 || how == F64)
		return size_at((const void *)given, 0, is_wide(how));
	return is_wide(how) ? (int64_t)given : (int32_t)given;
}

/* 'N', 'T' or 'C', 'L' or 'R', however it is said. */
static char letter(const struct blas_call *call, int place, bool is_array)
{
	const unsigned int how = rows[call->function].how;
	const uint64_t given = word(call, place);
	int32_t number = (int32_t)given;

	if (how == F32 || how == F64)
		return (char)(*(const char *)given & ~0x20);
	if (is_array)
		number = *(const int32_t *)given;
	if (how == G32 || how == G64)
		return number == 0 ? 'N' : number == 1 ? 'T' : 'C';
	switch (number) {
	case 112: return 'T';
	case 113: return 'C';
	case 141: return 'L';
	case 142: return 'R';
	default: return 'N';
	}
}

static void read_batches(const struct blas_call *call, struct event *event)
{
	const unsigned int how = rows[call->function].how;
	const bool wide = is_wide(how);
	/* Two types stand before them. */
	const int at = rows[call->function].places == CUDA_GROUPS_EX ? 16 : 13;
	const int64_t groups = value(call, at);
	const void *sizes = (const void *)word(call, at + 1);
	const void *dims[] = {(const void *)word(call, 2),
			      (const void *)word(call, 3),
			      (const void *)word(call, 4)};
	int64_t batch = 0;

	if (groups <= 0) {
		event->blas.m = event->blas.n = event->blas.k = 0;
		return;
	}
	event->blas.m = clip(size_at(dims[0], 0, wide));
	event->blas.n = clip(size_at(dims[1], 0, wide));
	event->blas.k = clip(size_at(dims[2], 0, wide));
	for (int64_t i = 0; i < groups; i++) {
		batch += size_at(sizes, (size_t)i, wide);
		for (int d = 0; d < 3; d++)
			if (size_at(dims[d], (size_t)i, wide) !=
			    size_at(dims[d], 0, wide))
				event->blas.op = BLAS_MIXED;
	}
	event->blas.batch = clip(batch);
}

/* Before the call, after which the program may change what it points to. */
static void read_sizes(const struct blas_call *call, struct event *event)
{
	const struct row *row = &rows[call->function];
	const struct places *at = &places[row->places];
	const bool is_array =
		row->places == GEMM_BATCH || row->places == CUDA_GROUPS_EX;

	event->blas.op = at->op;
	event->blas.type = row->type;
	event->blas.batch = 1;
	if (row->type == BLAS_TYPE_X)
		event->blas.type =
			cublas_type((uint32_t)call->word[CUDA_TYPE_AT]);
	for (int i = 0; i < 2; i++)
		if (at->trans[i] != NO)
			event->blas.trans[i] =
				letter(call, at->trans[i], is_array);
	if (is_array) {
		read_batches(call, event);
		return;
	}
	event->blas.m = at->m == NO ? 0 : clip(value(call, at->m));
	event->blas.n = clip(value(call, at->n));
	event->blas.k = at->k == NO ? 0 : clip(value(call, at->k));
	if (at->op == BLAS_RANK_K)
		event->blas.m = event->blas.n;
	if (at->space && value(call, at->space) == -1)
		event->blas.op = BLAS_QUERY;
	else if (row->places == APPLY_Q && letter(call, 0, false) == 'R')
		event->blas.op = BLAS_APPLY_RIGHT;
	if (at->side != NO)
		event->blas.k = letter(call, at->side, false) == 'R'
					? event->blas.n
					: event->blas.m;
	if (at->batch)
		event->blas.batch = clip(
			(int32_t)call->word[row->words - (uint32_t)at->batch]);
}

static void take_words(const struct blas_frame *frame, struct blas_call *call)
{
	const uint32_t words = rows[frame->function].words;
	const uint32_t first = min_u32(words, BLAS_REGISTERS);

	call->function = (enum blas_function)frame->function;
	call->from = frame->from;
	memcpy(call->word, frame->word, first * sizeof(call->word[0]));
	memcpy(call->word + first, frame->stack,
	       (words - first) * sizeof(call->word[0]));
}

/* More words than it takes harm nobody. */
static uint64_t call_real(const struct blas_frame *frame,
			  const struct blas_call *call)
{
	const uint64_t *w = call->word;
	uint64_t (*real)(double, double, uint64_t, uint64_t, uint64_t, uint64_t,
			 uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
			 uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
			 uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
			 uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
			 uint64_t, uint64_t);

	*(void **)&real = blas_real(call->function, call->from);
	return real(frame->x0, frame->x1, w[0], w[1], w[2], w[3], w[4], w[5],
		    w[6], w[7], w[8], w[9], w[10], w[11], w[12], w[13], w[14],
		    w[15], w[16], w[17], w[18], w[19], w[20], w[21], w[22],
		    w[23], w[24], w[25]);
}

static uint32_t name_of(enum blas_function function)
{
	uint32_t name = load_relaxed(&names[function]);

	if (unlikely(!name)) {
		name = names_intern_string(load_relaxed(&session_here),
					   blas_words[function]);
		store_relaxed(&names[function], name);
	}
	return name;
}

static bool is_inside(const struct thread *thread)
{
	const uint32_t depth = (uint32_t)min_u64(load_relaxed(&thread->depth),
						 OPEN_SLICES_MAX);

	for (uint32_t i = 0; i < depth; i++)
		if (thread->open[i].kind == EVENT_BLAS)
			return true;
	return false;
}

static struct thread *begin(const struct blas_call *call, struct event *event)
{
	const void *here = __builtin_frame_address(0);
	struct thread *thread = hook_thread();
	const int saved = errno;

	if (!thread)
		return NULL;
	thread_drop_left(thread, here);
	*event = (struct event){
		.kind = EVENT_BLAS,
		.flags = is_inside(thread) ? EVENT_INNER : 0,
		.name = name_of(call->function),
	};
	event->blas.code = call->from;
	if (rows[call->function].how == ONEDNN)
		onednn_read(blas_real(call->function, call->from), call->word,
			    event);
	else if (rows[call->function].how == LT)
		cublas_lt_read(blas_real(call->function, call->from),
			       call->word, event);
	else
		read_sizes(call, event);
	event->start_ticks = clock_ticks();
	thread_open(thread, EVENT_BLAS, event->start_ticks, event->name,
		    call->from, 0, 0);
	thread_open_in(thread, here);
	errno = saved;
	return thread;
}

static void end(struct thread *thread, struct event *event)
{
	const int saved = errno;

	/* A fork inside the call would have taken the record away. */
	if (thread != thread_self)
		return;
	event->end_ticks = clock_ticks();
	thread_shut(thread);
	if (unwind_wants(STACK_BLAS)) {
		thread_fill();
		event->stack = unwind_take(thread, UNWIND_OURS_MAX);
		thread_unbusy(thread);
	}
	thread_record(thread, event);
	errno = saved;
}

uint64_t blas_run(const struct blas_frame *frame)
{
	struct thread *thread = NULL;
	struct blas_call call = {0};
	struct event event;
	uint64_t result;

	take_words(frame, &call);
	if (gate_bits() & GATE_BLAS_WATCH)
		life_begin("BLAS");
	if (gate_bits() & GATE_BLAS)
		thread = begin(&call, &event);
	result = call_real(frame, &call);
	if (thread)
		end(thread, &event);
	return result;
}

void blas_forget(void)
{
	for (size_t i = 0; i < BLAS_FUNCTION_COUNT; i++)
		store_relaxed(&names[i], 0);
	onednn_forget();
}
