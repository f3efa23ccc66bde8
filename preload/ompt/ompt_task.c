/* SPDX-License-Identifier: MIT */
/*
 * ompt_task.c - explicit tasks, as libomp tells them: their creation, and their
 * run on whatever thread that happens.
 *
 * A task's entry hangs on the word that the runtime keeps for it, from its
 * creation to its end.  With all entries taken only the creation is seen, and
 * the run is counted as one that is missing.
 *
 * An untied task runs in parts, perhaps on several threads.  The runtime tells
 * where each part begins but not where it ends, unless with the task.  So the
 * event is the last part's, and what the others left on their threads' open
 * slices is dropped by what comes next there.
 */
#include "preload/ompt/ompt_slice.h"

#define TASKS_MAX 65536u
#define PROBES	  16u

struct ompt_task {
	_Atomic uint32_t number; /* 0 free */
	uint32_t runs;
	uint64_t code;
	uint64_t region;
	struct gomp_slice slice;
};

static struct ompt_task tasks[TASKS_MAX];
static _Atomic uint32_t task_count;

static struct ompt_task *take(uint32_t number)
{
	for (unsigned int i = 0; i < PROBES; i++) {
		struct ompt_task *task = &tasks[(number + i) % TASKS_MAX];
		uint32_t free = 0;

		/* ACQUIRE pairs with RELEASE in give(). */
		if (atomic_compare_exchange_strong_explicit(
			    &task->number, &free, number, memory_order_acquire,
			    memory_order_relaxed))
			return task;
	}
	return NULL;
}

static void give(struct ompt_task *task)
{
	/* RELEASE pairs with ACQUIRE in take(): we are done with it. */
	store_release(&task->number, 0);
}

/* The entry of an explicit task that is known; words of other tasks hold
 * something else. */
static struct ompt_task *task_of(const union ompt_word *word)
{
	const uint64_t at = word ? word->value : 0;
	const uint64_t first = (uint64_t)(uintptr_t)tasks;

	if (at < first || at - first >= sizeof(tasks))
		return NULL;
	return word->pointer;
}

void ompt_task_create(union ompt_word *parent, const struct ompt_frame *frame,
		      union ompt_word *word, int flags, int depends,
		      const void *code)
{
	const struct open_slice *outer;
	struct gomp_detail detail = {0};
	struct gomp_slice slice = {.code = (uint64_t)code,
				   .kind = EVENT_OMP_CREATE};
	struct thin_site *site;
	struct ompt_task *task;

	(void)parent;
	(void)frame;
	(void)depends;
	if (!(flags & OMPT_TASK_EXPLICIT) || !word)
		return;
	word->value = 0;
	slice.thread = ompt_thread();
	/* It may run in a window that opens later. */
	if (!slice.thread && !gomp_may_record())
		return;
	outer = slice.thread ? gomp_innermost(slice.thread) : NULL;
	slice.region = outer ? outer->region : 0;
	if (outer && gomp_site_is_outlined(ompt_site(code)))
		slice.code = ompt_named(outer);
	detail.task = add_relaxed(&task_count, 1) + 1;
	task = take(detail.task);
	if (task) {
		task->runs = 0;
		task->code = slice.code;
		task->region = slice.region;
		word->pointer = task;
	} else {
		hook_unfollowed();
	}
	if (!slice.thread)
		return;
	slice.start_ticks = clock_ticks();
	site = thin_site(slice.thread, EVENT_OMP_CREATE, slice.code, 0, 0);
	if (!thin_skips(slice.thread, site) ||
	    (!thin_add(slice.thread, site, slice.start_ticks,
		       slice.start_ticks) &&
	     !thin_mark(slice.thread, site, slice.start_ticks,
			slice.start_ticks)))
		gomp_commit(&slice, slice.start_ticks, &detail);
}

