/* SPDX-License-Identifier: MIT */
/*
 * strict_reader.h - reads a trace as the strictest reader would, in
 * unit tests.
 */
#ifndef TESTS_UNIT_STRICT_READER_H
#define TESTS_UNIT_STRICT_READER_H

#include "tests/unit/json_reader.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

/* All of a file in memory that the caller frees; NULL unreadable. */
static inline char *strict_read_file(const char *path, size_t *len)
{
	const int fd = open(path, O_RDONLY);
	char *bytes = NULL;
	off_t size;

	if (fd < 0)
		return NULL;
	size = lseek(fd, 0, SEEK_END);
	if (size >= 0)
		bytes = malloc((size_t)size + 1);
	if (bytes && pread(fd, bytes, (size_t)size, 0) != size) {
		free(bytes);
		bytes = NULL;
	}
	close(fd);
	*len = bytes ? (size_t)size : 0;
	return bytes;
}

/* One gzip member from *at on; its text is appended.  0, or -1 not a whole one.
 */
static inline int strict_read_member(const char *bytes, size_t len, size_t *at,
				     char **text, size_t *text_len)
{
	z_stream in = {.next_in = (Bytef *)bytes + *at,
		       .avail_in = (uInt)(len - *at)};
	size_t room = 1u << 16, used = 0;
	char *out = malloc(room);
	int rc = inflateInit2(&in, 16 + 15); /* gzip alone, CRC checked */

	while (out && rc == Z_OK) {
		in.next_out = (Bytef *)out + used;
		in.avail_out = (uInt)(room - used);
		rc = inflate(&in, Z_NO_FLUSH);
		used = room - in.avail_out;
		if (rc == Z_OK && !in.avail_out)
			out = realloc(out, room *= 2);
	}
	inflateEnd(&in);
	*at = len - in.avail_in;
	*text = out;
	*text_len = used;
	return rc == Z_STREAM_END ? 0 : -1;
}

/* The text of a .gz that gzip -t and Python's gzip accept and whose first
 * member holds everything; behind it may stand empty members, and zeros.  NULL
 * and a word in *fault where it isn't one. */
static inline char *strict_read_gzip(const char *path, size_t *text_len,
				     const char **fault)
{
	size_t len, at = 0, more_len;
	char *bytes = strict_read_file(path, &len), *text = NULL, *more;
	int rc;

	*fault = "unreadable";
	if (!bytes)
		return NULL;
	*fault = "first member";
	rc = strict_read_member(bytes, len, &at, &text, text_len);
	while (!rc) {
		while (at < len && !bytes[at])
			at++;
		if (at == len)
			break;
		rc = strict_read_member(bytes, len, &at, &more, &more_len);
		free(more);
		*fault = "what follows the first member";
		if (more_len)
			rc = -1;
	}
	free(bytes);
	if (!rc && json_is_whole(text, *text_len))
		return text;
	if (!rc)
		*fault = "JSON";
	free(text);
	return NULL;
}

static inline char *strict_read_plain(const char *path, size_t *text_len,
				      const char **fault)
{
	char *text = strict_read_file(path, text_len);

	*fault = text ? "JSON" : "unreadable";
	if (text && json_is_whole(text, *text_len))
		return text;
	free(text);
	return NULL;
}

#endif
