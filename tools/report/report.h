/* SPDX-License-Identifier: MIT */
/*
 * report.h - all that `traceprof report` knows of one file.
 *
 * report.c gathers it in one pass, report_remarks.c says what no table does,
 * report_text.c and report_json.c print it.
 */
#ifndef TOOLS_REPORT_H
#define TOOLS_REPORT_H

#include <stdio.h>

#include "tools/report/busy_time.h"
#include "tools/model/region_totals.h"
#include "tools/host/hot_tasks.h"
#include "tools/report/report_blas.h"
#include "tools/report/report_breaks.h"
#include "tools/report/report_buckets.h"
#include "tools/report/scope_tree.h"
#include "tools/report/tally.h"
#include "tools/trace/trace_metadata.h"
#include "tools/trace/trace_sampled.h"
#include "tools/verdict/verdict.h"

#define REPORT_DEVICES_MAX 16u
#define REPORT_NOTES_MAX   33u
#define REPORT_LINES_MAX   4u
/* More streams than any program uses; what comes for others is left out. */
#define REPORT_STREAMS_MAX 1024u

/* Members' slices and waits of OpenMP regions get categories of their own, so
 * that a region is not counted once for each thread. */
#define REPORT_MEMBERS	   "openmp members"
#define REPORT_WAITS	   "openmp waits"

/* And two of report->side, whose names say more. */
#define REPORT_FAILED	   "failed calls"
#define REPORT_PEERS	   "copies between GPUs"

/* What a row of a table stands for. */
enum report_by {
	BY_NAME, /* a table for each category */
	BY_CATEGORY,
	BY_STEP,
	BY_THREAD,
	BY_STREAM,
	BY_DEVICE,
	BY_SHAPE,
	BY_SITE,
	BY_COUNT
};

struct report_choice {
	enum tally_order order;
	enum report_by by;
	size_t top; /* names in a table, 0 all */
	bool json, csv, tree, wide;
	bool whole;		       /* names, however long */
	bool is_one_of_many;	       /* files: each begins with its name */
	const char *filter, *category; /* patterns of glob(7), NULL all */
	bool has_steps, has_times;
	int64_t first_step, last_step;
	int64_t from_ns, to_ns; /* after the start */
	unsigned int columns;	/* of the terminal, 0 none */
};

struct report_steps {
	int64_t count;
	int64_t total_ns, min_ns, max_ns; /* of whole ones, if there are any */
	int64_t slowest;		  /* its number */
	int64_t cut; /* by the recording's end; in the count */
};

/* From [memory] events: of the heap, or of one GPU. */
struct report_memory {
	int64_t allocs, frees;
	int64_t alloc_bytes, free_bytes;
	int64_t peak_bytes;	/* largest Total Allocated seen */
	int64_t reserved_bytes; /* largest Total Reserved */
};

enum report_work { WORK_KERNEL, WORK_COPY, WORK_FILL, WORK_COUNT };

/* What a GPU did, or one stream of it. */
struct report_device {
	int64_t device, stream;
	int64_t calls[WORK_COUNT], sum_ns[WORK_COUNT];
	int64_t bytes; /* copied and filled */
	struct busy_time busy;
	struct report_memory memory; /* of a whole GPU */
	int64_t throttled_ns;
	char throttling[80]; /* why, the last time */
};

/* Of managed memory. */
struct report_managed {
	int64_t gpu_faults, host_faults;
	int64_t to_gpu_bytes, to_host_bytes;
};

/* A thread, by "pid tid". */
struct report_lane {
	struct lane_spans spans; /* for the tree; first, as it wants */
	struct lane_spans own;	 /* of rows that are no names */
	char *label;		 /* its name, NULL none */
};

