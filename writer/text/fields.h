/* SPDX-License-Identifier: MIT */
/*
 * fields.h - where the lines of a trace's text begin and their fields end.
 *
 * Who formats an event knows what a coder would have to search for: the line
 * was made like another one before, and only its fields differ.  It notes that
 * here while it writes, and line_match.c makes matches of it.
 *
 * Notes are hints.  A coder compares bytes before it believes them, so a wrong
 * or missing note costs bytes of the file and never its truth.
 */
#ifndef WRITER_FIELDS_H
#define WRITER_FIELDS_H

#include "collector/system/base.h"

/* An end, as an offset in the text, may carry this. */
#define FIELD_RECURS UINT32_C(0x80000000) /* the value may come again */
#define FIELD_END    UINT32_C(0x7fffffff)

#define FIELD_LIKES  4096u
#define FIELD_KINDS  256u

/* One line.  It reaches to the next one. */
struct field_line {
	uint32_t begin; /* offset of its first byte in the text */
	uint32_t first; /* index of its first field's end */
	uint16_t like;	/* below FIELD_LIKES: lines that differ least */
	uint16_t kind;	/* below FIELD_KINDS: lines with the same keys */
};

/* Notes of one text, in the order of the text.  What finds no room, or lies
 * before the last one, is left out. */
struct fields {
	struct field_line *line; /* with room for one more after the last */
	uint32_t *end;
	uint32_t lines, line_room;
	uint32_t ends, end_room;
	uint32_t last; /* offset of the last note */
};

/* Maps room for some 256 KB of text.  0 or -ENOMEM. */
int fields_open(struct fields *fields);
void fields_close(struct fields *fields);

static inline void fields_clear(struct fields *fields)
{
	fields->lines = 0;
	fields->ends = 0;
	fields->last = 0;
}

/* A line begins at offset `at`.  `like` may be any number: of lines that differ
 * in few fields the same. */
static inline void fields_line(struct fields *fields, size_t at, uint64_t like,
			       unsigned int kind)
{
	if (likely(fields->lines < fields->line_room && at >= fields->last &&
		   at <= FIELD_END)) {
		fields->last = (uint32_t)at;
		fields->line[fields->lines++] = (struct field_line){
			.begin = (uint32_t)at,
			.first = fields->ends,
			.like = (uint16_t)((like *
					    UINT64_C(0x9e3779b97f4a7c15)) >>
					   52),
			.kind = (uint16_t)(kind % FIELD_KINDS),
		};
	}
}

/* A field ends at offset `at`. */
static inline void fields_end(struct fields *fields, size_t at)
{
	if (likely(fields->ends < fields->end_room && at >= fields->last &&
		   at <= FIELD_END)) {
		fields->last = (uint32_t)at;
		fields->end[fields->ends++] = (uint32_t)at;
	}
}

/* The value of the last field may come again, or did. */
static inline void fields_recurs(struct fields *fields)
{
	if (likely(fields->ends))
		fields->end[fields->ends - 1] |= FIELD_RECURS;
}

/* What is noted of the text from offset `at` on is not there any more. */
void fields_back(struct fields *fields, size_t at);

#endif
