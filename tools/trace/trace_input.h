/* SPDX-License-Identifier: MIT */
/*
 * trace_input.h - the text of a trace file, gzipped or plain, in pieces.
 *
 * Which of the two is told by the first bytes, not by the name.  Behind the
 * first gzip member a further one is read on, and anything else is counted:
 * viewers differ in what they do there, so `traceprof check` wants to know.
 *
 * On a terminal a long file shows how far it was read (progress.h).
 */
#ifndef TOOLS_TRACE_INPUT_H
#define TOOLS_TRACE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_input;

struct trace_input_facts {
	bool compressed;
	unsigned int members;	 /* gzip members begun */
	uint64_t file_bytes;	 /* read so far */
	uint64_t text_bytes;	 /* handed out so far */
	uint64_t trailing_bytes; /* behind the last member, not gzip */
};

/* 0 and *opened, or -errno.  `path` must stay valid until it is closed. */
int trace_input_open(const char *path, struct trace_input **opened);

/* Up to len bytes of text: how many, 0 at the end, or -errno; then
 * trace_input_error() says more. */
long trace_input_read(struct trace_input *input, char *text, size_t len);

const char *trace_input_error(const struct trace_input *input);
const struct trace_input_facts *
trace_input_facts(const struct trace_input *input);
void trace_input_close(struct trace_input *input);

#endif
