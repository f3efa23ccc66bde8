/* SPDX-License-Identifier: MIT */
/*
 * unwind_trial.h - whether libunwind can be loaded before main().
 *
 * The loader allocates and frees as it loads a file, by the program's own
 * allocator where the executable has one.  That may bear nothing before main():
 * GCL's, whose heap is a picture of an earlier process, ends the program.
 * Nothing tells that of an allocator but to try, so a copy of the process tries
 * first.
 */
#ifndef PRELOAD_UNWIND_TRIAL_H
#define PRELOAD_UNWIND_TRIAL_H

#include <stdbool.h>

#define UNWIND_FILE "libunwind.so.8"

/* In our constructor.  False: a process that tried it came to an end, or was
 * still at it after TRIAL_SECONDS (unwind_trial.c), or there could be none. */
bool unwind_can_be_loaded(void);

#endif
