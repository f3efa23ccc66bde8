/* SPDX-License-Identifier: MIT */
/*
 * ompt_abi.h - what OpenMP's tool interface (OMPT, OpenMP 5) fixes.
 *
 * Our own declarations of the few entries that are used, so that the library
 * builds where no omp-tools.h is installed.  The numbers and the order of
 * parameters are the specification's.
 */
#ifndef PRELOAD_OMPT_ABI_H
#define PRELOAD_OMPT_ABI_H

#include <stdint.h>

/* A word that the runtime keeps for a tool, one for each task and region. */
union ompt_word {
	uint64_t value;
	void *pointer;
};

struct ompt_frame; /* of no use to us */

typedef void ompt_entry(void);
typedef ompt_entry *ompt_lookup(const char *name);
typedef int ompt_set_callback(int callback, ompt_entry *function);
/* 2: of that many regions further out the team's size is known. */
typedef int ompt_get_parallel_info(int outer, union ompt_word **parallel,
				   int *team);

struct ompt_tool {
	int (*initialise)(ompt_lookup *lookup, int device,
			  union ompt_word *word);
	void (*finalise)(union ompt_word *word);
	union ompt_word word;
};

enum ompt_callback {
	OMPT_PARALLEL_BEGIN = 3,
	OMPT_PARALLEL_END = 4,
	OMPT_TASK_CREATE = 5,
	OMPT_TASK_SCHEDULE = 6,
	OMPT_IMPLICIT_TASK = 7,
	OMPT_SYNC_REGION_WAIT = 16,
	OMPT_MUTEX_RELEASED = 17,
	OMPT_WORK = 20,
	OMPT_SYNC_REGION = 23,
	OMPT_MUTEX_ACQUIRE = 26,
	OMPT_MUTEX_ACQUIRED = 27,
};

enum ompt_endpoint { OMPT_BEGIN = 1, OMPT_END = 2, OMPT_BEGIN_END = 3 };

/* Flags of a region. */
#define OMPT_LEAGUE 0x40000000u

/* Flags of a task. */
enum ompt_task_flag { OMPT_TASK_EXPLICIT = 0x4 };

/* How a task came to be left. */
enum ompt_task_status {
	OMPT_TASK_COMPLETE = 1,
	OMPT_TASK_YIELD = 2,
	OMPT_TASK_CANCEL = 3,
	OMPT_TASK_DETACH = 4,
	OMPT_TASK_SWITCH = 7, /* as all tasks begin that nobody yields to */
};

enum ompt_sync_kind {
	OMPT_SYNC_BARRIER = 1,
	OMPT_SYNC_BARRIER_IMPLICIT = 2, /* of either kind, in older runtimes */
	OMPT_SYNC_BARRIER_EXPLICIT = 3,
	OMPT_SYNC_BARRIER_INTERNAL = 4,
	OMPT_SYNC_TASKWAIT = 5,
	OMPT_SYNC_TASKGROUP = 6,
	OMPT_SYNC_REDUCTION = 7,
	OMPT_SYNC_WORKSHARE_END = 8,
	OMPT_SYNC_PARALLEL_END = 9,
	OMPT_SYNC_TEAMS_END = 10,
};

enum ompt_work_kind {
	OMPT_WORK_LOOP = 1,
	OMPT_WORK_SECTIONS = 2,
	OMPT_WORK_SINGLE_EXECUTOR = 3,
	OMPT_WORK_SINGLE_OTHER = 4,
	OMPT_WORK_LOOP_STATIC = 10,
	OMPT_WORK_LOOP_DYNAMIC = 11,
	OMPT_WORK_LOOP_GUIDED = 12,
	OMPT_WORK_LOOP_OTHER = 13,
};

enum ompt_mutex_kind {
	OMPT_MUTEX_LOCK = 1,
	OMPT_MUTEX_CRITICAL = 5,
	OMPT_MUTEX_ATOMIC = 6,
	OMPT_MUTEX_ORDERED = 7,
};

#endif
