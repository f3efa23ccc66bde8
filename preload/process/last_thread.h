/* SPDX-License-Identifier: MIT */
/* last_thread.h - our writer must not keep a process alive. */
#ifndef PRELOAD_LAST_THREAD_H
#define PRELOAD_LAST_THREAD_H

#include <stdint.h>

/* Looks whether the writer is alone, and if so ends the process.  For
 * writer_add_source(). */
void last_thread_poll(void *unused);

/* Waits until a thread of ours that ends is gone from the kernel too, a second
 * at most: what kills only a thread then ends a program that has no other. */
void last_thread_wait_gone(uint32_t tid);

#endif