struct report {
	const char *file;
	struct report_choice choice;
	int64_t after_ns, before_ns; /* of these times alone */
	struct timeline ahead;	     /* steps, where they are asked for */
	int64_t whole_ns;	     /* of the recording, 0 not known */
	struct trace_facts facts;
	struct trace_metadata metadata;
	struct trace_metadata judged_by; /* the same, as the part of the run has
					    it that is looked at */
	int64_t start_ns, end_ns; /* of all slices but the writer's own; start >
				     end: none */
	int64_t span_start_ns, span_end_ns; /* of the recording; both 0 where
					       the file doesn't say */
	struct tally tally;
	struct tally side; /* failed calls, copies between GPUs */
	struct report_managed managed;
	struct tally exact; /* the writer's own sums, from the metadata */
	struct exact_row {
		char *name, *category;
		struct total sums;
	} row;			      /* of exact, while it is being read */
	struct trace_sampled sampled; /* sites not drawn call by call */
	struct region_totals regions;
	struct region_total *region_list; /* after report_read() */
	size_t region_count;
	struct timeline timeline;
	struct verdict judged; /* after report_read() */
	struct report_steps steps;
	struct report_blas blas;
	struct report_breaks breaks;
	struct hot_tasks tasks; /* of threads; with samples --hot has them */
	struct report_buckets buckets;
	struct report_memory heap_events;
	struct report_memory pinned; /* host memory, for GPUs */
	struct report_device devices[REPORT_DEVICES_MAX];
	struct key_table streams;   /* struct report_device */
	struct key_table sites;	    /* by a stack's number: its first frame */
	struct key_table functions; /* char *: all of a region's name, by it */
	struct trace_lanes lanes;   /* their rows: struct report_lane */
	struct scope_tree tree;
	char *notes[REPORT_NOTES_MAX];
	size_t note_count;
	char *warning; /* what is to be read first, NULL nothing */
	char *remarks[REPORT_LINES_MAX];
	size_t remark_count;
};

/* Reads the file.  0; -errno with report->facts.error. */
int report_read(struct report *report, const char *file,
		const struct report_choice *choice);
void report_free(struct report *report);

/* A slice, for what lies beside the tables of its category; and sentences of
 * that. */
void report_side_slice(struct report *report, const struct trace_event *event,
		       uint32_t lane);
char *report_side_failures(const struct report *report);

/* report_window.c: reads ahead for the times that are asked for.  0; -errno. */
int report_window(struct report *report);

/* How much of the recording these times are; 1 all of it. */
double report_part(const struct report *report);
bool report_is_inside(const struct report *report,
		      const struct trace_event *event);

/* report_group.c: a stack is said in full by the first event that has it;
 * remembers its innermost frame. */
void report_note_site(struct report *report, const struct trace_event *event);
void report_free_sites(struct report *report);

/* Adds a slice to the row that it belongs to. */
void report_group(struct report *report, const struct trace_event *event,
		  const char *category, struct tally_call call);
const char *report_by_word(enum report_by by);

bool report_is_work(const char *category);

/* report_own.c: self times and the GPU's, which are known at the end.
 * row: of the tally, TIMELINE_NONE none. */
void report_own_add(struct report *report, const struct trace_event *event,
		    const char *category, uint32_t lane, uint32_t row);
void report_own(struct report *report);

/* Of the recording where the file says it, else of what is in it. */
int64_t report_start_ns(const struct report *report);
int64_t report_wall_ns(const struct report *report);

/* All GPU activity, as a sum over streams. */
int64_t report_gpu_ns(const struct report *report);

/* Has work of the GPU been seen? */
bool report_is_used(const struct report_device *device);

/* The streams by device and number; free() them. */
const struct report_device **report_streams(const struct report *report);

/* Puts what was counted in the place of what is drawn, where not all is. */
void report_scale(struct report *report);

/* What is in the file as sums alone. */
void report_print_short(const struct report *report, FILE *out);

/* Fills in report->warning and report->remarks. */
void report_remark(struct report *report);

void report_print_text(const struct report *report, FILE *out);
/* report_losses.c */
void report_print_losses(const struct report *report, FILE *out);
/* What the calls of Python in it are of. */
void report_print_python_end(const struct report *report, FILE *out);
void report_print_json(const struct report *report, FILE *out);
void report_print_csv(const struct report *report, bool is_first, FILE *out);

/*
 * report_ranks.c: several files side by side.
 */
struct report_ranks;

struct report_ranks *report_ranks_new(void);
void report_ranks_add(struct report_ranks *ranks, const struct report *report);
void report_ranks_print(const struct report_ranks *ranks,
			const struct report_choice *choice, FILE *out);
void report_ranks_free(struct report_ranks *ranks);

#endif
