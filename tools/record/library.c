/* SPDX-License-Identifier: MIT */
/*
 * library.c - where the library lies that this command preloads.
 */
#include "tools/record/library.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int library_find(char *path, size_t bytes)
{
	static const char *const places[] = {"", "../lib/", "../lib64/"};
	char self[PATH_MAX], candidate[PATH_MAX + 64], whole[PATH_MAX];
	const ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (len <= 0)
		return -ENOENT;
	self[len] = '\0';
	slash = strrchr(self, '/');
	slash[1] = '\0';
	for (size_t at = 0; at < sizeof(places) / sizeof(places[0]); at++) {
		snprintf(candidate, sizeof(candidate), "%s%s" LIBRARY_NAME,
			 self, places[at]);
		if (!realpath(candidate, whole) || access(whole, R_OK))
			continue;
		snprintf(path, bytes, "%s", whole);
		return 0;
	}
	return -ENOENT;
}
