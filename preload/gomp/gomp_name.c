/* SPDX-License-Identifier: MIT */
/*
 * gomp_name.c - reads names out of symbols: the nested-name part of the Itanium
 * C++ mangling, without template arguments, and nothing else of it.
 */
#include "preload/gomp/gomp_name.h"

#include <string.h>

struct reader {
	const char *at, *end;
	char *to;
	size_t room; /* for characters, without the final NUL */
};

static void put(struct reader *reader, const char *text, size_t len)
{
	len = min_u64(len, reader->room);
	memcpy(reader->to, text, len);
	reader->to += len;
	reader->room -= len;
}

/* <length><name>, up to `most` times.  True if there was one. */
static bool read_parts(struct reader *reader, size_t most)
{
	bool any = false;

	while (most-- && reader->at < reader->end && *reader->at >= '1' &&
	       *reader->at <= '9') {
		size_t len = 0;

		while (reader->at < reader->end && *reader->at >= '0' &&
		       *reader->at <= '9' && len < GOMP_NAME_BYTES)
			len = len * 10 + (size_t)(*reader->at++ - '0');
		if (len > (size_t)(reader->end - reader->at))
			return false;
		if (any)
			put(reader, "::", 2);
		put(reader, reader->at, len);
		reader->at += len;
		any = true;
	}
	return any;
}

static bool read_mangled(struct reader *reader)
{
	bool is_nested = false;

	reader->at += strlen("_Z");
	if (reader->at < reader->end && *reader->at == 'N') {
		is_nested = true;
		reader->at++;
	}
	while (is_nested && reader->at < reader->end &&
	       strchr("rVKRO", *reader->at))
		reader->at++;
	/* GCC's own: a function of internal linkage. */
	if (reader->at < reader->end && *reader->at == 'L')
		reader->at++;
	/* Behind the only part of a plain name stand parameters. */
	return read_parts(reader, is_nested ? SIZE_MAX : 1);
}

void gomp_name_read(const char *symbol, size_t len,
		    char readable[GOMP_NAME_BYTES])
{
	const char *outlined = memmem(symbol, len, "._omp_fn.", 9);
	struct reader reader = {symbol, symbol + len, readable,
				GOMP_NAME_BYTES - 1};

	if (outlined)
		reader.end = outlined;
	if (reader.end - symbol < 2 || memcmp(symbol, "_Z", 2) ||
	    !read_mangled(&reader)) {
		reader = (struct reader){symbol, reader.end, readable,
					 GOMP_NAME_BYTES - 1};
		put(&reader, symbol, (size_t)(reader.end - symbol));
	}
	*reader.to = '\0';
}
