/* SPDX-License-Identifier: MIT */
/*
 * loader.h - threads of our own: how one is started, and how it keeps out of
 * the dynamic loader while others fork.
 *
 * The loader's locks are copied by a fork, and no C library frees them in the
 * child: what one of our threads held there is held for ever, and the child
 * hangs in its next dlopen(), dladdr() or dl_iterate_phdr().  So whoever of us
 * goes into the loader says so, and a fork waits for that moment; and while a
 * fork is under way we wait.  Neither waits longer than 0.2 s.
 *
 * So is a file that one of us has open for a moment: a child would keep it, and
 * find the lowest descriptor taken.
 *
 * A thread that is just being made is such a moment, too: a child by number
 * keeps it in the C library's list, whose setuid() and the like wait until it
 * runs.  A fork waits two seconds for it.
 */
#ifndef COLLECTOR_LOADER_H
#define COLLECTOR_LOADER_H

#include "collector/system/base.h"

#include <link.h>

/* Starts one that nobody joins, with a stack of so many bytes.  No signal sent
 * to the process is ever delivered to it.  0 or -errno of pthread_create(). */
int background_start(void *(*run)(void *), size_t stack_bytes);

/* Such threads, and those that other libraries began on our behalf: a program
 * that has lost its last thread ends without them.  Never more than there are:
 * each counts itself. */
unsigned int background_count(void);
bool background_is_counted(void); /* none is just being started, */
bool background_is_ending(void);  /* and one has left just now */
void background_enter(void);
void background_leave(void);

/* Around calls into the loader.  Who entered again could meet a fork, and each
 * would wait for the other for 0.2 s.  False: not now, a fork goes on and on;
 * then there is nothing to leave.  A hook on a program's own thread, which
 * can't do without, goes in all the same. */
bool loader_enter(void);
/* Around a file that is open for a moment, which is opened all the same.  Waits
 * no longer than 20 ms, since descriptors are the first that a fork copies; but
 * a few times in a process 0.2 s, for a fork that finds no processor. */
bool loader_enter_soon(void);
/* The same on a program's own thread, which waits for nothing, or where what
 * the file is opened for can be left. */
bool loader_enter_now(void);
void loader_leave(void);

/* Where a file that is loaded lies, from the first byte of its segments to the
 * end of the last.  False: the address is in none of it. */
bool loader_file_holds(const struct dl_phdr_info *info, uintptr_t address,
		       uintptr_t *start, uintptr_t *end);

/* Around a fork, in the parent; and in the child, first of all. */
void loader_before_fork(void);
void loader_after_fork(void);
void loader_forget(void);

#endif
