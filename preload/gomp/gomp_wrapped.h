/* SPDX-License-Identifier: MIT */
/*
 * gomp_wrapped.h - the entry points of libgomp that we stand in front of.
 *
 * One row makes the member of struct gomp_library, its look-up, what is done
 * where a library lacks it, and, where several calls have one shape, the hook.
 * A row is
 *
 *	X(returns, name, alone, parameters, says)
 *
 * where `name` goes without GOMP_.  `alone` is what a team of one without any
 * library would do: run the function, be the first, do nothing, run the task
 * (preload/gomp/gomp_alone.c).  `says` is the schedule of a region or the word
 * for what is waited for, as it stands in the event.
 *
 * Programs call more than these: what hands out chunks (GOMP_loop_*_next) is
 * too hot, and the rest has nothing to show.
 */
#ifndef PRELOAD_GOMP_WRAPPED_H
#define PRELOAD_GOMP_WRAPPED_H

#include "collector/system/base.h"

/* An outlined region or task. */
typedef void gomp_function(void *data);
typedef void gomp_copy(void *to, void *from);

/* clang-format off */
#define GOMP_FUNCTION	gomp_function *function, void *data
#define GOMP_TEAM	GOMP_FUNCTION, unsigned int threads
#define GOMP_RANGE	GOMP_TEAM, long start, long end, long step
#define GOMP_CHUNKS	GOMP_RANGE, long chunk
#define GOMP_BLOCK	GOMP_FUNCTION, gomp_copy *copy, long bytes, \
			long alignment
#define GOMP_TASKS	GOMP_BLOCK, unsigned int flags, unsigned long tasks, \
			int priority

/* Regions whose call returns when all is done, ... */
#define GOMP_COUNTED_REGIONS(X)						\
	X(void, parallel_sections, run,					\
	  (GOMP_TEAM, unsigned int count, unsigned int flags), SECTIONS) \
	X(void, teams_reg, run,						\
	  (GOMP_TEAM, unsigned int count, unsigned int flags), TEAMS)

#define GOMP_CHUNKED_REGIONS(X)						\
	X(void, parallel_loop_static, run,				\
	  (GOMP_CHUNKS, unsigned int flags), STATIC)			\
	X(void, parallel_loop_dynamic, run,				\
	  (GOMP_CHUNKS, unsigned int flags), DYNAMIC)			\
	X(void, parallel_loop_guided, run,				\
	  (GOMP_CHUNKS, unsigned int flags), GUIDED)			\
	X(void, parallel_loop_nonmonotonic_dynamic, run,		\
	  (GOMP_CHUNKS, unsigned int flags), DYNAMIC)			\
	X(void, parallel_loop_nonmonotonic_guided, run,			\
	  (GOMP_CHUNKS, unsigned int flags), GUIDED)

#define GOMP_RANGE_REGIONS(X)						\
	X(void, parallel_loop_runtime, run,				\
	  (GOMP_RANGE, unsigned int flags), RUNTIME)			\
	X(void, parallel_loop_nonmonotonic_runtime, run,		\
	  (GOMP_RANGE, unsigned int flags), RUNTIME)			\
	X(void, parallel_loop_maybe_nonmonotonic_runtime, run,		\
	  (GOMP_RANGE, unsigned int flags), RUNTIME)

#define GOMP_REGIONS(X)							\
	X(void, parallel, run, (GOMP_TEAM, unsigned int flags), NONE)	\
	X(unsigned int, parallel_reductions, run,			\
	  (GOMP_TEAM, unsigned int flags), NONE)			\
	GOMP_COUNTED_REGIONS(X)						\
	GOMP_CHUNKED_REGIONS(X)						\
	GOMP_RANGE_REGIONS(X)

/* ... and those of compilers before GCC 4.9: the caller is a member between
 * the two calls. */
#define GOMP_TEAM_STARTS(X)						\
	X(void, parallel_start, nothing, (GOMP_TEAM), NONE)

#define GOMP_COUNTED_STARTS(X)						\
	X(void, parallel_sections_start, nothing,			\
	  (GOMP_TEAM, unsigned int count), SECTIONS)

#define GOMP_CHUNKED_STARTS(X)						\
	X(void, parallel_loop_static_start, nothing, (GOMP_CHUNKS), STATIC) \
	X(void, parallel_loop_dynamic_start, nothing, (GOMP_CHUNKS), DYNAMIC) \
	X(void, parallel_loop_guided_start, nothing, (GOMP_CHUNKS), GUIDED)

#define GOMP_RANGE_STARTS(X)						\
	X(void, parallel_loop_runtime_start, nothing, (GOMP_RANGE), RUNTIME)

