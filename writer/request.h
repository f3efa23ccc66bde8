/* SPDX-License-Identifier: MIT */
/*
 * request.h - what the writer does for those outside: signals and the letter
 * box of the session (collector/control.h).
 *
 * request_look() comes before a pass: it takes a request, starts and stops
 * windows, and sees to those that are limited by time.  request_done() comes
 * behind it: what the pass has finished is answered.  Nothing here waits.
 */
#ifndef WRITER_REQUEST_H
#define WRITER_REQUEST_H

#include "collector/control.h"
#include "writer/scribe.h"

struct requests {
	uint32_t signals; /* of those that came in, seen so far */
	uint64_t word;	  /* the request that waits for a file, 0 none */
	uint64_t window;  /* which */
};

/* Before a pass. */
void request_look(struct requests *requests, struct scribe *scribe);

/* Behind it. */
void request_done(struct requests *requests, struct scribe *scribe);

#endif
