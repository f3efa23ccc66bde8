/* SPDX-License-Identifier: MIT */
/*
 * window_file.h - the file of the window that is being written.
 *
 * One file per window: its name, head and tail, how much text it holds and
 * where TRACEPROF_MAX_MB ended its detail.  What goes wrong with a file is kept
 * in state->error and told once; the rest of the writer looks there.
 */
#ifndef WRITER_WINDOW_FILE_H
#define WRITER_WINDOW_FILE_H

#include "collector/session/session.h"
#include "writer/file/trace_file.h"

struct writer_state;

struct window_file {
	struct trace_file trace;
	bool is_open;
	uint64_t file_index; /* files begun, this one counted */
	uint64_t files_done; /* finished in this process */
	uint64_t bytes_done; /* of those */
	uint64_t start_ns;   /* of the window */
	bool detail_is_over;
	uint64_t detail_ended_ns;
	char path[SESSION_TEXT_BYTES]; /* newest file, "" none */
	/* Recovery writes here and renames to `path` at the end; "" not so. */
	char temporary[SESSION_TEXT_BYTES];
};

/* Begins the file of writer_state_window().  0 or -errno. */
int window_file_open(struct writer_state *state);

/* Recovery: goes on with the file of the session's last checkpoint, in a copy
 * beside it.  0; -EBADMSG it is not what the checkpoint says; -errno. */
int window_file_resume(struct writer_state *state,
		       const struct session_checkpoint *checkpoint);

/* Hands state->json to the file. */
int window_file_flush(struct writer_state *state);

/* The same when there is a good deal of it; to be called after each event. */
bool window_file_is_due(const struct writer_state *state);

/* Text of the file so far, what isn't flushed included. */
uint64_t window_file_text_bytes(const struct writer_state *state);

/* Puts all on disk, with the short tail of a file that goes on. */
int window_file_checkpoint(struct writer_state *state);

/* Writes the last tail and closes.  The window's end must be known. */
int window_file_finish(struct writer_state *state, bool is_last);

/* An error that ends the writing: told once, gate closed. */
void window_file_fail(struct writer_state *state, int error, const char *doing);

/* "<folder>/<host>_<pid>[_rank<r>][_flight<n>].<unix ns>.pt.trace.json[.gz]";
 * the last of them for a dump of the flight recorder, counted from 1. */
void window_file_name(struct writer_state *state, uint64_t unix_ns, char *path,
		      size_t bytes);

#endif
