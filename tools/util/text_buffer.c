/* SPDX-License-Identifier: MIT */
/*
 * text_buffer.c - bytes that grow, and text made fit for a terminal.
 */
#include "tools/util/text_buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/util/memory.h"

void text_buffer_reserve(struct text_buffer *buffer, size_t more)
{
	size_t capacity = buffer->capacity ? buffer->capacity : 64;

	if (buffer->len + more + 1 <= buffer->capacity)
		return;
	while (capacity < buffer->len + more + 1)
		capacity *= 2;
	buffer->data = memory_resize(buffer->data, capacity, 1);
	buffer->capacity = capacity;
}

void text_buffer_cut(struct text_buffer *buffer, size_t len)
{
	buffer->len = 0;
	text_buffer_reserve(buffer, len);
	buffer->len = len;
	buffer->data[len] = '\0';
}

size_t text_buffer_add(struct text_buffer *buffer, const char *text, size_t len)
{
	const size_t at = buffer->len;

	text_buffer_reserve(buffer, len);
	if (len)
		memcpy(buffer->data + at, text, len);
	buffer->len += len;
	buffer->data[buffer->len] = '\0';
	return at;
}

size_t text_buffer_format(struct text_buffer *buffer, const char *format, ...)
{
	const size_t at = buffer->len;
	va_list args, again;
	int len;

	va_start(args, format);
	va_copy(again, args);
	len = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (len > 0) {
		text_buffer_reserve(buffer, (size_t)len);
		vsnprintf(buffer->data + at, (size_t)len + 1, format, again);
		buffer->len += (size_t)len;
	}
	va_end(again);
	return at;
}

static bool first_byte(struct utf8_state *state, unsigned char byte)
{
	state->low = 0x80;
	state->high = 0xbf;
	if (byte < 0x80)
		return true;
	if (byte >= 0xc2 && byte <= 0xdf) {
		state->left = 1;
	} else if (byte >= 0xe0 && byte <= 0xef) {
		state->left = 2;
		if (byte == 0xe0)
			state->low = 0xa0;
		if (byte == 0xed)
			state->high = 0x9f;
	} else if (byte >= 0xf0 && byte <= 0xf4) {
		state->left = 3;
		if (byte == 0xf0)
			state->low = 0x90;
		if (byte == 0xf4)
			state->high = 0x8f;
	} else {
		return false;
	}
	return true;
}

bool utf8_feed(struct utf8_state *state, unsigned char byte)
{
	if (!state->left)
		return first_byte(state, byte);
	if (byte < state->low || byte > state->high) {
		state->left = 0;
		return false;
	}
	state->left--;
	state->low = 0x80;
	state->high = 0xbf;
	return true;
}

size_t utf8_sequence(const char *text, size_t len)
{
	struct utf8_state state = {0};

	for (size_t at = 0; at < len; at++) {
		if (!utf8_feed(&state, (unsigned char)text[at]))
			return 0;
		if (!state.left)
			return at + 1;
	}
	return 0;
}

/* Ends a line, or turns the direction of what follows: U+200E, U+200F, U+2028
 * to U+202E, U+2066 to U+2069. */
static bool is_turn(const char *text)
{
	const unsigned char middle = (unsigned char)text[1];
	const unsigned char last = (unsigned char)text[2];

	if ((unsigned char)text[0] != 0xe2)
		return false;
	if (middle == 0x81)
		return last >= 0xa6 && last <= 0xa9;
	return middle == 0x80 &&
	       (last == 0x8e || last == 0x8f || (last >= 0xa8 && last <= 0xae));
}

/* C0 and C1 controls and DEL: a name must not drive the reader's terminal. */
static bool is_control(const char *text, size_t sequence)
{
	const unsigned char first = (unsigned char)text[0];

	if (sequence == 1)
		return first < 0x20 || first == 0x7f;
	if (sequence == 3)
		return is_turn(text);
	/* The second one turns a line's direction: U+061C. */
	return sequence == 2 &&
	       ((first == 0xc2 && (unsigned char)text[1] < 0xa0) ||
		(first == 0xd8 && (unsigned char)text[1] == 0x9c));
}

void text_buffer_add_printable(struct text_buffer *buffer, const char *text,
			       size_t len, size_t max_bytes)
{
	size_t at = 0;

	/* What most names are. */
	while (at < len && at < max_bytes && text[at] >= ' ' && text[at] < 0x7f)
		at++;
	text_buffer_add(buffer, text, at);
	while (at < len) {
		const size_t sequence = utf8_sequence(text + at, len - at);
		const size_t step = sequence ? sequence : 1;

		if (at + step > max_bytes) {
			text_buffer_add(buffer, "...", 3);
			return;
		}
		if (sequence && !is_control(text + at, sequence)) {
			text_buffer_add(buffer, text + at, sequence);
			at += sequence;
			continue;
		}
		for (size_t end = at + step; at < end; at++)
			text_buffer_format(buffer, "\\x%02x",
					   (unsigned char)text[at]);
	}
}

void text_buffer_add_quoted(struct text_buffer *buffer, const char *text,
			    size_t len)
{
	text_buffer_add(buffer, "\"", 1);
	for (size_t at = 0; at < len; at++) {
		const unsigned char byte = (unsigned char)text[at];

		if (byte < ' ')
			text_buffer_format(buffer, "\\u%04x", byte);
		else if (byte == '"' || byte == '\\')
			text_buffer_format(buffer, "\\%c", byte);
		else
			text_buffer_add(buffer, text + at, 1);
	}
	text_buffer_add(buffer, "\"", 1);
}

void text_buffer_free(struct text_buffer *buffer)
{
	free(buffer->data);
	memset(buffer, 0, sizeof(*buffer));
}
