/* SPDX-License-Identifier: MIT */
/*
 * file_locks.h - whether closing a file would give up a lock of the program's.
 *
 * A process loses its POSIX locks (fcntl(), lockf()) on a file as soon as it
 * closes any descriptor of that file, ours too.
 */
#ifndef COLLECTOR_FILE_LOCKS_H
#define COLLECTOR_FILE_LOCKS_H

#include "collector/system/base.h"

/* Some process holds one on a file with that number of its file system's; true
 * also where the kernel doesn't say.  Any thread; a file is open for a moment:
 * to be called between loader_enter() and loader_leave(). */
bool file_locks_has(uint64_t inode);

#endif
