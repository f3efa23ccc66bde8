/* SPDX-License-Identifier: MIT */
/*
 * window_trace.h - begins, goes on with and finishes the trace of one window.
 *
 * One file per window: its name, head and tail.  What lies between them goes
 * through window_file.h, which says too where errors are kept.
 */
#ifndef WRITER_WINDOW_TRACE_H
#define WRITER_WINDOW_TRACE_H

#include "writer/state/writer_state.h"

/* Begins the file of writer_state_window().  0 or -errno. */
int window_trace_open(struct writer_state *state);

/* Recovery: goes on with the file of the session's last checkpoint, in a copy
 * beside it.  0; -EBADMSG it is not what the checkpoint says; -errno. */
int window_trace_resume(struct writer_state *state,
			const struct session_checkpoint *checkpoint);

/* Puts all on disk, with the short tail of a file that goes on. */
int window_trace_checkpoint(struct writer_state *state);

/* The file is full: finishes it and begins the next part of its window.  A
 * checkpoint must follow.  0 or -errno. */
int window_trace_next(struct writer_state *state);

/* Which part of a recording of several files is written: 2 for the second one,
 * 0 for the first, and for a schedule's windows. */
uint64_t window_trace_part(const struct writer_state *state);

/* Writes the last tail and closes.  The window's end must be known. */
int window_trace_finish(struct writer_state *state, bool is_last);

#endif
