/* SPDX-License-Identifier: MIT */
/*
 * text_buffer.h - bytes that grow, and strict UTF-8 (RFC 3629): no overlong
 * forms, no surrogates, nothing above U+10FFFF.
 *
 * Always NUL-terminated after len once something was added, so data can be
 * used as a C string where the text holds no NUL of its own.
 */
#ifndef TOOLS_TEXT_BUFFER_H
#define TOOLS_TEXT_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct text_buffer {
	char *data;
	size_t len;
	size_t capacity;
};

/* Cut back to len bytes; len must not be beyond what is there. */
void text_buffer_cut(struct text_buffer *buffer, size_t len);

/* Append; returns the offset of the first byte added. */
size_t text_buffer_add(struct text_buffer *buffer, const char *text,
		       size_t len);

/* Room for so many bytes more, and a NUL. */
void text_buffer_reserve(struct text_buffer *buffer, size_t more);

/* Append a text and a NUL that belongs to it. */
static inline size_t text_buffer_keep(struct text_buffer *buffer,
				      const char *text, size_t len)
{
	const size_t at = buffer->len;

	if (at + len + 2 > buffer->capacity)
		text_buffer_reserve(buffer, len + 1);
	memcpy(buffer->data + at, text, len);
	memset(buffer->data + at + len, 0, 2);
	buffer->len = at + len + 1;
	return at;
}

size_t text_buffer_format(struct text_buffer *buffer, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Append text fit for a terminal: at most max_bytes of it, control characters
 * and what is not UTF-8 as \xNN, a cut shown by "...". */
void text_buffer_add_printable(struct text_buffer *buffer, const char *text,
			       size_t len, size_t max_bytes);

/* Append a text as JSON has it, in quotes. */
void text_buffer_add_quoted(struct text_buffer *buffer, const char *text,
			    size_t len);

void text_buffer_free(struct text_buffer *buffer);

/* Where a text that arrives byte by byte stands; zero at the start. */
struct utf8_state {
	unsigned char left;	 /* continuation bytes still to come */
	unsigned char low, high; /* bounds of the next one */
};

/* Take one byte.  False when it cannot stand here; the state then starts anew
 * after it. */
bool utf8_feed(struct utf8_state *state, unsigned char byte);

/* Bytes of the well-formed sequence that text begins with, 0 if none does. */
size_t utf8_sequence(const char *text, size_t len);

#endif
