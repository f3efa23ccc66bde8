/* SPDX-License-Identifier: MIT */
/*
 * torch_rank.h - which rank this process is, where the environment didn't tell.
 *
 * torch.multiprocessing.spawn() and Lightning start processes that hear their
 * number as an argument: init_process_group() is told it, long after the trace
 * began.  In those the main thread looks between two instructions of Python
 * whether the process has a group, and asks it.
 */
#ifndef PRELOAD_TORCH_RANK_H
#define PRELOAD_TORCH_RANK_H

/* Once, before torch_rank_poll(), where the interpreter may be asked. */
void torch_rank_prepare(void);

/* Writer, in each pass: asks until the rank is known; nothing where none is
 * waited for. */
void torch_rank_poll(void);

/* A collective begins, on any thread: a process that waits for its rank has a
 * group now, and may not have it for long. */
void torch_rank_heard(void);

/* In a forked child. */
void torch_rank_forget(void);

#endif
