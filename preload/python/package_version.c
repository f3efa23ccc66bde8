/* SPDX-License-Identifier: MIT */
/* package_version.c - two numbers from a file; see package_version.h. */
#include "preload/python/package_version.h"

#include "collector/system/descriptor.h"
#include "collector/system/log.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool package_version(const char *path, const char *name, const char *key,
		     int *major, int *minor)
{
	const char *slash = strrchr(path, '/');
	char text[2048];
	char *at;
	ssize_t got;
	int file;

	if (!slash ||
	    log_format(text, sizeof(text), "%.*s%s", (int)(slash - path), path,
		       name) >= sizeof(text) - 1)
		return false;
	file = descriptor_open_high(text, O_RDONLY | O_CLOEXEC, 0);
	if (file < 0)
		return false;
	got = read(file, text, sizeof(text) - 1);
	close(file);
	text[got > 0 ? got : 0] = '\0';
	at = strstr(text, key);
	if (!at)
		return false;
	*major = (int)strtol(at + strlen(key), &at, 10);
	*minor = *at == '.' ? (int)strtol(at + 1, &at, 10) : -1;
	return true;
}
