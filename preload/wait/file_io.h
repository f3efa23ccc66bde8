/* SPDX-License-Identifier: MIT */
/*
 * file_io.h - what threads read and write, by file (TRACEPROF_IO).
 *
 * Which file a descriptor stands for is asked of the kernel each time, since
 * descriptors come and go in ways that no hook sees; its path once for each
 * file.  After so many files only their folder and ending is told apart.
 */
#ifndef PRELOAD_FILE_IO_H
#define PRELOAD_FILE_IO_H

#include "collector/session/gate.h"
#include "collector/session/session.h"
#include "collector/session/thread_self.h"

/* Of fread(), which takes less out of its buffer as a rule. */
#define FILE_IO_STREAM_MIN 4096u

/* A recording begins.  True: it is wanted. */
bool file_io_start(struct session *session);

/* A call is over that took `bytes` of a file; keeps errno.  False: it is no
 * file, but a pipe, a socket, a device. */
bool file_io_took(enum file_verb verb, int fd, uint64_t bytes, uint64_t start);

/* Something on a disk?  Keeps errno; true also where that isn't known. */
bool file_io_is_file(int fd);

static inline bool file_io_is_wanted(void)
{
	return unlikely(gate_bits() & GATE_IO) &&
	       (!thread_self || thread_records(thread_self));
}

#endif
