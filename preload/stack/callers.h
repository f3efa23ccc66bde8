/* SPDX-License-Identifier: MIT */
/*
 * callers.h - from where the main thread calls, as a small number.
 *
 * One parallel region may be called from several places some frames up: a
 * filter's passes, a factorisation's two sides.  Who looks for the step can
 * tell them apart by that (writer/steps/step_marks.h), where the regions alone
 * tell nothing.
 *
 * Frames are left by what their files say of them (unwind_rule.c), each
 * address looked up once; no libunwind, no lock, no system call, and nothing is
 * read but the main thread's stack from here to its end.  The numbers follow
 * the order in which the places came, so each run and each rank gives the same.
 */
#ifndef PRELOAD_CALLERS_H
#define PRELOAD_CALLERS_H

#include "collector/session/thread.h"

/* At the start of the program: asks the loader, which another thread may be in
 * when a recording begins. */
void callers_prepare(void);

/* A recording begins.  False: frames can't be left here. */
bool callers_start(void);

/* The number of the place that the site's present call comes from, 1 or more,
 * and whether a loop has turned since the last one: SEARCH_TURN().
 * `from`: the first return address that counts, where a runtime's functions lie
 * before it; 0: whoever called us.  0: it can't be told, or this isn't the main
 * thread. */
uint32_t callers_number(const struct thread *thread, uint64_t site,
			uint64_t from);

/* In which loops a wait for the team lies that the main thread came to often
 * enough within one region: the search is told (search_barrier(), in `site`).
 */
void callers_barrier(const struct thread *thread, uint64_t site,
		     uint64_t region, uint64_t from);

/* The same of a call that puts work on a GPU, called back for by the driver:
 * its frames, CUPTI's and the runtime's are left out.  Such places have numbers
 * of their own, behind all of regions. */
uint32_t callers_number_of_call(const struct thread *thread, uint64_t site);

/* Code is about to be unmapped. */
void callers_code_goes(void);

/* In a forked child. */
void callers_forget(void);

#endif
