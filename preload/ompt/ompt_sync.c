/* SPDX-License-Identifier: MIT */
/*
 * ompt_sync.c - what threads wait for and what they hold, as libomp tells it.
 *
 * A region's last barrier ends the member's share.  The barrier behind a
 * construct is named after the construct, which the thread has just left:
 * what that was lies in the open slice around it.
 */
#include "preload/ompt/ompt_slice.h"

/* --- barriers and tasks --------------------------------------------------- */

/* Older runtimes have one word for all implicit barriers.  Then a worker has no
 * code at the region's, the master has that of the region; and at its end the
 * region is gone. */
static bool is_region_end(int kind, int endpoint,
			  const union ompt_word *parallel, const void *code)
{
	if (kind == OMPT_SYNC_PARALLEL_END || kind == OMPT_SYNC_TEAMS_END)
		return true;
	if (kind != OMPT_SYNC_BARRIER_IMPLICIT)
		return false;
	return endpoint == OMPT_END
		       ? !parallel
		       : !code || code == ompt_region_code(parallel);
}

/* The slice of the code that this thread runs; NULL: it isn't recorded. */
static struct open_slice *body(void)
{
	struct thread *thread = ompt_open_thread();
	struct open_slice *slice =
		thread ? (struct open_slice *)gomp_innermost(thread) : NULL;

	return slice && slice->kind != EVENT_OMP_WAIT &&
			       slice->kind != EVENT_OMP_ACQUIRED
		       ? slice
		       : NULL;
}

/* What a barrier is called; OMP_SYNC_COUNT: not shown. */
static enum omp_sync barrier_word(int kind)
{
	const struct open_slice *slice;

	switch (kind) {
	case OMPT_SYNC_BARRIER_IMPLICIT:
	case OMPT_SYNC_WORKSHARE_END:
		slice = body();
		return slice ? (enum omp_sync)slice->sync : OMP_SYNC_BARRIER;
	case OMPT_SYNC_BARRIER:
	case OMPT_SYNC_BARRIER_EXPLICIT: return OMP_SYNC_BARRIER;
	case OMPT_SYNC_TASKWAIT: return OMP_SYNC_TASKWAIT;
	default: return OMP_SYNC_COUNT;
	}
}

/* A barrier's end doesn't tell how its beginning was called. */
static void barrier(int kind, int endpoint, const void *code)
{
	const enum omp_sync word = barrier_word(kind);

	if (word == OMP_SYNC_COUNT)
		return;
	if (endpoint == OMPT_BEGIN) {
		gomp_wait_ask(gomp_wait_from(word, code), (uint64_t)code);
		ompt_open_inside(EVENT_OMP_WAIT, word, code, clock_ticks());
	} else if (kind == OMPT_SYNC_TASKWAIT)
		ompt_close(EVENT_OMP_WAIT, ompt_word(OMP_SYNC_TASKWAIT), code,
			   clock_ticks());
	else
		ompt_close(EVENT_OMP_WAIT,
			   ompt_word(OMP_SYNC_BARRIER) |
				   ompt_word(OMP_SYNC_LOOP_END) |
				   ompt_word(OMP_SYNC_SECTIONS_END),
			   code, clock_ticks());
}

void ompt_sync_region(int kind, int endpoint, union ompt_word *parallel,
		      union ompt_word *task, const void *code)
{
	if (is_region_end(kind, endpoint, parallel, code)) {
		/* The master's wait ends with its region. */
		if (endpoint == OMPT_BEGIN)
			ompt_member_end(task);
		return;
	}
	if (kind == OMPT_SYNC_TASKGROUP) {
		if (endpoint == OMPT_BEGIN)
			ompt_open_inside(EVENT_OMP_ACQUIRED, OMP_SYNC_TASKGROUP,
					 code, clock_ticks());
		else
			ompt_close(EVENT_OMP_ACQUIRED,
				   ompt_word(OMP_SYNC_TASKGROUP), code,
				   clock_ticks());
		return;
	}
	barrier(kind, endpoint, code);
}

