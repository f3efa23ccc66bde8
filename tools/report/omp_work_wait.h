/* SPDX-License-Identifier: MIT */
/*
 * omp_work_wait.h - what one thread of an OpenMP team worked and waited.
 *
 * A thread that waits at a barrier or a taskwait runs explicit tasks meanwhile,
 * and such a task may wait in turn.  So a wait's time is its slice without the
 * tasks inside it, and the work is the thread's part of the region without its
 * waits, and the tasks run in waits behind the part.
 *
 * Slices come in order of their ends, inner ones before outer ones; those that
 * nothing has enclosed yet are kept, MEMBER_LOOSE_MAX at most.
 */
#ifndef TOOLS_OMP_WORK_WAIT_H
#define TOOLS_OMP_WORK_WAIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MEMBER_LOOSE_MAX 4096u

struct omp_work_wait {
	uint32_t lane;	   /* which thread, for the owner's look-up */
	bool is_done;	   /* its part has ended */
	int64_t work_ns;   /* right when is_done */
	int64_t inside_ns; /* waited before that */
	struct member_loose *loose;
	uint32_t count;
	size_t capacity;
};

/* An explicit task was run. */
void omp_work_wait_task(struct omp_work_wait *member, int64_t start_ns,
			int64_t dur_ns);

/* A wait; returns its time without the tasks run in it.  may_lie_in_task: there
 * are tasks, so one may enclose it. */
int64_t omp_work_wait_wait(struct omp_work_wait *member, bool may_lie_in_task,
			   int64_t start_ns, int64_t dur_ns);

/* Its part of the region. */
void omp_work_wait_part(struct omp_work_wait *member, int64_t dur_ns);

void omp_work_wait_free(struct omp_work_wait *member);

#endif
