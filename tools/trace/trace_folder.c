/* SPDX-License-Identifier: MIT */
/* trace_folder.c - the traces of a folder; see trace_folder.h. */
#include "tools/trace/trace_folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int is_trace(const struct dirent *entry)
{
	const char *name = entry->d_name, *end = strstr(name, ".json");

	return end && name[0] != '.' && (!end[5] || !strcmp(end + 5, ".gz"));
}

int trace_folder_each(const char *path,
		      int (*each)(void *arg, const char *path), void *arg)
{
	struct dirent **names;
	struct stat status;
	int count, rc;

	if (stat(path, &status) || !S_ISDIR(status.st_mode))
		return each(arg, path);
	count = scandir(path, &names, is_trace, alphasort);
	if (count < 0)
		return -errno;
	rc = count ? 0 : -ENOENT;
	for (int at = 0; at < count; at++) {
		char *inside;

		if (!rc &&
		    asprintf(&inside, "%s/%s", path, names[at]->d_name) >= 0) {
			rc = each(arg, inside);
			free(inside);
		}
		free(names[at]);
	}
	free(names);
	return rc;
}
