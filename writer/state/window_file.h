/* SPDX-License-Identifier: MIT */
/*
 * window_file.h - the file of the window that is being written.
 *
 * What is drawn goes to state->json, and from there to this file.  Its
 * beginning and its end are window_trace.h's.  What goes wrong with a file is
 * kept in state->error and told once; the rest of the writer looks there.
 */
#ifndef WRITER_WINDOW_FILE_H
#define WRITER_WINDOW_FILE_H

#include "collector/session/session.h"
#include "writer/file/trace_file.h"

struct writer_state;

/* A part that is whole. */
struct window_part {
	uint64_t events;
	char path[SESSION_TEXT_BYTES];
};

#define WINDOW_PARTS_MAX 64u

/* Of those that are whole. */
struct window_fullest {
	enum window_worth worth;
	uint64_t steps, events;
	char path[SESSION_TEXT_BYTES]; /* "" none */
};

/* What had been counted when the file began, so that it can tell what came
 * since; not known of a file that is taken over. */
struct window_begun {
	bool is_known;
	uint64_t looked_ns; /* when it was looked, later than the window */
	uint64_t written_by_kind[EVENT_KIND_COUNT], teams, with_stack;
	uint64_t cut; /* but for what is outside of windows */
	uint64_t processors_ns, others_ns, program_ns;
};

struct window_file {
	struct trace_file trace;
	bool is_open;
	uint64_t file_index; /* files begun, this one counted */
	uint64_t gone;	     /* of those, deleted before a recovery */
	uint64_t files_done; /* finished in this process */
	uint64_t bytes_done; /* of those */
	uint64_t start_ns;   /* of the window */
	struct window_begun begun;
	uint64_t
		part_ticks; /* when it began as a further part; 0: it is none */
	int64_t steps_before; /* drawn when it began; -1 not known, */
	int64_t steps_found;  /* ... and those of a search, or that one which
				 ran at its end, since it began */
	int64_t died_in;      /* the step in which the process died, from 1 on;
				 0: in none, or it lives */
	struct window_fullest fullest;
	bool may_go_on;	   /* in a next part, when this is full */
	bool part_is_due;  /* it is */
	bool heap_is_over; /* of small blocks no more is in it */
	uint64_t heap_ended_ns;
	uint64_t heap_bytes; /* their text */
	int64_t heap_live;   /* as its reader knows it, and the most of it */
	int64_t heap_top;
	unsigned int heap_untold; /* blocks without it since */
	bool detail_is_over;
	uint64_t detail_ended_ns;
	char path[SESSION_TEXT_BYTES]; /* newest file, "" none */
	struct window_part *parts; /* by file_index, in turn; NULL none yet */
	/* Recovery writes here and renames to `path` at the end; "" not so. */
	char temporary[SESSION_TEXT_BYTES];
};

/* Hands state->json to the file. */
int window_file_flush(struct writer_state *state);

/* The same, and has it code all of that at once. */
int window_file_code(struct writer_state *state);

/* True when there is so much of it that this is worth while. */
bool window_file_is_due(const struct writer_state *state);

/* Text of the file so far, what isn't flushed included. */
uint64_t window_file_text_bytes(const struct writer_state *state);

/* An error that ends the writing: told once, gate closed. */
void window_file_fail(struct writer_state *state, int error, const char *doing);

#endif
