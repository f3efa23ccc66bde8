/* SPDX-License-Identifier: MIT */
/*
 * heap_log.h - what a trace says of memory: each block that came or went, in
 * the order of time, who called, and the steps.
 *
 * A file holds its events in the order in which threads were drained, so all of
 * them are kept (56 bytes each) and sorted.
 *
 * Bytes are those that blocks hold; after heap_log_count_asked() those that
 * were asked for.
 */
#ifndef TOOLS_HEAP_LOG_H
#define TOOLS_HEAP_LOG_H

#include "tools/symbols/source_lines.h"
#include "tools/trace/trace_metadata.h"
#include "tools/trace/trace_reader.h"
#include "tools/util/key_table.h"
#include "tools/util/text_buffer.h"

#define HEAP_SPACES_MAX	 64
#define HEAP_SIZES	 48 /* powers of two */

/* A memory of its own: the host's is Device Type 0; and those that no trace has
 * a type for.  DRIVER: of a device, what an allocator there gets in pieces. */
#define HEAP_TYPE_PINNED (-1)
#define HEAP_TYPE_MAPPED (-2)
#define HEAP_TYPE_DRIVER (-3)

struct heap_space {
	int64_t type, device;
	/* Of an allocator: what it held at most, and in use of that then. */
	int64_t reserved_peak, used_then;
};

struct heap_event {
	int64_t ts_ns;
	uint64_t address;
	int64_t bytes;	/* negative: freed */
	uint32_t stack; /* a number of this log, 0 not known */
	uint32_t order; /* in the file */
	uint32_t thread;
	uint32_t space;
	int64_t blocks; /* that it stands for: more than one of a sample */
	int64_t spare;	/* of a new one: held, and not asked for */
};

/* What changed of a stack since its row before, or (without one) what there is
 * of all together: TRACEPROF_MALLOC=sites. */
struct heap_part {
	int64_t ts_ns;
	uint32_t stack, order;
	bool is_all;
	int64_t calls, bytes, frees, live, blocks, temporary, foreign;
	int64_t peak, peak_blocks, peak_number, peak_ns, strange, lost;
	/* Held and not asked for, of bytes, live and the peak's two; and of all
	 * the peak in the other of these measures. */
	int64_t spare, spare_live, spare_peak, spare_peak_blocks;
	int64_t other_number, other_ns;
	int64_t sizes[HEAP_SIZES]; /* of all */
};

struct heap_step {
	int64_t number, start_ns, end_ns;
};

/* One frame as the trace has it, and what the source says, asked for once. */
struct heap_frame {
	const char *module; /* these three lie in the log's texts */
	const char *function;
	uint64_t address;
	bool is_asked;
	bool is_last_resort; /* a library's, but nothing else is known */
	size_t count;	     /* of source frames, 0 none */
	struct source_frame *source;
};

/* Frames, innermost first: places in the log's list of them. */
struct heap_stack {
	size_t first, count;
};

struct heap_log {
	struct heap_event *events;
	size_t count, capacity;
	struct heap_part *rows; /* of the host's heap, in place of events */
	size_t row_count, row_capacity;
	uint32_t row_space;
	int64_t lost; /* blocks that no row has */
	struct heap_step *steps;
	size_t step_count, step_capacity;
	struct heap_space spaces[HEAP_SPACES_MAX];
	uint32_t space_count;
	struct key_table stacks; /* by the trace's number; struct heap_stack */
	struct key_table frames; /* by its text; struct heap_frame */
	uint32_t *frame_list;	 /* numbers of frames */
	size_t list_count, list_capacity;
	struct trace_lanes lanes;
	struct trace_metadata metadata;
	struct trace_facts facts;
	struct source_finder *finder;
	struct text_buffer module_path; /* of the entry that is read */
	struct text_buffer heap_note;	/* why the heap was not recorded */
	int64_t start_ns, end_ns;	/* of the window, or of its events */
	int64_t first_ns, last_ns;	/* of all events; 0 none */
	int64_t ended_ns;      /* some blocks are missing from then on, so none
			     is here; -1 not so */
	int64_t sample_bytes;  /* mean between samples, 0 every block */
	int64_t thinned_mask;  /* of blocks below ... */
	int64_t thinned_below; /* one in mask + 1 is there; 0 every one */
	int64_t large_bytes;   /* TRACEPROF_MALLOC_MIN */
	bool has_large_alone;  /* smaller blocks aren't there */
	bool has_spare;	       /* it is known what was asked for */
	bool is_asked;	       /* ... and that is what counts here */
	int64_t stacks_refused, stacks_untaken, stacks_shortened;
	int64_t samples_refused; /* sampled blocks that found no place */
	double left_over;	 /* of the blocks that samples stand for */
	bool has_stacks;
	bool *is_left_out; /* by stack, NULL none is: heap_log_only() */
	const char *debug_dir;
};

/* 0, or -errno with log->facts.error filled in. */
int heap_log_read(struct heap_log *log, const char *path,
		  const char *debug_dir);
void heap_log_free(struct heap_log *log);

/* From now on what was asked for counts.  False: the trace doesn't say it. */
bool heap_log_count_asked(struct heap_log *log);

const struct heap_stack *heap_log_stack(const struct heap_log *log,
					uint32_t stack);

/* Does the trace tell which blocks were freed by the thread's next call?
 * Between those that were sampled or thinned others came and went, unseen. */
static inline bool heap_log_knows_temporary(const struct heap_log *log)
{
	return !log->sample_bytes && !log->thinned_mask;
}

/* Frame `at` of a stack. */
struct heap_frame *heap_log_frame(const struct heap_log *log,
				  const struct heap_stack *stack, size_t at);

/* Asks for the frame's function, file and line. */
void heap_log_resolve(struct heap_log *log, struct heap_frame *frame);

/* Is it of an allocator, or of a library that allocates for others, which
 * nobody wants to hear of? */
bool heap_frame_is_allocator(const char *function);

/* Of an allocator alone: whatever it calls is part of it. */
bool heap_frame_allocates_alone(const char *function);

/* Of the library that comes with C++ or Rust. */
bool heap_frame_is_library(const char *function);

#endif
