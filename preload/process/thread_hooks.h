/* SPDX-License-Identifier: MIT */
/* thread_hooks.h - notices the ends of threads. */
#ifndef PRELOAD_THREAD_HOOKS_H
#define PRELOAD_THREAD_HOOKS_H

/* Makes the key, if that has not been done. */
void thread_hooks_start(void);

/* The calling thread has got a record. */
void thread_hooks_arm(void);

#endif
