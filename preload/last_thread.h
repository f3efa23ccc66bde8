/* SPDX-License-Identifier: MIT */
/* last_thread.h - our writer must not keep a process alive. */
#ifndef PRELOAD_LAST_THREAD_H
#define PRELOAD_LAST_THREAD_H

/* Looks whether the writer is alone, and if so ends the process.  For
 * writer_add_source(). */
void last_thread_look(void *unused);

#endif
