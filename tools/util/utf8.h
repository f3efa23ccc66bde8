/* SPDX-License-Identifier: MIT */
/*
 * utf8.h - strict UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing
 * above U+10FFFF.
 */
#ifndef TOOLS_UTF8_H
#define TOOLS_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Where a text that arrives byte by byte stands; zero at the start. */
struct utf8_state {
	unsigned char left;	 /* continuation bytes still to come */
	unsigned char low, high; /* bounds of the next one */
};

/* Take one byte.  False when it cannot stand here; the state then starts anew
 * behind it. */
bool utf8_feed(struct utf8_state *state, unsigned char byte);

/* Bytes of the well-formed sequence that text begins with, 0 if none does. */
size_t utf8_sequence(const char *text, size_t len);

#endif
