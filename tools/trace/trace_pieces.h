/* SPDX-License-Identifier: MIT */
/*
 * trace_pieces.h - the text of a trace file in pieces that text_scan.h has
 * looked at: a thread of its own reads, inflates and scans ahead of who parses.
 */
#ifndef TOOLS_TRACE_PIECES_H
#define TOOLS_TRACE_PIECES_H

#include "tools/trace/text_scan.h"
#include "tools/trace/trace_input.h"

struct trace_piece {
	char *text;
	size_t len;
	const struct text_flaw_at *flaws;
	size_t flaw_count;
};

/* Ends the program where there is no memory. */
struct trace_pieces *trace_pieces_begin(struct trace_input *input);

/* The next one, whose text is the caller's to change until the next call.  1; 0
 * at the end; -EMSGSIZE the scan refuses it, and *refusal says why; other
 * -errno of trace_input_read(). */
int trace_pieces_next(struct trace_pieces *pieces, struct trace_piece *piece,
		      const char **refusal);

/* At any time.  Nobody reads from the input any more. */
void trace_pieces_end(struct trace_pieces *pieces);

#endif
