/* SPDX-License-Identifier: MIT */
/*
 * orphan.h - a process that is nobody's child, or one that the program doesn't
 * hear of.
 *
 * The program doesn't hear of it: no signal comes at its end, and no wait()
 * meets it.  (Where the program is its container's first process, or adopts
 * orphans, it does hear; see orphan_is_ours().)
 */
#ifndef COLLECTOR_ORPHAN_H
#define COLLECTOR_ORPHAN_H

#include "collector/system/base.h"
#include <sys/types.h>

/*
 * Calls run(arg) in a process with a session of processes of its own.  With
 * `shares` it shares our memory, and we wait until it has called execve() or
 * ended; else it is a copy with one thread.  All signals are blocked in it.
 * Its process id, or -errno.
 */
pid_t orphan_start(int (*run)(void *arg), void *arg, bool shares);

/* Calls run(arg) in a process that shares our memory but has descriptors of its
 * own, copies of ours, and waits for its end.  All signals are blocked in it.
 * False: there is none; under valgrind and qemu it may be a copy of memory. */
bool orphan_call(int (*run)(void *arg), void *arg);

/* Who takes in the orphans is this process. */
bool orphan_is_ours(void);

#endif
