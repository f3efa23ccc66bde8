/* SPDX-License-Identifier: MIT */
/*
 * no_thread.h - what is said where there can be no thread for the writer.
 */
#ifndef PRELOAD_NO_THREAD_H
#define PRELOAD_NO_THREAD_H

/* After a call of that name, or NULL; once in a process. */
void no_thread_say(const char *name, int error);

#endif
