/* SPDX-License-Identifier: MIT */
/*
 * steps_streams.h - the marks in a trace in which `traceprof steps` looks for
 * loops: each thread's regions, its ranges, and its calls that put work on a
 * GPU.
 *
 * A mark's site is its name as the trace has it; a launch is called after its
 * kernel.
 */
#ifndef TOOLS_STEPS_STREAMS_H
#define TOOLS_STEPS_STREAMS_H

#include <stdbool.h>

#include "tools/trace/trace_reader.h"
#include "tools/trace/trace_sampled.h"
#include "tools/util/key_table.h"
#include "tools/util/text_buffer.h"
#include "writer/loops/loop_nest.h"

/* One thread's marks of one family.  A call's note is the row of its
 * correlation in `work`, plus 1. */
struct stream {
	struct loop_mark *marks;
	size_t count;
	size_t capacity;
	uint32_t family;
	uint32_t lane;
	bool is_main;
	size_t outer; /* regions that lie in no team's */
	bool is_looked_at;
	struct loop_nest nest;
	bool has_step;
	bool is_called_so; /* by its ranges' names */
};

struct steps_reader {
	struct trace_lanes lanes;
	struct stream *streams;
	size_t count;
	size_t capacity;
	struct key_table names;
	struct key_table work; /* struct work by correlation */
	uint64_t first, last;  /* from the first mark to the end of the last */
	struct text_buffer told; /* what the run said of its step */
	struct trace_sampled sampled;
	bool is_cut;	   /* TRACEPROF_MAX_MB ended the file's detail */
	bool leaves_teams; /* as step_finder.c does */
};

/* What a trace's reader hands over; `arg` is the steps_reader. */
void steps_take_event(void *arg, const struct trace_event *event);
void steps_take_entry(void *arg, const struct trace_entry *entry);

/* A mark's name, once its stream is resolved. */
const char *steps_name_of(const struct steps_reader *reader,
			  const struct loop_mark *mark);

/* All of the trace was read: sites get their names, and marks their order. */
void steps_resolve(struct steps_reader *reader, struct stream *stream);

/* An empty one; and what it holds is freed. */
struct steps_reader steps_reader_new(void);
void steps_reader_free(struct steps_reader *reader);

#endif
