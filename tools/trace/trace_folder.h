/* SPDX-License-Identifier: MIT */
/*
 * trace_folder.h - a path of the command line: a trace, or a folder of them.
 */
#ifndef TOOLS_TRACE_FOLDER_H
#define TOOLS_TRACE_FOLDER_H

#include <stddef.h>

/* Calls each() with the path, or where that is a folder with the path of each
 * trace in it, in the order of their names, until it returns anything but 0.
 * That, or -ENOENT: a folder without traces; other -errno: it can't be read. */
int trace_folder_each(const char *path,
		      int (*each)(void *arg, const char *path), void *arg);

/* The traces behind paths, those in folders too. */
struct trace_list {
	char **files; /* with a NULL behind the last one, when there is one */
	size_t count;
};

/* 0; -1 when one of the paths can't be read or holds none, which is said in the
 * name of that command of ours, after what is there of the others was taken. */
int trace_list_make(struct trace_list *list, const char *command,
		    char *const *paths, int count);
void trace_list_free(struct trace_list *list);

#endif
