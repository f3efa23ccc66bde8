/* SPDX-License-Identifier: MIT */
/*
 * torch_observer.h - operators where PyTorch's records lie in a way that is
 * unknown here: its own observer tells of them, by ITT.
 *
 * torch.autograd.profiler.emit_itt is entered when a window opens and left when
 * it closes, by calls that the main thread makes between two instructions of
 * Python.  So operators of the main thread come, and those that run backward of
 * them; without shapes, sequence numbers and arrows.
 *
 * PyTorch has one observer at a time.  A profiler of the program's own finds
 * ours gone; it comes back after it.
 */
#ifndef PRELOAD_TORCH_OBSERVER_H
#define PRELOAD_TORCH_OBSERVER_H

#include "collector/system/base.h"

/* Where the interpreter may be asked: it is used from now on. */
void torch_observer_start(void);

/* A window opens or closes. */
void torch_observer_follow(bool open);

/* Writer, each pass. */
void torch_observer_poll(void);

/* In a forked child. */
void torch_observer_forget(void);

#endif
