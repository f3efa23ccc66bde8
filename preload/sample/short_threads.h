/* SPDX-License-Identifier: MIT */
/*
 * short_threads.h - where threads are that end before their period does.
 *
 * All threads of std::async() begin in one function of libstdc++'s, those of
 * Python in one of its own, and most that are shorter than a period have no
 * sample.  What they ran belongs where others that began in the same function
 * were found: each thread's first sample comes at the kernel's first look at
 * it, and the newest of these stands for who has none.
 */
#ifndef PRELOAD_SHORT_THREADS_H
#define PRELOAD_SHORT_THREADS_H

#include "preload/sample/sample_stack.h"

/* A thread that began in this function has its first sample; in a handler. */
void short_threads_seen(uintptr_t function, struct sample_place place);

/* The newest of these; `place`: there is none. */
struct sample_place short_threads_place(uintptr_t function,
					struct sample_place place);

/* Another session begins. */
void short_threads_forget(void);

#endif
