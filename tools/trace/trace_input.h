/* SPDX-License-Identifier: MIT */
/*
 * trace_input.h - the text of a trace file, gzipped or plain, in pieces.
 *
 * Which of the two is told by the first bytes, not by the name.  After the
 * first gzip member a further one is read on, and anything else is counted:
 * viewers differ in what they do there, so `traceprof check` wants to know.
 *
 * Where stderr is a terminal, a file that takes more than half a second shows
 * a bar, gone without a trace at the end.
 */
#ifndef TOOLS_TRACE_INPUT_H
#define TOOLS_TRACE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_input;
struct trace_last;

struct trace_input_facts {
	bool compressed;
	unsigned int members;	    /* gzip members begun */
	unsigned int empty_members; /* behind the first, without a text */
	uint64_t file_bytes;	    /* read so far */
	uint64_t text_bytes;	    /* handed out so far */
	uint64_t trailing_bytes;    /* after the last member, not gzip */
};

/* 0 and *opened, or -errno.  `path` must stay valid until it is closed. */
int trace_input_open(const char *path, struct trace_input **opened);

/* The head, and then the last part alone; `last` must stay, too.  Its checksum
 * isn't known. */
int trace_input_open_last(const char *path, const struct trace_last *last,
			  struct trace_input **opened);

/* Up to len bytes of text: how many, 0 at the end, or -errno; then
 * trace_input_error() says more. */
long trace_input_read(struct trace_input *input, char *text, size_t len);

const char *trace_input_error(const struct trace_input *input);
const struct trace_input_facts *
trace_input_facts(const struct trace_input *input);
void trace_input_close(struct trace_input *input);

/* The last part of the text, in which the writer's account lies; to be freed.
 * NULL where it can't be read.  Shows no bar. */
char *trace_input_tail(const char *path);

/* Is `mark` in the last part of the text, where the writer says whether the
 * file is final?  False too when it can't be read. */
bool trace_input_ends_with(const char *path, const char *mark);

#endif
