/* SPDX-License-Identifier: MIT */
/*
 * note_fields.h - notes on a trace's text, read from it as its writer would
 * have made them.
 */
#ifndef TESTS_UNIT_NOTE_FIELDS_H
#define TESTS_UNIT_NOTE_FIELDS_H

#include "writer/text/fields.h"
#include <ctype.h>
#include <string.h>

/* Of some text, the number of a flow left out. */
static inline uint64_t note_hash(const char *text, size_t len)
{
	const char *flow = memmem(text, len, "\"id\":", 5);
	uint64_t hash = 0;

	for (size_t i = 0; i < len; i++) {
		if (flow && text + i >= flow && isdigit((unsigned char)text[i]))
			continue;
		hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3;
	}
	return hash;
}

/* Of a line without its line break: the ends of numbers and of names. */
static inline void note_line(struct fields *fields, const char *text,
			     size_t begin, size_t end)
{
	const char *line = text + begin;
	const size_t len = end - begin;
	const char *time = memmem(line, len, "\"ts\":", 5);
	const char *name = memmem(line, len, "\"name\":\"", 8);

	const bool is_gpu = memmem(line, len, "\"correlation\"", 13) ||
			    memmem(line, len, "\"ac2g\"", 6);
	const bool is_flow = memmem(line, len, "\"ac2g\"", 6);

	fields_line(fields, begin,
		    note_hash(line, time ? (size_t)(time - line) : len),
		    (unsigned int)note_hash(line, is_flow ? 10
						  : name ? (size_t)(name - line)
							 : len));
	for (size_t i = 1; i < len; i++) {
		const char *key = line + i;
		size_t back = 1;

		if (name && line + i > name + 8 && line[i] == '"' &&
		    line[i - 1] != '\\') {
			fields_end(fields, begin + i);
			name = NULL;
		}
		if (!isdigit((unsigned char)line[i - 1]) ||
		    isdigit((unsigned char)line[i]) || line[i] == '.')
			continue;
		while (key > line && *--key != ':')
			back++;
		if (back > 24 || key - line < 6 ||
		    (key[1] != '-' && !isdigit((unsigned char)key[1])))
			continue;
		fields_end(fields, begin + i);
		if (!memcmp(key - 6, "\"Addr\"", 6) ||
		    (is_gpu && !memcmp(key - 4, "\"ts\"", 4)))
			fields_recurs(fields);
	}
}

/* Notes on text[0..len), whose lines begin with ",\n". */
static inline void note_fields(struct fields *fields, const char *text,
			       size_t len)
{
	size_t at = 0;

	fields_clear(fields);
	while (at < len) {
		const char *next = len - at > 2 ? memmem(text + at + 2,
							 len - at - 2, ",\n", 2)
						: NULL;
		const size_t end = next ? (size_t)(next - text) : len;

		note_line(fields, text, at, end);
		at = end;
	}
}

#endif
