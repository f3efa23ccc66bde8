/* SPDX-License-Identifier: MIT */
/*
 * line_match.h - what each line of a trace repeats of earlier ones.
 *
 * A trace's lines are made from few templates: kind, category and name decide
 * all but the numbers.  Who wrote them noted where each line begins, which
 * lines are like it, and where its fields end (fields.h).  So nothing is
 * searched for here.  A line is laid on the last one like it and both are read
 * along together: equal bytes are a match, at a difference both go on after
 * the field that they are in.  A table finds the few values that are said to
 * come again, an address, together with the text after them.
 *
 * Text without notes goes through a table of byte strings.
 */
#ifndef WRITER_LINE_MATCH_H
#define WRITER_LINE_MATCH_H

#include "writer/text/fields.h"

#define LINE_MATCH_MIN	    4u
#define LINE_MATCH_DISTANCE 32768u
#define LINE_MATCH_TEXT	    (UINT32_C(1) << 30)

/* `literals` bytes as they are, then `match` bytes that also stand `distance`
 * bytes before (0: none; otherwise at least LINE_MATCH_MIN). */
struct line_sequence {
	uint32_t literals;
	uint32_t match;
	uint32_t distance; /* 1 to LINE_MATCH_DISTANCE */
};

struct line_match;

/* How much memory one needs, 64-byte aligned and zero at first. */
size_t line_match_bytes(void);

/* Takes the best way of this processor; `level` 0 takes the slowest, that any
 * has, and so on up (for tests). */
#define LINE_MATCH_BEST 9
void line_match_start(struct line_match *lines, int level);

/* Begins a text of at most LINE_MATCH_TEXT bytes; nothing lies before it.
 * `fields` has the notes on it, NULL none. */
void line_match_begin(struct line_match *lines, const char *text, size_t len,
		      const struct fields *fields);

/* Writes the next sequences, at most `room` (which must be above
 * LINE_MATCH_ROOM); their number, 0 once they cover all of the text. */
#define LINE_MATCH_ROOM 1024u
size_t line_match_next(struct line_match *lines, struct line_sequence *out,
		       size_t room);

/* How much of the text those that were written cover. */
size_t line_match_done(const struct line_match *lines);

#endif
