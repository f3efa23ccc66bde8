/* SPDX-License-Identifier: MIT */
/*
 * folder.h - the names in a folder, as the kernel gives them.
 *
 * opendir() and scandir() allocate.  The program's allocator may be one of its
 * own that isn't for two threads, so no thread of ours goes through it.
 */
#ifndef COLLECTOR_FOLDER_H
#define COLLECTOR_FOLDER_H

#include <stdbool.h>

/* Calls `visit` for each name that doesn't begin with a dot, in no order, until
 * it says false.  `fd` is the folder's, or negative, which has no names; it
 * stays open.  Thread-safe; allocates nothing. */
void folder_read(int fd, bool (*visit)(const char *name, void *arg), void *arg);

#endif
