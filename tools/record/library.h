/* SPDX-License-Identifier: MIT */
/*
 * library.h - where the library lies that this command preloads.
 */
#ifndef TOOLS_LIBRARY_H
#define TOOLS_LIBRARY_H

#include <stddef.h>

#define LIBRARY_NAME "libtraceprof.so"

/* Its absolute path: beside the command, as in a build folder, else in ../lib
 * as installed.  0 or -ENOENT. */
int library_find(char *path, size_t bytes);

#endif
