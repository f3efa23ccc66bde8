/* SPDX-License-Identifier: MIT */
/*
 * killed_runs.h - the traces of runs that were killed before, which the next
 * run into the same folder finishes.
 */
#ifndef WRITER_KILLED_RUNS_H
#define WRITER_KILLED_RUNS_H

#include "collector/session/session.h"

/* What became of them, for one line. */
struct killed_runs {
	unsigned int finished;
	unsigned int failed;
	unsigned int unknown; /* whether their processes run */
	unsigned int left;    /* recovery_stop() came first */
	uint64_t events;
	char path[SESSION_TEXT_BYTES]; /* newest trace */
	void (*pass)(void);
};

/* Finishes them, unless TRACEPROF_RECOVER is off: then they are counted, as
 * `left`.  Our own program's events don't wait for all of them: pass() is
 * called after each.  May be called again to go on. */
void killed_runs_finish(struct killed_runs *runs,
			const struct session_header *head, void (*pass)(void));

void killed_runs_say(const struct killed_runs *runs,
		     const struct session_header *head);

#endif
