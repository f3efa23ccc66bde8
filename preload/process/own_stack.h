/* SPDX-License-Identifier: MIT */
/* own_stack.h - where the stack of a thread lies, by the C library. */
#ifndef PRELOAD_OWN_STACK_H
#define PRELOAD_OWN_STACK_H

#include "collector/system/base.h"

/* The calling thread's, not the main one's, whose stack the kernel made.  It
 * is THREAD_BUSY, since the C library allocates.  False: it can't be asked now
 * (families_thread_asked() tells when it can), or there was no memory. */
bool own_stack_find(void **low, size_t *bytes);

/* In a forked child: other threads are gone. */
void own_stack_forget(void);

#endif