/* The wait at a group's end; the others are taken from their regions. */
void ompt_sync_region_wait(int kind, int endpoint, union ompt_word *parallel,
			   union ompt_word *task, const void *code)
{
	(void)parallel;
	(void)task;
	if (kind != OMPT_SYNC_TASKGROUP)
		return;
	if (endpoint == OMPT_BEGIN)
		ompt_open_inside(EVENT_OMP_WAIT, OMP_SYNC_TASKGROUP, code,
				 clock_ticks());
	else
		ompt_close(EVENT_OMP_WAIT, ompt_word(OMP_SYNC_TASKGROUP), code,
			   clock_ticks());
}

/* --- critical sections, atomics, turns ------------------------------------ */

/* Not locks that count: of one that is taken again no end of the wait is
 * told. */
static enum omp_sync mutex_word(int kind)
{
	switch (kind) {
	case OMPT_MUTEX_CRITICAL: return OMP_SYNC_CRITICAL;
	case OMPT_MUTEX_ATOMIC: return OMP_SYNC_ATOMIC;
	case OMPT_MUTEX_ORDERED: return OMP_SYNC_ORDERED;
	case OMPT_MUTEX_LOCK: return OMP_SYNC_LOCK;
	default: return OMP_SYNC_COUNT;
	}
}

void ompt_mutex_acquire(int kind, unsigned int hint,
			unsigned int implementation, uint64_t lock,
			const void *code)
{
	const enum omp_sync word = mutex_word(kind);

	(void)hint;
	(void)implementation;
	(void)lock;
	if (word != OMP_SYNC_COUNT)
		ompt_open_inside(EVENT_OMP_WAIT, word, code, clock_ticks());
}

void ompt_mutex_acquired(int kind, uint64_t lock, const void *code)
{
	const enum omp_sync word = mutex_word(kind);
	uint64_t now;

	(void)lock;
	if (word == OMP_SYNC_COUNT)
		return;
	now = clock_ticks();
	ompt_close(EVENT_OMP_WAIT, ompt_word(word), code, now);
	/* Locks of the program's own need not nest. */
	if (word != OMP_SYNC_LOCK)
		ompt_open_inside(EVENT_OMP_ACQUIRED, word, code, now);
}

void ompt_mutex_released(int kind, uint64_t lock, const void *code)
{
	const enum omp_sync word = mutex_word(kind);

	(void)lock;
	(void)code;
	if (word != OMP_SYNC_COUNT && word != OMP_SYNC_LOCK)
		ompt_close(EVENT_OMP_ACQUIRED, ompt_word(word), code,
			   clock_ticks());
}

/* --- constructs ----------------------------------------------------------- */

/* What the barrier behind a construct is called where gcc compiles it. */
static enum omp_sync end_word(int kind, const void *code)
{
	switch (kind) {
	case OMPT_WORK_LOOP:
		return gomp_site_is_static(gomp_site(code, NULL))
			       ? OMP_SYNC_BARRIER
			       : OMP_SYNC_LOOP_END;
	case OMPT_WORK_LOOP_DYNAMIC:
	case OMPT_WORK_LOOP_GUIDED:
	case OMPT_WORK_LOOP_OTHER: return OMP_SYNC_LOOP_END;
	case OMPT_WORK_SECTIONS: return OMP_SYNC_SECTIONS_END;
	default: return OMP_SYNC_BARRIER;
	}
}

void ompt_work(int kind, int endpoint, union ompt_word *parallel,
	       union ompt_word *task, uint64_t count, const void *code)
{
	struct open_slice *slice = body();

	(void)parallel;
	(void)task;
	(void)count;
	if (endpoint == OMPT_BEGIN && slice)
		slice->sync = (uint16_t)end_word(kind, code);
	if (kind != OMPT_WORK_SINGLE_EXECUTOR)
		return;
	if (endpoint == OMPT_BEGIN)
		ompt_open_inside(EVENT_OMP_ACQUIRED, OMP_SYNC_SINGLE, code,
				 clock_ticks());
	else
		ompt_close(EVENT_OMP_ACQUIRED, ompt_word(OMP_SYNC_SINGLE), code,
			   clock_ticks());
}
