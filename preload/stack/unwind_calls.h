/* SPDX-License-Identifier: MIT */
/*
 * unwind_calls.h - what libunwind asks of the kernel while it walks.
 *
 * Whether an address can be read, and files of code that it doesn't know: by
 * functions of the C library that are points of cancellation, where a hook must
 * not be one.  To forbid it for each walk takes 60 instructions; so libunwind
 * gets functions that are none.
 */
#ifndef PRELOAD_UNWIND_CALLS_H
#define PRELOAD_UNWIND_CALLS_H

#include "collector/system/base.h"

/* In our constructor, of the file that begins at `library`.  False: some of its
 * calls can't be changed, and a walk may be a point of cancellation. */
bool unwind_calls_redirect(uintptr_t library);

/* What it maps for a thread's first stack and unmaps as the thread ends, it
 * gets again for the next one: 64 pages to touch are most of what a short
 * thread costs. */
void unwind_calls_keep_maps(uintptr_t library);

/* False: it would let signals come in the handler of samples. */
bool unwind_calls_keep_blocked(uintptr_t library);

#endif