/* True if this task's slice is the innermost of its thread. */
static bool is_innermost(const struct ompt_task *task,
			 const struct thread *thread)
{
	const uint32_t depth = load_relaxed(&thread->depth);
	const struct open_slice *open;

	if (!task || !task->runs || task->slice.thread != thread ||
	    task->slice.depth + 1 != depth || depth > OPEN_SLICES_MAX)
		return false;
	open = &thread->open[task->slice.depth];
	return open->kind == EVENT_OMP_EXPLICIT &&
	       open->start_ticks == task->slice.start_ticks;
}

/* Takes what earlier parts of untied tasks left off the open slices.  What runs
 * there is `before`, NULL for the member itself. */
static void drop_left(struct thread *thread, const struct ompt_task *before)
{
	uint32_t depth = load_relaxed(&thread->depth);

	while (depth && depth <= OPEN_SLICES_MAX &&
	       thread->open[depth - 1].kind == EVENT_OMP_EXPLICIT &&
	       !is_innermost(before, thread)) {
		depth--;
		thin_leave(thread, &thread->around[depth]);
		/* RELEASE pairs with ACQUIRE in the writer's look at open
		 * slices. */
		store_release(&thread->depth, depth);
	}
}

/* A task, or a part of an untied one, begins on this thread. */
static void run_begin(struct ompt_task *task, const union ompt_word *before)
{
	const struct ompt_task *outer = task_of(before);
	struct gomp_slice *slice = &task->slice;
	struct thread *thread = ompt_thread();

	/* Nothing came between two parts. */
	if (thread && is_innermost(task, thread))
		return;
	task->runs = 1;
	*slice = (struct gomp_slice){.thread = thread,
				     .code = task->code,
				     .region = task->region,
				     .kind = EVENT_OMP_EXPLICIT};
	if (!thread)
		return;
	if (outer || (before && before->value & OMPT_IMPLICIT))
		drop_left(thread, outer);
	slice->start_ticks = clock_ticks();
	slice->depth = load_relaxed(&thread->depth);
	/* Deeper than they are kept the task's own entry has to do: its end
	 * may not be told there, and nothing else would take it away. */
	if (slice->depth < OPEN_SLICES_MAX) {
		ompt_enter(thread, slice->depth);
		ompt_open(slice, 0, slice->start_ticks);
	}
}

/* The part of a task that ends on this thread, while the part that began last
 * is another's: a part that goes on may be taken up by another thread before
 * the first one has returned from it, and who returns last ends the task. */
static struct gomp_slice part_here(const struct ompt_task *task)
{
	struct thread *thread = ompt_open_thread();
	const uint32_t depth = thread ? load_relaxed(&thread->depth) : 0;

	if (!depth || depth > OPEN_SLICES_MAX || thread == task->slice.thread ||
	    thread->open[depth - 1].kind != EVENT_OMP_EXPLICIT)
		return task->slice;
	return ompt_slice_at(thread, depth - 1);
}

static void run_end(struct ompt_task *task)
{
	const struct gomp_detail detail = {.task = load_relaxed(&task->number)};
	struct gomp_slice slice;

	if (task->runs && task->slice.thread) {
		slice = part_here(task);
		if (slice.depth < OPEN_SLICES_MAX)
			gomp_task_close(&slice,
					&slice.thread->around[slice.depth],
					clock_ticks(), &detail);
		else
			gomp_slice_close(&slice, clock_ticks(), &detail);
	}
	give(task);
}

void ompt_task_schedule(union ompt_word *before, int status,
			union ompt_word *after)
{
	struct ompt_task *left = task_of(before);
	struct ompt_task *task = task_of(after);

	if (left &&
	    (status == OMPT_TASK_COMPLETE || status == OMPT_TASK_CANCEL ||
	     status == OMPT_TASK_DETACH)) {
		before->value = 0;
		run_end(left);
	}
	if (task && (!task->runs || status == OMPT_TASK_YIELD ||
		     status == OMPT_TASK_SWITCH))
		run_begin(task, before);
}
