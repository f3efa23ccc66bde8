/* SPDX-License-Identifier: MIT */
/*
 * hot.h - where threads spent their processor time, from the samples of traces.
 *
 * hot.c makes one tree of calls from the slices on the lanes of samples; the
 * views print it.  Times are processor time, of all threads together.
 */
#ifndef TOOLS_HOT_H
#define TOOLS_HOT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "tools/host/hot_phases.h"
#include "tools/host/hot_tasks.h"
#include "tools/util/key_table.h"

#define HOT_NONE UINT32_MAX

/* A call path: node 0 is all there is. */
struct hot_node {
	uint32_t name; /* in hot->names */
	uint32_t parent, child, sibling;
	int64_t self_ns, total_ns;
	int64_t idle_ns;   /* of self_ns, while the GPU was idle */
	int64_t samples;   /* of its own */
	int64_t before_ns; /* total in the run that is compared with */
	bool is_below_runtime, is_in_region; /* of OpenMP */
};

struct hot {
	struct hot_node *nodes;
	size_t count, capacity;
	struct key_table names; /* struct hot_function */
	struct hot_tasks tasks;
	int64_t asked_hz, kernel_hz; /* of the last file; 0 not known */
	double squares;		     /* of what samples stand for, in ns */
	bool by_line;		     /* functions apart by line */
	bool is_part;		     /* of one phase */
	bool has_regions, has_gpu;
	char error[512];
};

/* A function in whatever call path; a recursive one counts once. */
struct hot_function {
	int64_t self_ns, total_ns;
	int64_t region_ns, idle_ns; /* of self_ns */
	int64_t samples;
	int64_t before_self_ns, before_total_ns;
};

/* What had the processor in that phase.  0; -errno with hot->error: -ENODATA
 * where no file has samples. */
int hot_read(struct hot *hot, char *const *files, int count, bool by_line,
	     enum hot_phase phase);
void hot_free(struct hot *hot);

/* Sets what each path and function had before.  `before` grows by paths that it
 * lacks. */
void hot_compare(struct hot *hot, struct hot *before);

void hot_print(const struct hot *hot, size_t top, bool is_compared, FILE *out);
void hot_print_json(const struct hot *hot, FILE *out);
void hot_print_folded(const struct hot *hot, FILE *out);
void hot_print_speedscope(const struct hot *hot, const char *title, FILE *out);

/* Gzipped.  0 or -errno. */
int hot_print_pprof(const struct hot *hot, FILE *out);

/* One file that zooms and searches by itself; colours say what grew where it is
 * compared. */
void flame_svg(const struct hot *hot, const char *title, bool is_compared,
	       FILE *out);

static inline const char *hot_name(const struct hot *hot, uint32_t node)
{
	return key_table_key(&hot->names, hot->nodes[node].name, NULL);
}

#endif
