/* SPDX-License-Identifier: MIT */
/*
 * run.h - one run of a program, from all files that it left: its steps, and
 * what each name took in each step.
 *
 * Two passes over each file: steps first, since a step's slice may come after
 * what lies in it.  An event belongs to the step in which it began, on whatever
 * thread; what began in none counts for the run alone.  Memory follows names
 * times steps, RUN_CELLS_MAX at most; names that come later have sums alone.
 */
#ifndef TOOLS_RUN_H
#define TOOLS_RUN_H

#include <stdbool.h>

#include "tools/trace/trace_reader.h"
#include "tools/util/key_table.h"

#define RUN_CELLS_MAX (64u << 20)

/* Slices of team members and waits of OpenMP have categories of their own. */
#define RUN_MEMBERS   "openmp members"
#define RUN_WAITS     "openmp waits"

struct run_step {
	uint32_t file, run;
	int64_t number; /* of ProfilerStep#N */
	int64_t start_ns, dur_ns;
	int64_t live_bytes; /* of the heap at its end; -1 not known */
	bool is_cut;	    /* by the end of the recording */
};

/* A name's row; its key is category, NUL, name. */
struct run_name {
	int64_t calls, sum_ns;
	float *step_ns; /* by step; NULL: none, or no room */
	double open_ns; /* to be added: short calls are less than a float's
			   last place in a long step */
	long open_step;
	bool has_no_room;
};

/* Ranks and windows are files of one run.  Files of one process, by their names
 * up to the first point, are windows; the next process of a rank is the next
 * run. */
struct run_file {
	int64_t rank; /* -1 none */
	uint32_t run;
	char process[256];
};

struct run {
	struct run_step *steps; /* file by file, by start */
	size_t step_count, step_capacity;
	struct key_table names; /* struct run_name */
	size_t cells;
	uint32_t files;
	struct run_file *sources; /* those that were read */
	size_t source_count, source_capacity;
	uint32_t runs;
	int64_t ran_ns, unscheduled_ns;	  /* of the files' first threads */
	int64_t processors_ns, others_ns; /* of the machine; what others had */
	int64_t peak_bytes; /* largest of the files; -1 not known */
	int64_t lost;	    /* events that were dropped */
	char error[256];
};

/* Adds a file, or all traces of a folder.  0; -errno with run->error filled in.
 * A folder without traces is -ENOENT. */
int run_read(struct run *run, const char *path);

/* For an empty one. */
void run_begin(struct run *run);
void run_free(struct run *run);

/* For how much of its time it found no processor free. */
double run_disturbed(const struct run *run);

/* How much of the machine's processors other programs had. */
double run_others(const struct run *run);

/* Of a row of names. */
const char *run_category(const struct run *run, size_t number);
const char *run_name_text(const struct run *run, size_t number);

/* The same name in another run; NULL: it has none. */
const struct run_name *run_same_name(const struct run *run,
				     const struct run *other, size_t number);

#endif
