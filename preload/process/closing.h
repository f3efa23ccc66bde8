/* SPDX-License-Identifier: MIT */
/*
 * closing.h - the few lines on stderr when a recording, or a process from
 * which one was expected, has ended.
 */
#ifndef PRELOAD_CLOSING_H
#define PRELOAD_CLOSING_H

#include "collector/session/session.h"

/* What the writer had done when it was stopped. */
struct closing {
	uint64_t files, written, cut, dropped, bytes;
	uint64_t hooks_ns, writer_ns; /* what the recording cost */
	const char *path;	      /* of the newest file, "" none */
	bool timed_out;		      /* it was still at it */
	bool gave_up;		      /* the file could not be written */
};

void closing_report(const struct session *session,
		    const struct closing *closing);

/* The process that `traceprof record` started was never interesting: what was
 * seen of it, and why there is no file. */
void closing_explain(const struct options *options, uint64_t heap_calls);

#endif
