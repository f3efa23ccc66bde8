/* SPDX-License-Identifier: MIT */
/*
 * json_reader.h - a strict little JSON checker for unit tests: RFC 8259, UTF-8
 * checked elsewhere.  It builds nothing and only says where a value ends.
 */
#ifndef TESTS_UNIT_JSON_READER_H
#define TESTS_UNIT_JSON_READER_H

#include <stddef.h>
#include <string.h>

static const char *json_value_end(const char *at, const char *end);

static inline const char *json_blanks_end(const char *at, const char *end)
{
	while (at < end && *at && strchr(" \t\r\n", *at))
		at++;
	return at;
}

static inline const char *json_string_end(const char *at, const char *end)
{
	if (at == end || *at++ != '"')
		return NULL;
	for (; at < end && *at != '"'; at++) {
		if ((unsigned char)*at < 0x20)
			return NULL;
		if (*at != '\\')
			continue;
		if (++at == end || !*at || !strchr("\"\\/bfnrtu", *at))
			return NULL;
		if (*at != 'u')
			continue;
		for (int i = 0; i < 4; i++) {
			if (++at == end || !*at ||
			    !strchr("0123456789abcdefABCDEF", *at))
				return NULL;
		}
	}
	return at < end ? at + 1 : NULL;
}

static inline const char *json_digits_end(const char *at, const char *end)
{
	const char *const begin = at;

	while (at < end && *at >= '0' && *at <= '9')
		at++;
	return at > begin ? at : NULL;
}

static inline const char *json_number_end(const char *at, const char *end)
{
	if (at < end && *at == '-')
		at++;
	if (at < end && *at == '0')
		at++;
	else if (!(at = json_digits_end(at, end)))
		return NULL;
	if (at < end && *at == '.' && !(at = json_digits_end(at + 1, end)))
		return NULL;
	if (at < end && (*at == 'e' || *at == 'E')) {
		at++;
		if (at < end && (*at == '+' || *at == '-'))
			at++;
		at = json_digits_end(at, end);
	}
	return at;
}

/* An object ('{') or an array. */
static inline const char *json_members_end(const char *at, const char *end)
{
	const int object = *at == '{';
	const char close = object ? '}' : ']';

	at = json_blanks_end(at + 1, end);
	if (at < end && *at == close)
		return at + 1;
	for (;;) {
		if (object) {
			at = json_string_end(json_blanks_end(at, end), end);
			if (!at)
				return NULL;
			at = json_blanks_end(at, end);
			if (at == end || *at++ != ':')
				return NULL;
		}
		at = json_value_end(at, end);
		if (!at)
			return NULL;
		at = json_blanks_end(at, end);
		if (at == end)
			return NULL;
		if (*at == close)
			return at + 1;
		if (*at++ != ',')
			return NULL;
	}
}

/* The end of the value at `at`, or NULL where it isn't one. */
static const char *json_value_end(const char *at, const char *end)
{
	static const char *const words[] = {"true", "false", "null"};

	at = json_blanks_end(at, end);
	if (at == end)
		return NULL;
	if (*at == '{' || *at == '[')
		return json_members_end(at, end);
	if (*at == '"')
		return json_string_end(at, end);
	for (size_t i = 0; i < 3; i++) {
		const size_t len = strlen(words[i]);

		if ((size_t)(end - at) >= len && !memcmp(at, words[i], len))
			return at + len;
	}
	return json_number_end(at, end);
}

/* Exactly one value, with nothing behind it. */
static inline int json_is_whole(const char *text, size_t len)
{
	return len && json_value_end(text, text + len) == text + len;
}

#endif
