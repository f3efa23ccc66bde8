/* SPDX-License-Identifier: MIT */
/*
 * cuda_calls.c - in front of a shared CUDA runtime's functions.
 *
 * Each hook looks at the gate, calls the real function and describes the call
 * where CUPTI can't; see cuda_calls.h.  A static runtime, which is nvcc's
 * default, is called without us.
 */
#include "preload/cuda/cuda_calls.h"

#include "collector/session/gate.h"
#include "collector/session/names.h"
#include "collector/session/thread.h"
#include "collector/steps/steps.h"
#include "collector/system/loader.h"
#include "preload/cuda/cuda_wrapped.h"
#include "preload/cuda/cupti_source.h"
#include "preload/process/hook.h"
#include "preload/process/life.h"
#include "preload/process/process.h"
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>

/* cudaErrorInsufficientDriver: there is no CUDA here. */
#define NO_CUDA 35

struct cuda_call {
	struct thread *thread; /* NULL: not recorded */
	uint64_t start_ticks;
	uint32_t number; /* enum cuda_function */
	bool is_first;	 /* nobody has attached yet */
};

/* The runtime's own; those that it lacks answer with an error. */
static struct cuda_functions real;
static _Atomic uint32_t real_is_known;

static _Atomic uint32_t names[CUDA_FUNCTION_COUNT];

static const char *const words[] = {
#define X(name, bytes, parameters, arguments) #name,
	CUDA_WRAPPED_FUNCTIONS(X)
#undef X
};

_Static_assert(sizeof(real) == CUDA_FUNCTION_COUNT * sizeof(void *),
	       "real is one pointer for each row");

static int no_cuda(void)
{
	return NO_CUDA;
}

static int find_runtime(struct dl_phdr_info *info, size_t bytes, void *arg)
{
	const char *slash = strrchr(info->dlpi_name, '/');

	(void)bytes;
	if (strncmp(slash ? slash + 1 : info->dlpi_name, "libcudart.so.", 13))
		return 0;
	*(const char **)arg = info->dlpi_name;
	return 1;
}

/* Python loads the runtime where RTLD_NEXT doesn't look. */
static COLD void resolve(void)
{
	const int saved = errno;
	struct thread *was = thread_busy();
	const char *path = NULL;
	void *runtime = NULL;
	bool keeps_forks_out;
	bool any = false;

	keeps_forks_out = loader_enter();
	dl_iterate_phdr(find_runtime, &path);
	if (path)
		runtime = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
	for (size_t i = 0; i < CUDA_FUNCTION_COUNT; i++) {
		void *found = dlsym(RTLD_NEXT, words[i]);

		if (!found && runtime)
			found = dlsym(runtime, words[i]);
		any |= found != NULL;
		((void **)(void *)&real)[i] = found ? found : (void *)no_cuda;
	}
	if (keeps_forks_out)
		loader_leave();
	/* Without a runtime it may still be loaded later. */
	if (any)
		/* RELEASE pairs with ACQUIRE in call_begin(). */
		store_release(&real_is_known, 1);
	thread_unbusy(was);
	errno = saved;
}

/* First call of the process.  Where libcuda calls us by itself, it does so
 * within the first call that needs a GPU. */
static COLD void open_first(struct cuda_call *call)
{
	uint32_t open = gate_bits();

	if (open == GATE_UNDECIDED)
		open = life_decide();
	if (!(open & GATE_CUDA_WATCH))
		return;
	call->is_first = true;
}

static COLD void attach_late(int result)
{
	/* Nobody called us, and yet there is a GPU. */
	if (result || cupti_is_attached() || !load_relaxed(&real_is_known))
		return;
	if (!life_is_running())
		life_begin("CUDA");
	if (life_is_running() && !cupti_attach(true))
		cuda_calls_record(load_relaxed(&session_here));
}

static void begin(struct cuda_call *call)
{
	struct session *session = load_relaxed(&session_here);
	struct thread *thread = hook_thread();
	uint32_t name = load_relaxed(&names[call->number]);
	const int saved = errno;

	if (!thread)
		return;
	if (!name) {
		const char *word = words[call->number];

		while (*word == '_')
			word++;
		name = names_intern(session, word, strcspn(word, "_"));
		store_relaxed(&names[call->number], name);
	}
	call->thread = thread;
	call->start_ticks = clock_ticks();
	thread_open(thread, EVENT_CALL, call->start_ticks, name, 0, 0, 0);
	errno = saved;
}

static void end(const struct cuda_call *call, int result, uint64_t bytes)
{
	struct thread *thread = call->thread;
	const int saved = errno;

	/* A fork inside the call would have taken the record away. */
	if (thread != thread_self)
		return;
	thread_shut(thread);
	thread_record(
		thread,
		&(struct event){
			.kind = EVENT_CALL,
			.name = load_relaxed(&names[call->number]),
			.start_ticks = call->start_ticks,
			.end_ticks = clock_ticks(),
			.call = {.bytes = bytes, .result = (uint64_t)result},
		});
	errno = saved;
}

/* --- the hooks ------------------------------------------------------------ */

static inline struct cuda_call call_begin(enum cuda_function number)
{
	struct cuda_call call = {.number = number};
	const uint32_t open = gate_bits();

	/* ACQUIRE pairs with RELEASE in resolve(): the table. */
	if (unlikely(!load_acquire(&real_is_known)))
		resolve();
	if (unlikely(open == GATE_UNDECIDED || open & GATE_CUDA_WATCH))
		open_first(&call);
	if (gate_bits() & GATE_CUDA)
		begin(&call);
	return call;
}

static inline int call_end(const struct cuda_call *call, int result,
			   uint64_t bytes)
{
	if (unlikely(call->thread))
		end(call, result, bytes);
	if (unlikely(call->is_first))
		attach_late(result);
	return result;
}

/* clang-format off */
#define X(name, bytes, parameters, arguments)				\
	EXPORT int name parameters;					\
	EXPORT int name parameters					\
	{								\
		const struct cuda_call call = call_begin(CUDA_AT_##name); \
									\
		return call_end(&call, real.name arguments, bytes);	\
	}
CUDA_WRAPPED_FUNCTIONS(X)
#undef X
/* clang-format on */

/* -------------------------------------------------------------------------- */

void cuda_calls_record(struct session *session)
{
	uint32_t none = GPU_SOURCE_NONE;

	if (process.options.cuda != CUDA_OFF &&
	    atomic_compare_exchange_strong_explicit(
		    &session->head->gpu.source, &none, GPU_SOURCE_CALLS,
		    memory_order_relaxed, memory_order_relaxed))
		gate_add_record(GATE_CUDA, steps_are_recorded(session));
}

void cuda_calls_forget(void)
{
	for (size_t i = 0; i < CUDA_FUNCTION_COUNT; i++)
		store_relaxed(&names[i], 0);
}
