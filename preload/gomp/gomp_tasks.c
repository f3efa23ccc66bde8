/* SPDX-License-Identifier: MIT */
/*
 * gomp_tasks.c - explicit tasks: their creation, and their run on whatever
 * thread that happens.
 *
 * libgomp copies the program's block of arguments, so what we need when the
 * task runs must travel in that block, and the function is told nothing but
 * its address.  The program's part stays first, as it was: libgomp writes loop
 * bounds and event handles into it and reads reductions from it.  Our header
 * follows at one of a few fixed offsets, the smallest that the program's part
 * fits under, and there is one function to run a task for each offset.
 *
 *	| program's block, `bytes` | unused | header |
 *	0			   ...	    offset
 *
 * Larger blocks are passed on as they are: then only the creation is seen, and
 * the run is counted as one that is missing.
 */
#include "preload/gomp/gomp_thin.h"

#include <string.h>

/* clang-format off */
#define TASK_OFFSETS(X)							\
	X(32) X(64) X(128) X(256) X(512) X(1024) X(2048) X(4096)		\
	X(8192) X(16384)
/* clang-format on */

#define TASK_OFFSET_MIN	   32u
#define TASK_OFFSET_MAX	   16384u
#define TASK_ALIGNMENT_MAX 4096

/* libgomp's flags, of which these change what is done with the block. */
enum task_flag {
	TASK_NO_GROUP = 1 << 11,
	TASK_REDUCTION = 1 << 12,
	TASK_DETACH = 1 << 13,
};

struct task_header {
	gomp_function *function;
	struct gomp_library *library;
	uint64_t region;
	uint64_t code;
	uint32_t number;
};

/* What a copy function of ours gets as its source.  libgomp writes the handle
 * of a detached task into the first word and reads the reductions of a loop
 * from the third, before it copies. */
struct task_source {
	void *words[3];
	void *data;
	gomp_copy *copy;
	uint32_t offset;
	bool is_detached;
	struct task_header header;
};

static _Atomic uint32_t task_count;

/* --- running -------------------------------------------------------------- */

struct task_run {
	struct gomp_slice slice;
	struct thin_frame around;
	struct gomp_detail detail;
	struct gomp_library *was_last;
};

static void run_end(struct task_run *run)
{
	gomp_last = run->was_last;
	if (run->slice.thread)
		gomp_task_close(&run->slice, &run->around, clock_ticks(),
				&run->detail);
}

static void run(void *block, const struct task_header *header)
{
	struct task_run run;
	struct gomp_slice *slice = &run.slice;

	run.was_last = gomp_last;
	gomp_last = header->library;
	slice->thread = gomp_is_recording() ? hook_thread() : NULL;
	if (likely(slice->thread)) {
		run.detail = (struct gomp_detail){.task = header->number};
		slice->code = header->code;
		slice->region = header->region;
		slice->kind = EVENT_OMP_EXPLICIT;
		slice->sync = 0;
		thin_enter(slice->thread, &run.around);
		gomp_slice_push(slice, clock_ticks());
	}
	header->function(block);
	run_end(&run);
}

#define X(offset)                                                              \
	static void run_##offset(void *block)                                  \
	{                                                                      \
		run(block, (struct task_header *)((char *)block + offset));    \
	}
TASK_OFFSETS(X)
#undef X

static gomp_function *run_at(uint32_t offset)
{
	switch (offset) {
#define X(offset)                                                              \
	case offset: return run_##offset;
		TASK_OFFSETS(X)
#undef X
	default: return NULL;
	}
}

/* --- the block ------------------------------------------------------------ */

/* Stands in for the program's copy function. */
static void copy_block(void *to, void *from)
{
	struct task_source *source = from;

	if (source->is_detached)
		*(void **)source->data = source->words[0];
	source->copy(to, source->data);
	memcpy((char *)to + source->offset, &source->header,
	       sizeof(source->header));
}

