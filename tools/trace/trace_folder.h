/* SPDX-License-Identifier: MIT */
/*
 * trace_folder.h - a path of the command line: a trace, or a folder of them.
 */
#ifndef TOOLS_TRACE_FOLDER_H
#define TOOLS_TRACE_FOLDER_H

/* Calls each() with the path, or where that is a folder with the path of each
 * trace in it, in the order of their names, until it returns anything but 0.
 * That, or -ENOENT: a folder without traces; other -errno: it can't be read. */
int trace_folder_each(const char *path,
		      int (*each)(void *arg, const char *path), void *arg);

#endif
