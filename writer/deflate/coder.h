/* SPDX-License-Identifier: MIT */
/*
 * coder.h - turns blocks of text into pieces of one raw deflate stream.
 *
 * Each block is coded by itself: it begins and ends on a byte boundary and
 * looks back at nothing before it.  So pieces from different coders, from
 * before and after a crash, from this process and another, may follow each
 * other in one stream.  Everything about files, gzip's header and trailer
 * is trace_file.c's.
 *
 * Which coder: the text of TRACEPROF_GZIP.
 *
 *	auto		fast
 *	fast		our own, for the lines of a trace
 *	zlib:1-zlib:9	zlib at that level
 *	off		none: pieces are the text itself
 *
 * Nothing here allocates from the program's heap: zlib gets its memory from one
 * mapping per coder.
 */
#ifndef WRITER_CODER_H
#define WRITER_CODER_H

#include "writer/text/fields.h"

enum coder_kind { CODER_AUTO, CODER_PLAIN, CODER_ZLIB, CODER_FAST };

struct coder_choice {
	enum coder_kind kind;
	int level; /* CODER_ZLIB: 1 to 9; otherwise 0 */
};

/* Reads TRACEPROF_GZIP's text; NULL and "" are "auto".  0; -EINVAL and one
 * line in `why` (may be NULL) that says what is right; `choice` is then auto.
 */
int coder_parse(const char *text, struct coder_choice *choice, char *why,
		size_t why_bytes);

/* One block of text.  Only fast looks at `fields`. */
struct coder_text {
	const char *data;
	size_t len;
	const struct fields *fields; /* notes on it; NULL none */
	bool last;		     /* the final block of the stream */
};

struct coder;

/* What a back end is.  All blocks are independent, so it keeps no history. */
struct coder_back_end {
	size_t arena_bytes; /* the most that it takes from coder_alloc() */
	/* Sets up coder->state.  0 or -ENOMEM. */
	int (*open)(struct coder *coder);
	/* As coder_block() with len > 0 or last; `out` has `room` bytes. */
	int (*block)(struct coder *coder, const struct coder_text *text,
		     char *out, size_t room, size_t *made);
};

extern const struct coder_back_end fast_coder; /* fast_coder.c */

/* One coder; used by one thread at a time. */
struct coder {
	enum coder_kind kind; /* never CODER_AUTO once open */
	int level;
	const struct coder_back_end *back_end;
	char *arena; /* all of its memory */
	size_t arena_bytes;
	size_t arena_used;
	void *state;	     /* the back end's own, in the arena */
	unsigned int skills; /* of the processor */
};

/* For back ends: `bytes` of the arena, aligned to 64, zero; NULL none left. */
void *coder_alloc(struct coder *coder, size_t bytes);

/* 0 or -ENOMEM. */
int coder_open(struct coder *coder, const struct coder_choice *choice);
void coder_close(struct coder *coder);

/* The most bytes that coder_block() makes of `len`. */
size_t coder_bound(const struct coder *coder, size_t len);

/* Codes one block into `out`, which must have coder_bound(text->len) bytes.
 * After the last block a new stream begins.  *made gets the bytes written.  0;
 * -EIO the back end failed. */
int coder_block(struct coder *coder, const struct coder_text *text, char *out,
		size_t *made);

/* gzip's CRC of what `crc` stands for (0: nothing) followed by `text`. */
uint32_t coder_crc32(const struct coder *coder, uint32_t crc, const char *text,
		     size_t len);

#endif
