/* SPDX-License-Identifier: MIT */
/*
 * trace_frame.h - what stands in a trace before and after its events.
 *
 * Readers look for the keys of the head in the first lines, so all that is
 * known when the file begins is there.  At each checkpoint a short tail closes
 * the file and says how far it got; at the end comes the whole account: what
 * was seen, written, cut and dropped, the heap, the steps, the totals by name,
 * every option, and notes.
 */
#ifndef WRITER_TRACE_FRAME_H
#define WRITER_TRACE_FRAME_H

#include "writer/state/writer_state.h"

/* Ends of the account that only the caller knows. */
struct trace_end {
	uint64_t end_ns; /* of the window */
	bool is_last;	 /* the run's last file: seen is the hooks' count */
	bool is_recovered;
};

/* From "{" to the first metadata events, as trace_file_create() wants it. */
void trace_frame_head(struct writer_state *state, struct json *json);

/* "distributedInfo" and a comma: in the head, or in tails where the rank is told
 * late. */
void trace_head_distributed(const struct session_header *head,
			    struct json *json);

/* In the program alone: how long its first thread has run, and how long it
 * could have but found no processor free; and what others had, for which the
 * kernel looks at each processor and each interrupt. */
void trace_frame_note_scheduled(struct session_header *head, bool with_others);

/* How many are in this file; -1 not known. */
int64_t trace_frame_steps(const struct writer_state *state);

void trace_frame_short_tail(struct writer_state *state, struct json *json);
void trace_frame_tail(struct writer_state *state, struct json *json,
		      struct trace_end end);

#endif
