/* SPDX-License-Identifier: MIT */
/* file_locks.c - reads /proc/locks; see file_locks.h. */
#include "collector/system/file_locks.h"

#include "collector/system/log.h"
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define LINE_BYTES 128 /* the kernel's are shorter */

/* Lines as "1: POSIX  ADVISORY  WRITE 3568 fe:00:2883 0 EOF". */
static bool line_has(const char *line, const char *number)
{
	return strstr(line, " POSIX ") && strstr(line, number);
}

static bool lines_have(int fd, const char *number)
{
	char text[512 + 1];
	size_t kept = 0;
	ssize_t got;

	while ((got = read(fd, text + kept, sizeof(text) - 1 - kept)) > 0) {
		char *line = text, *end;

		text[kept + (size_t)got] = '\0';
		while ((end = strchr(line, '\n'))) {
			*end = '\0';
			if (line_has(line, number))
				return true;
			line = end + 1;
		}
		kept = strlen(line);
		if (kept > LINE_BYTES)
			return true;
		memmove(text, line, kept);
	}
	return got < 0;
}

bool file_locks_has(uint64_t inode)
{
	const int fd = open("/proc/locks", O_RDONLY | O_CLOEXEC);
	char number[32];
	bool has;

	if (fd < 0)
		return true;
	log_format(number, sizeof(number), ":%lu ", (unsigned long)inode);
	has = lines_have(fd, number);
	close(fd);
	return has;
}