#define GOMP_SPLIT_REGIONS(X)						\
	GOMP_TEAM_STARTS(X)						\
	GOMP_COUNTED_STARTS(X)						\
	GOMP_CHUNKED_STARTS(X)						\
	GOMP_RANGE_STARTS(X)						\
	X(void, parallel_end, nothing, (void), NONE)

/* Calls in which a thread waits for others, ... */
#define GOMP_WAITS(X)							\
	X(void, barrier, nothing, (void), BARRIER)			\
	X(bool, barrier_cancel, nothing, (void), BARRIER)		\
	X(void, loop_end, nothing, (void), LOOP_END)			\
	X(bool, loop_end_cancel, nothing, (void), LOOP_END)		\
	X(void, sections_end, nothing, (void), SECTIONS_END)		\
	X(bool, sections_end_cancel, nothing, (void), SECTIONS_END)	\
	X(void, taskwait, nothing, (void), TASKWAIT)

/* ... that give it something to itself, ... */
#define GOMP_ACQUIRES(X)						\
	X(void, critical_start, nothing, (void), CRITICAL)		\
	X(void, atomic_start, nothing, (void), ATOMIC)			\
	X(void, ordered_start, nothing, (void), ORDERED)

/* ... and that take it back. */
#define GOMP_RELEASES(X)						\
	X(void, critical_end, nothing, (void), CRITICAL)		\
	X(void, atomic_end, nothing, (void), ATOMIC)			\
	X(void, ordered_end, nothing, (void), ORDERED)

#define GOMP_SYNCS(X)							\
	GOMP_WAITS(X)							\
	GOMP_ACQUIRES(X)						\
	GOMP_RELEASES(X)						\
	X(void, critical_name_start, nothing, (void **lock), CRITICAL)	\
	X(void, critical_name_end, nothing, (void **lock), CRITICAL)	\
	X(void, taskwait_depend, nothing, (void **depend), TASKWAIT)	\
	X(bool, single_start, first, (void), SINGLE)			\
	X(void *, single_copy_start, nothing, (void), SINGLE_COPY)	\
	X(void, single_copy_end, nothing, (void *data), SINGLE_COPY)	\
	X(void, taskgroup_start, nothing, (void), TASKGROUP)		\
	X(void, taskgroup_end, nothing, (void), TASKGROUP)

#define GOMP_TASK_CALLS(X)						\
	X(void, task, task,						\
	  (GOMP_BLOCK, bool deferred, unsigned int flags, void **depend, \
	   int priority, void *detach), NONE)				\
	X(void, taskloop, taskloop,					\
	  (GOMP_TASKS, long start, long end, long step), TASKLOOP)	\
	X(void, taskloop_ull, taskloop,					\
	  (GOMP_TASKS, unsigned long long start,			\
	   unsigned long long end, unsigned long long step), TASKLOOP)

#define GOMP_WRAPPED(X)							\
	GOMP_REGIONS(X)							\
	GOMP_SPLIT_REGIONS(X)						\
	GOMP_SYNCS(X)							\
	GOMP_TASK_CALLS(X)

/* What our own code asks a library, by full name. */
#define GOMP_ASKED(X)							\
	X(int, omp_get_num_threads, one, (void), NONE)			\
	X(int, omp_get_thread_num, nothing, (void), NONE)		\
	X(int, omp_in_parallel, nothing, (void), NONE)			\
	X(int, omp_get_num_teams, one, (void), NONE)			\
	X(int, omp_get_team_num, nothing, (void), NONE)
/* clang-format on */

/* The program's own locks, in C and in Fortran. */
enum { GOMP_LOCK_C, GOMP_LOCK_FORTRAN, GOMP_LOCK_LANGUAGES };

struct gomp_locks {
	void (*set[GOMP_LOCK_LANGUAGES])(void *lock);
	int (*test[GOMP_LOCK_LANGUAGES])(void *lock);
	bool foreign; /* of another runtime, which tells itself or not at all */
};

/* One libgomp of the process: complete, never changed once published. */
struct gomp_library {
#define X(returns, name, alone, parameters, says) returns(*name) parameters;
	GOMP_WRAPPED(X)
	GOMP_ASKED(X)
#undef X
	uintptr_t base;		 /* load address of the file */
	struct gomp_locks locks; /* set[] is NULL where it has none */
	bool foreign;	      /* libomp behind libgomp's names: not recorded */
	_Atomic bool is_gone; /* unloaded */
};

#define X(returns, name, alone, parameters, says)                              \
	returns GOMP_##name parameters;
GOMP_WRAPPED(X)
#undef X

void omp_set_lock(void *lock);
void omp_set_lock_(void *lock);

#endif
