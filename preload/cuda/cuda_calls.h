/* SPDX-License-Identifier: MIT */
/*
 * cuda_calls.h - the calls of a shared CUDA runtime, where CUPTI can't be had.
 *
 * Hooks in front of the runtime's own functions see who calls what, for how
 * long and with how many bytes; they don't see the GPU.  They stay closed while
 * CUPTI records, which sees all that they do and more.
 */
#ifndef PRELOAD_CUDA_CALLS_H
#define PRELOAD_CUDA_CALLS_H

#include "collector/session/session.h"
#include "preload/process/hook_hide.h"

/* Where this folder's hooks lie: of what the library exports nothing else lies
 * there.  In our constructor.  `is_off`: the loader isn't to find them. */
#define CUDA_RANGES 3u
void cuda_calls_ranges(bool is_off, struct hook_range ranges[CUDA_RANGES]);

/* CUPTI can't be had: from now on they record. */
void cuda_calls_record(struct session *session);

/* CUPTI, which was to record, refuses: they do, also in a window that is open.
 * CUPTI's thread, or who attaches. */
void cuda_calls_record_instead(struct session *session);

/* A window opens, on the thread that opens it: CUPTI may have been given up
 * since the gate was opened. */
void cuda_calls_follow(struct session *session);

/* In a forked child. */
void cuda_calls_forget(void);

#endif
