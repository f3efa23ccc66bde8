/* SPDX-License-Identifier: MIT */
/*
 * page.h - a trace as one page of HTML, whatever its size.
 *
 * The report gives tables and sentences.  What goes over time is looked at
 * PAGE_SAMPLES times, evenly spaced: at each moment the innermost slice of each
 * lane counts.  So nesting needs no second look, memory and page follow the
 * number of lanes and not the file's length, and a share is right to within a
 * few tenths of a percent.
 */
#ifndef TOOLS_PAGE_H
#define TOOLS_PAGE_H

#include <stdio.h>

#include "tools/report/report.h"
#include "tools/trace/heap_total.h"

#define PAGE_SAMPLES	32768u
#define PAGE_BINS	256u /* of a chart; each holds 128 samples */
#define PAGE_LANES	256u /* more than these are counted only */
#define PAGE_SERIES	64u  /* twice as many with those of memory */
/* Lanes beside those of threads (docs/trace-format.md). */
#define PAGE_SIDE_LANES INT64_C(10000000)
#define PAGE_BYTES_MAX	(1900u << 10)

/* clang-format off */
#define PAGE_CLASSES(X)					\
	X(NOTHING, "nothing recorded")			\
	X(MARKED,  "inside a range, nothing else")	\
	X(RUNNING, "on a core, nothing else known")	\
	X(READY,   "no core free")			\
	X(SAMPLED, "running, by samples")		\
	X(WORK,    "work")				\
	X(WAIT,    "waiting")				\
	X(CALL,    "CUDA calls")			\
	X(COPY,    "copies")				\
	X(KERNEL,  "kernels")				\
	X(COMM,    "communication")			\
	X(OURS,    "traceprof itself")
/* clang-format on */

enum page_class {
#define X(name, text) CLASS_##name,
	PAGE_CLASSES(X)
#undef X
		CLASS_COUNT
};

/* A thread, a stream, or all streams of a GPU. */
struct page_lane {
	char *label;
	int64_t pid, tid;
	bool is_gpu, is_device;
	size_t used;	 /* moments with something in them */
	float *shortest; /* by moment: the innermost slice's length; 0 none */
	unsigned char *classes;
	struct page_counts *counts; /* while the file is read */
};

/* What goes up and down: live bytes, a counter. */
struct page_series {
	bool is_bytes;
	int64_t peak, peak_ns;
	double high[PAGE_BINS]; /* the largest in it */
	double last[PAGE_BINS]; /* NAN: none came in it */
	int64_t last_ns[PAGE_BINS];
};

struct page_step {
	int64_t number, start_ns, dur_ns;
};

struct page {
	struct report report;
	int64_t start_ns, wall_ns;
	struct key_table lanes;	 /* struct page_lane, by "pid tid" */
	struct key_table series; /* struct page_series, by name */
	struct heap_total heap;
	struct page_step *steps; /* by start, after page_read() */
	size_t step_count, step_capacity;
	int64_t step_tid;	  /* whose steps they are */
	struct text_buffer facts; /* path, NUL, value, NUL, ... */
	size_t fact_count;
	uint64_t lanes_left_out, series_left_out; /* more than none */
	char *holders;				  /* JSON of page_holders() */
};

/* 0; -errno with page->report.facts.error. */
int page_read(struct page *page, const char *file);
void page_free(struct page *page);

/* Who it is of; false: the event doesn't say. */
bool page_identify(const struct trace_event *event, int64_t *pid, int64_t *tid);

/* A lane, made if there is room; NULL: there is none. */
struct page_lane *page_lane_at(struct page *page, int64_t pid, int64_t tid,
			       bool is_device);

/* Any counter, by time, and what becomes of them behind the last event: how
 * long threads were on a core (docs/trace-format.md). */
void page_tasks_event(struct page *page, const struct trace_event *event);
void page_tasks_end(struct page *page);

/* As JSON; at most so many rows of each list. */
void page_print_json(const struct page *page, size_t rows, FILE *out);

/* Who held each memory at its peak, in JSON; NULL not known.  free() it. */
char *page_holders(const char *file);

/* In the order in which lanes are drawn; free() it. */
const struct page_lane **page_lanes(const struct page *page, size_t *count);

/* charts.js, page.js and page.css, as they lie in the tree. */
extern const char page_charts[], page_script[], page_style[];

#endif
