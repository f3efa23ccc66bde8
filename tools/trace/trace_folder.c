/* SPDX-License-Identifier: MIT */
/* trace_folder.c - the traces of a folder; see trace_folder.h. */
#include "tools/trace/trace_folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/util/memory.h"

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

static int add(void *arg, const char *path)
{
	struct trace_list *list = arg;

	list->files = memory_resize(list->files, list->count + 2,
				    sizeof(*list->files));
	list->files[list->count] = strdup(path);
	if (!list->files[list->count])
		memory_exhausted();
	list->files[++list->count] = NULL;
	return 0;
}

int trace_list_make(struct trace_list *list, const char *command,
		    char *const *paths, int count)
{
	int code = 0;

	*list = (struct trace_list){0};
	for (int at = 0; at < count; at++) {
		const int error = trace_folder_each(paths[at], add, list);

		if (!error)
			continue;
		fprintf(stderr, "traceprof %s: %s: %s\n", command, paths[at],
			error == -ENOENT ? "no trace in it" : strerror(-error));
		code = -1;
	}
	return code;
}

void trace_list_free(struct trace_list *list)
{
	for (size_t at = 0; at < list->count; at++)
		free(list->files[at]);
	free(list->files);
}
