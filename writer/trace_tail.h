/* SPDX-License-Identifier: MIT */
/*
 * trace_tail.h - what stands in a trace behind its events.
 *
 * At each checkpoint a short tail that closes the file and says how far it got;
 * at the end the whole account: what was seen, written, cut and dropped, the
 * heap, the steps, the totals by name, every option, and notes.
 */
#ifndef WRITER_TRACE_TAIL_H
#define WRITER_TRACE_TAIL_H

#include "writer/state/writer_state.h"

/* Ends of the account that only the caller knows. */
struct trace_end {
	uint64_t end_ns; /* of the window */
	bool is_last;	 /* the run's last file: seen is the hooks' count */
	bool is_recovered;
};

void trace_tail_short(struct writer_state *state, struct json *json);
void trace_tail_whole(struct writer_state *state, struct json *json,
		      struct trace_end end);

#endif
