/* SPDX-License-Identifier: MIT */
/* step_file.c - a step's setting in a file; see step_file.h. */
#include "collector/steps/step_file.h"

#include "collector/system/descriptor.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_BYTES 1024u /* what is longer is told by its beginning */

#define FILE_BYTES (1u << 20) /* no setting is as long */

struct line_reader {
	int fd;
	size_t at, end;
	size_t left; /* of FILE_BYTES */
	char buffer[512];
};

static bool refill(struct line_reader *reader)
{
	const size_t room = sizeof(reader->buffer);
	ssize_t got = 0;

	if (reader->left >= room) {
		reader->left -= room;
		got = read(reader->fd, reader->buffer, room);
	}
	reader->at = 0;
	reader->end = got > 0 ? (size_t)got : 0;
	return got > 0;
}

/* The next line, as far as it fits.  False: there is none. */
static bool read_line(struct line_reader *reader, char *line, size_t bytes)
{
	size_t len = 0;
	bool is_there = false;

	while (reader->at < reader->end || refill(reader)) {
		const char c = reader->buffer[reader->at++];

		is_there = true;
		if (c == '\n')
			break;
		if (len + 1 < bytes)
			line[len++] = c;
	}
	line[len] = '\0';
	return is_there;
}

const char *step_file_family(uint32_t family)
{
	static const char *const words[] = {
		[SEARCH_REGIONS] = "regions",
		[SEARCH_RANGES] = "ranges",
		[SEARCH_CALLS] = "calls",
	};

	return family <= SEARCH_CALLS ? words[family] : NULL;
}

/* False: there is something, but no level. */
static bool read_level(struct line_reader *reader, struct search_wanted *wanted)
{
	char line[NAME_BYTES];
	const char *word;

	if (!read_line(reader, line, sizeof(line)) || !line[0])
		return true;
	while ((word = step_file_family(wanted->family)) && strcmp(line, word))
		wanted->family++;
	while (read_line(reader, line, sizeof(line)) && line[0]) {
		if (wanted->count > SEARCH_CONTEXT_MAX)
			return false;
		wanted->names[wanted->count++] =
			search_label(wanted->family, line);
	}
	return word && wanted->count;
}

/* A pipe would wait for its writer, and a device may never end.  -1: none. */
static int open_file(const char *path)
{
	const int fd = descriptor_open_high(
		path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0);
	struct stat status;

	if (fd >= 0 && !fstat(fd, &status) && S_ISREG(status.st_mode))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

int step_file_read(const char *path, char *first, size_t bytes,
		   struct search_wanted *wanted)
{
	struct line_reader reader = {.fd = open_file(path), .left = FILE_BYTES};
	bool is_good;

	*wanted = (struct search_wanted){0};
	if (reader.fd < 0)
		return -ENOENT;
	is_good =
		read_line(&reader, first, bytes) && read_level(&reader, wanted);
	close(reader.fd);
	return is_good ? 0 : -ENOENT;
}
