/* SPDX-License-Identifier: MIT */
/*
 * trace_sampled.h - the sites of which a file doesn't draw every call
 * (TRACEPROF_MAX_OVERHEAD): the rows of "traceprof.sampled".
 */
#ifndef TOOLS_TRACE_SAMPLED_H
#define TOOLS_TRACE_SAMPLED_H

#include "tools/trace/trace_reader.h"

struct trace_sampled_row {
	char *name;
	char *part;  /* args.omp of its slices: "parallel", "wait", "explicit",
			"create"; of the heap
			"alloc", "free" */
	char *share; /* "1/8", "none" */
	int64_t seen, drawn, thinned;
	int64_t total_ns, min_ns, max_ns; /* of all that were seen */
};

struct trace_sampled {
	struct trace_sampled_row *rows;
	size_t count, capacity;
};

/* Takes an entry of the file if it belongs to one of the rows. */
void trace_sampled_entry(struct trace_sampled *sampled,
			 const struct trace_entry *entry);

/* The row of a name; NULL: all its calls are drawn. */
const struct trace_sampled_row *
trace_sampled_find(const struct trace_sampled *sampled, const char *part,
		   const char *name);

/* All rows of a part: seen, drawn, thinned and their time. */
struct trace_sampled_row trace_sampled_sum(const struct trace_sampled *sampled,
					   const char *part);

/* By the lowest bits of this number small blocks are chosen (the file's
 * heap.thinned_mask; as in collector/session/thin.h). */
static inline uint32_t trace_sampled_block(uint64_t address)
{
	return (uint32_t)(address * UINT64_C(0x9e3779b97f4a7c15) >> 40);
}

/* As trace_metadata_scale(). */
void trace_sampled_scale(struct trace_sampled *sampled, double part);

/* A row of the heap's calls. */
bool trace_sampled_is_heap(const struct trace_sampled_row *row);

void trace_sampled_free(struct trace_sampled *sampled);

#endif
