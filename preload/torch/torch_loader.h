/* SPDX-License-Identifier: MIT */
/*
 * torch_loader.h - what a DataLoader of PyTorch's waits for.
 *
 * Each time that a batch is asked for, the main thread looks at the loader's
 * iterator between two instructions of Python.  With workers, how many batches
 * lie ready becomes a counter.  Without, the two functions that make the batch
 * become slices: what reads the data set, and what collates.
 */
#ifndef PRELOAD_TORCH_LOADER_H
#define PRELOAD_TORCH_LOADER_H

#include "preload/process/hook.h"

/* Once, where the interpreter may be asked. */
void torch_loader_prepare(void);

/* On this thread a scope of the program's has been opened. */
void torch_loader_scope(struct thread *thread, const char *name);

/* In a forked child. */
void torch_loader_forget(void);

#endif
