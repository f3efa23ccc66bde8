/* SPDX-License-Identifier: MIT */
/*
 * request.h - what the writer does for those outside: signals and the
 * mailbox of the session (collector/control/mailbox.h).
 *
 * request_poll() comes before a pass: it takes a request, starts and stops
 * windows, and sees to those that are limited by time.  request_done() comes
 * after it: what the pass has finished is answered.  Nothing here waits.
 */
#ifndef WRITER_REQUEST_H
#define WRITER_REQUEST_H

#include "collector/control/mailbox.h"
#include "writer/state/writer_state.h"

struct requests {
	uint32_t signals; /* of those that came in, seen so far */
	uint64_t word;	  /* the request that waits for a file, 0 none */
	uint64_t window;  /* which */
};

/* Before a pass. */
void request_poll(struct requests *requests, struct writer_state *state);

/* After it. */
void request_done(struct requests *requests, struct writer_state *state);

#endif
