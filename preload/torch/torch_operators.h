/* SPDX-License-Identifier: MIT */
/*
 * torch_operators.h - PyTorch's operators: the third door to annotations.
 *
 * Its library tells observers of each operator that begins and ends.  We
 * become one once the library is there, and are switched off by it outside of
 * windows, so that operators cost nothing there.
 */
#ifndef PRELOAD_TORCH_OPERATORS_H
#define PRELOAD_TORCH_OPERATORS_H

#include "collector/session/thread.h"

/* Writer, each pass: has PyTorch's library been loaded? */
void torch_poll(struct session *session);

/* An operator or a scope of the program's, by PyTorch's own observer. */
void torch_told_begins(const char *name);
void torch_told_ends(void);

/* A window opens or closes. */
void torch_follow(bool open);

/* The recording ends: the phase that it is at, on this thread.  Waits for one
 * that attaches just now, half a second at most; where the writer sees the
 * library only then, the writer does. */
void torch_finish(struct thread *thread);

/* In a forked child. */
void torch_forget(void);

#endif
