/* SPDX-License-Identifier: MIT */
/*
 * ompt_task.c - explicit tasks, as libomp tells them: their creation, and their
 * run on whatever thread that happens.
 *
 * A task's entry hangs on the word that the runtime keeps for it, from its
 * creation to its end.  With all entries taken only the creation is seen.
 */
#include "preload/ompt/ompt_slice.h"

#define TASKS_MAX 16384u
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
	struct ompt_task *task;

	(void)parent;
	(void)frame;
	(void)depends;
	if (!(flags & OMPT_TASK_EXPLICIT) || !word)
		return;
	word->value = 0;
	slice.thread = ompt_thread();
	if (!slice.thread)
		return;
	outer = gomp_innermost(slice.thread);
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
	}
	slice.start_ticks = clock_ticks();
	gomp_commit(&slice, slice.start_ticks, &detail);
}

static void run_begin(struct ompt_task *task)
{
	struct gomp_slice *slice = &task->slice;

	task->runs = 1;
	*slice = (struct gomp_slice){.thread = ompt_thread(),
				     .code = task->code,
				     .region = task->region,
				     .kind = EVENT_OMP_EXPLICIT};
	if (slice->thread)
		ompt_open(slice, 0, clock_ticks());
}

static void run_end(struct ompt_task *task)
{
	const struct gomp_detail detail = {.task = load_relaxed(&task->number)};

	if (task->runs && task->slice.thread)
		gomp_slice_close(&task->slice, clock_ticks(), &detail);
	give(task);
}

void ompt_task_schedule(union ompt_word *before, int status,
			union ompt_word *after)
{
	struct ompt_task *task = task_of(before);

	if (task &&
	    (status == OMPT_TASK_COMPLETE || status == OMPT_TASK_CANCEL ||
	     status == OMPT_TASK_DETACH)) {
		before->value = 0;
		run_end(task);
	}
	task = task_of(after);
	if (task && !task->runs)
		run_begin(task);
}
