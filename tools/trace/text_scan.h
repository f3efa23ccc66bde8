/* SPDX-License-Identifier: MIT */
/*
 * text_scan.h - what a JSON parser does not tell about JSON text.
 *
 * A parser hands out decoded values; whether the text had surrogate escapes,
 * raw control characters, bad UTF-8 or `"rank":0` without a blank can only be
 * seen before.  The scanner reads each piece of text first and lists such flaws
 * by offset.  It also guards the parser: depth and string length are limited,
 * and a raw control character inside a string becomes a blank, so that one
 * flaw does not hide all others.
 */
#ifndef TOOLS_TEXT_SCAN_H
#define TOOLS_TEXT_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/util/text_buffer.h"

#define TEXT_SCAN_DEPTH_MAX  200u
#define TEXT_SCAN_STRING_MAX (16u << 20)

enum text_flaw {
	TEXT_FLAW_CONTROL = 1 << 0,   /* raw control character in a string */
	TEXT_FLAW_UTF8 = 1 << 1,      /* not UTF-8 in a string */
	TEXT_FLAW_SURROGATE = 1 << 2, /* \uD8xx\uDCxx at the top of an object */
	TEXT_FLAW_LONE = 1 << 3,      /* half a surrogate pair, anywhere */
	TEXT_FLAW_RANK = 1 << 4,      /* "rank": without a blank after */
};

struct text_flaw_at {
	uint64_t offset; /* in the whole text */
	enum text_flaw flaw;
};

struct text_scan {
	uint64_t offset; /* of the next byte */
	unsigned int depth;
	size_t token; /* bytes of the string or bare word so far */
	bool in_string;
	unsigned char escape; /* 1 after a backslash, 2..5 hex digits left */
	unsigned int code;    /* of the \u escape being read */
	bool half;	      /* a high surrogate waits for its other half */
	struct utf8_state utf8;
	char head[6];	    /* first bytes of the string */
	unsigned char rank; /* 1 after "rank", 2 after its colon */

	struct text_flaw_at *flaws; /* of the last piece */
	size_t flaw_count;
	size_t flaw_capacity;
	const char *error; /* why text_scan_piece() refused */
};

/* Scans the next len bytes, mending them in place.  0; -EMSGSIZE too deep or a
 * string too long (error says which). */
int text_scan_piece(struct text_scan *scan, char *text, size_t len);

void text_scan_free(struct text_scan *scan);

#endif
