/* SPDX-License-Identifier: MIT */
/*
 * maps.h - memory that the program gets from the kernel by itself.
 *
 * TRACEPROF_MMAP=1 records mmap(), munmap(), mremap(), brk() and sbrk() as the
 * program calls them.  What the C library maps for malloc() it calls past us,
 * so that nothing is counted twice; the stacks that it maps for threads are
 * told by the threads themselves, and are those that record something.
 */
#ifndef PRELOAD_MAPS_H
#define PRELOAD_MAPS_H

#include "collector/session/thread.h"

/* A thread has got its record, or is about to give it back. */
void maps_thread_entered(struct thread *thread);
void maps_thread_leaves(struct thread *thread);

#endif
