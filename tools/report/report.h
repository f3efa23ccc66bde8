/* SPDX-License-Identifier: MIT */
/*
 * report.h - all that `traceprof report` knows of one file.
 *
 * report.c gathers it in one pass, report_verdict.c draws conclusions,
 * report_text.c, report_gpu.c and report_json.c print it.
 */
#ifndef TOOLS_REPORT_H
#define TOOLS_REPORT_H

#include <stdio.h>

#include "tools/report/busy_time.h"
#include "tools/check/head_check.h"
#include "tools/report/region_totals.h"
#include "tools/report/scope_tree.h"
#include "tools/report/stream_totals.h"
#include "tools/report/tally.h"
#include "tools/trace/trace_reader.h"

#define REPORT_DEVICES_MAX 16u
#define REPORT_NOTES_MAX   32u
#define REPORT_LINES_MAX   16u

/* Members' slices and waits of OpenMP regions get categories of their own, so
 * that a region is not counted once for each thread. */
#define REPORT_MEMBERS	   "openmp members"
#define REPORT_WAITS	   "openmp waits"

struct report_choice {
	enum tally_order order;
	size_t top; /* names in a table, 0 all */
	bool json, tree;
};

struct report_steps {
	uint64_t count;
	int64_t total_ns, min_ns, max_ns;
	int64_t slowest; /* its number */
};

/* From [memory] events: of the heap, or of one GPU. */
struct report_memory {
	uint64_t allocs, frees;
	int64_t alloc_bytes, free_bytes;
	int64_t peak_bytes; /* largest Total Allocated seen */
};

/* The heap's counters, from the metadata; -1 not in the file. */
struct report_heap {
	int64_t calls, frees, bytes, live_bytes, peak_bytes;
};

/* What recording cost, from the metadata; 0 not in the file. */
struct report_cost {
	int64_t hooks_ns, writer_ns;
};

struct report_device {
	bool used;
	struct busy_time busy;
	int64_t sum_ns[STREAM_WORKS];
	struct report_memory memory;
};

struct report {
	const char *file;
	struct report_choice choice;
	struct trace_facts facts;
	int64_t start_ns, end_ns; /* of all slices; start > end: none */
	struct tally tally;
	struct tally exact;	 /* the writer's own, from the metadata */
	int64_t detail_ended_ns; /* events end here, exact goes on; -1 no */
	bool is_unfinished, is_recovered;
	struct report_exact *row; /* of exact, while it is being read */
	struct region_totals regions;
	struct region_total *region_list; /* after report_end() */
	size_t region_count;
	struct report_steps steps;
	struct report_memory heap_events;
	struct report_heap heap;
	struct report_cost cost;
	struct report_device devices[REPORT_DEVICES_MAX];
	struct stream_totals streams;
	struct event_account account;
	struct scope_tree tree;
	struct name_table lanes;       /* "pid tid" */
	struct name_table lane_labels; /* the same number: what to print */
	struct text_buffer scratch;
	char *notes[REPORT_NOTES_MAX];
	size_t note_count;
	char *verdict[REPORT_LINES_MAX];
	size_t verdict_count;
};

/* Reads the file.  0; -errno with report->facts.error. */
int report_read(struct report *report, const char *file,
		const struct report_choice *choice);
void report_free(struct report *report);

int64_t report_wall_ns(const struct report *report);

/* A value of the file outside traceEvents; then what follows when all were
 * seen. */
void report_metadata(struct report *report, const struct trace_entry *entry);
void report_metadata_end(struct report *report);
void report_metadata_free(struct report *report);

/* All GPU activity, as a sum over streams. */
int64_t report_gpu_ns(const struct report *report);

/* Fills in report->verdict. */
void report_verdict(struct report *report);

void report_print_text(const struct report *report, FILE *out);
void report_print_gpus(const struct report *report, FILE *out);
void report_print_json(const struct report *report, FILE *out);

#endif