/* The offset of the header; 0: the block is passed on as it is. */
static uint32_t offset_for(long bytes, long alignment)
{
	uint32_t offset = TASK_OFFSET_MIN;

	if (bytes < 0 || bytes > (long)TASK_OFFSET_MAX ||
	    alignment > TASK_ALIGNMENT_MAX)
		return 0;
	while (offset < (uint32_t)bytes)
		offset *= 2;
	return offset;
}

/* The program's block and the header, in `room`. */
static ALWAYS_INLINE void *enlarge(char *room, const void *data, long bytes,
				   long alignment, uint32_t offset,
				   const struct task_header *header)
{
	char *block = (char *)align_up((uintptr_t)room, (uint64_t)alignment);

	if (bytes)
		memcpy(block, data, (size_t)bytes);
	memcpy(block + offset, header, sizeof(*header));
	return block;
}

/* A source for copy_block(). */
static void *describe(struct task_source *source, void *data, gomp_copy *copy,
		      unsigned int flags, uint32_t offset,
		      const struct task_header *header)
{
	memset(source->words, 0, sizeof(source->words));
	if (flags & TASK_REDUCTION)
		source->words[2] = ((void **)data)[2];
	source->data = data;
	source->copy = copy;
	source->offset = offset;
	source->is_detached = data && flags & TASK_DETACH;
	source->header = *header;
	return source;
}

/* --- creating ------------------------------------------------------------- */

/* What a program says of a task's function and its block, or what we say to the
 * library in its place. */
struct task_block {
	gomp_function *function;
	void *data;
	gomp_copy *copy;
	long bytes;
	long alignment;
};

/* A creation on its way. */
struct task_making {
	struct gomp_slice slice;
	struct thin_frame around;
	struct thin_site *site; /* of a slice; NULL: it is never thinned */
	struct gomp_detail detail;
	struct task_header header;
	struct task_source source;
	uint32_t offset; /* 0: the block is passed on as it is */
};

/* The slice of a call that is recorded.  One that is thinned is on no open
 * slice: what it makes is the task of what is. */
static ALWAYS_INLINE bool slice_begin(struct task_making *making,
				      const struct gomp_site *site,
				      const void *address, enum event_kind kind,
				      enum omp_sync sync)
{
	struct gomp_slice *slice = &making->slice;
	struct thread *thread = hook_thread();

	if (unlikely(!thread))
		return false;
	*slice = gomp_slice_inside(thread, site, address, kind, sync);
	thin_enter(thread, &making->around);
	if (kind == EVENT_OMP_CREATE)
		making->site = thin_site(thread, kind, slice->code, 0, 0);
	if (making->site && making->site->mask) {
		slice->depth = load_relaxed(&thread->depth);
		slice->start_ticks = clock_ticks();
	} else {
		gomp_slice_push(slice, clock_ticks());
	}
	return true;
}

/* Opens the slice of a creation.  A task that is created while no window is
 * open may run in one: it gets its header without a slice.  False: nothing is
 * to be known of it. */
static ALWAYS_INLINE bool making_begin(struct task_making *making,
				       const struct gomp_site *site,
				       const void *address,
				       enum event_kind kind, enum omp_sync sync)
{
	struct gomp_slice *slice = &making->slice;

	slice->thread = NULL;
	making->site = NULL;
	if (gomp_is_foreign(site))
		return false;
	if (likely(!gomp_is_recording())) {
		if (likely(!gomp_may_record()))
			return false;
		slice->region = 0;
		slice->code = site->code ? site->code : (uint64_t)address;
	} else if (!slice_begin(making, site, address, kind, sync)) {
		return false;
	}
	making->header.function = (gomp_function *)site->function;
	making->header.library = gomp_library(site);
	making->header.region = slice->region;
	making->header.code = slice->code;
	/* Nobody asks for the number of one that isn't drawn. */
	making->header.number = making->site && making->site->mask
					? 0
					: add_relaxed(&task_count, 1) + 1;
	making->detail = (struct gomp_detail){.task = making->header.number};
	return true;
}

/* How much the caller has to set aside on its stack for making_put(). */
static ALWAYS_INLINE size_t making_room(struct task_making *making,
					const struct task_block *block)
{
	making->offset = offset_for(block->bytes, block->alignment);
	if (!making->offset || block->copy)
		return 0;
	return making->offset + sizeof(struct task_header) +
	       max_u64((uint64_t)block->alignment, sizeof(void *));
}

/* Puts the header into the block. */
static ALWAYS_INLINE void making_put(struct task_making *making,
				     struct task_block *block,
				     unsigned int flags, char *room)
{
	if (unlikely(!making->offset)) {
		hook_unfollowed();
		return;
	}
	block->alignment =
		(long)max_u64((uint64_t)block->alignment, sizeof(void *));
	if (block->copy)
		block->data =
			describe(&making->source, block->data, block->copy,
				 flags, making->offset, &making->header);
	else
		block->data = enlarge(room, block->data, block->bytes,
				      block->alignment, making->offset,
				      &making->header);
	block->copy = block->copy ? copy_block : NULL;
	block->bytes = making->offset + (long)sizeof(struct task_header);
	block->function = run_at(making->offset);
}

static ALWAYS_INLINE void making_end(const struct task_making *making)
{
	const struct gomp_slice *slice = &making->slice;

	if (!slice->thread)
		return;
	if (slice->kind == EVENT_OMP_CREATE)
		gomp_short_close(slice, making->site,
				 slice->thread->thin.frame.covered -
					 making->around.covered,
				 clock_ticks(), &making->detail);
	else
		gomp_wait_close(slice, &making->around, 0, clock_ticks());
}

EXPORT void GOMP_task(gomp_function *function, void *data, gomp_copy *copy,
		      long bytes, long alignment, bool deferred,
		      unsigned int flags, void **depend, int priority,
		      void *detach)
{
	const void *address = __builtin_return_address(0);
	const struct gomp_site *site = gomp_site(address, function);
	struct task_block block = {function, data, copy, bytes, alignment};
	struct task_making making;

	if (likely(!making_begin(&making, site, address, EVENT_OMP_CREATE,
				 0))) {
		gomp_library(site)->task(function, data, copy, bytes, alignment,
					 deferred, flags, depend, priority,
					 detach);
		return;
	}
	making_put(&making, &block, flags,
		   __builtin_alloca(making_room(&making, &block)));
	gomp_library(site)->task(block.function, block.data, block.copy,
				 block.bytes, block.alignment, deferred, flags,
				 depend, priority, detach);
	making_end(&making);
}

/* Both loops' bounds are words of 64 bits. */
typedef void taskloop_call(GOMP_TASKS, long start, long end, long step);

/* Unless it says otherwise the call waits for all that it creates. */
static ALWAYS_INLINE void taskloop(size_t at, const void *caller, GOMP_TASKS,
				   long start, long end, long step)
{
	const struct gomp_site *site = gomp_site(caller, function);
	struct task_block block = {function, data, copy, bytes, alignment};
	struct task_making making;
	taskloop_call *original;

	if (likely(!making_begin(&making, site, caller,
				 flags & TASK_NO_GROUP ? EVENT_OMP_CREATE
						       : EVENT_OMP_WAIT,
				 OMP_SYNC_TASKLOOP))) {
		original = gomp_original(site, at);
		original(function, data, copy, bytes, alignment, flags, tasks,
			 priority, start, end, step);
		return;
	}
	making_put(&making, &block, flags,
		   __builtin_alloca(making_room(&making, &block)));
	original = gomp_original(site, at);
	original(block.function, block.data, block.copy, block.bytes,
		 block.alignment, flags, tasks, priority, start, end, step);
	making_end(&making);
}

EXPORT void GOMP_taskloop(GOMP_TASKS, long start, long end, long step)
{
	taskloop(GOMP_HERE(taskloop), function, data, copy, bytes, alignment,
		 flags, tasks, priority, start, end, step);
}

EXPORT void GOMP_taskloop_ull(GOMP_TASKS, unsigned long long start,
			      unsigned long long end, unsigned long long step)
{
	taskloop(GOMP_HERE(taskloop_ull), function, data, copy, bytes,
		 alignment, flags, tasks, priority, (long)start, (long)end,
		 (long)step);
}
