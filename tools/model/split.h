/* SPDX-License-Identifier: MIT */
/*
 * split.h - where the time of a step went, so that the parts sum to the step.
 *
 * At each moment the GPU comes first: while a kernel runs the step is busy with
 * it; else, while only communication or a copy runs, with that; else it is what
 * the critical thread, the one that takes the steps, does then.  A run without
 * steps is one step from its first event to its last; if it trains a model,
 * from the first of the training's phases to the last.
 *
 * Steps that are much longer than the others have causes of their own: the sums
 * are those of the typical ones.
 */
#ifndef TOOLS_SPLIT_H
#define TOOLS_SPLIT_H

#include "tools/model/run_timeline.h"

enum share {
	SHARE_GPU,
	SHARE_HOST, /* its own code, launching included */
	SHARE_COPY,
	SHARE_SYNC,
	SHARE_OMP_WORK,
	SHARE_OMP_WAIT,
	SHARE_OMP_UNEVEN, /* of the waits: what even work would save */
	SHARE_ALLOC,
	SHARE_COMM,
	SHARE_DATA,
	SHARE_OFF,
	SHARE_OTHERS, /* waits, and other threads work meanwhile */
	SHARE_PYTHON, /* of the host's code, where samples tell */
	SHARE_NATIVE,
	SHARE_COUNT
};

/* Why a GPU had nothing to do. */
enum gap {
	GAP_HOST,
	GAP_LAUNCH, /* between short kernels: launching takes that long */
	GAP_SYNC,   /* the host had waited for it to run dry */
	GAP_COPY,   /* the same, in a copy that blocks */
	GAP_OMP,
	GAP_ALLOC,
	GAP_COMM,
	GAP_DATA,
	GAP_OFF,
	GAP_COUNT
};

struct split_gap {
	int64_t count, ns;
	int64_t copies_ns; /* of these, in calls that copy: SHARE_COPY, too */
	int64_t worst_ns, worst_at_ns;
	uint32_t name; /* what the host did most in it */
};

/* So many medians are no typical step any more, where there are some. */
#define SPLIT_SLOW	1.5
#define SPLIT_STEPS_MIN 5

struct split_step {
	int64_t number, start_ns, dur_ns;
	int64_t live_bytes;
	int64_t unseen_ns; /* host code in which nothing is recorded */
	bool is_slow;	   /* not in the sums */
	int64_t ns[SHARE_COUNT];
};

struct split {
	uint32_t lane; /* the critical thread's */
	bool has_steps, is_estimated;
	bool is_training; /* without steps: what trains a model */
	bool has_before;  /* others were before its first step */
	size_t left_out;  /* steps, see split_choose_side() */
	bool is_after;	  /* ... from before the others */
	/* Where the calls of Python end in the midst of the steps, and what
	 * the median is before and after; else -1. */
	int64_t sides_ns;
	double side_median_ns[2];
	struct split_step *steps; /* at least one, unless the file is empty */
	size_t count;
	size_t typical;		      /* of them */
	int64_t all_ns;		      /* of all steps */
	int64_t total_ns;	      /* of the typical ones */
	int64_t unseen_ns;	      /* of the host's code in them */
	int64_t ns[SHARE_COUNT];      /* sums to it */
	int64_t outside[SHARE_COUNT]; /* what lies in none of them */
	/* Of SHARE_OFF and SHARE_OTHERS in them: what other threads had of
	 * all processors. */
	double beside_ns;
	int64_t sampled_ns; /* of all threads, 0 none */
	int64_t alloc_ns;   /* of all threads' samples, 0 none */
	bool is_busiest;    /* the thread isn't the first one, but works most */
	double median_ns, p5_ns, p95_ns;
	bool uses_gpu;
	bool is_part;	   /* something was before the file */
	int64_t behind_ns; /* in them a GPU had what was launched before it */
	int64_t earlier_kernels, earlier_ns; /* in it, launched before it */
	struct split_gap gaps[GAP_COUNT];
};

/* Steps that end after until_ns are left out; calls of Python are recorded up
 * to python_until_ns, -1 all or none; processors: 0 not known; the main thread
 * has slept: it had no processor for most of the time, and so may have no
 * sample although they were taken; the file is a part: something was before
 * it. */
void split_make(struct split *split, struct timeline *timeline,
		int64_t until_ns, int64_t python_until_ns, int64_t processors,
		bool has_slept, bool is_part);

/* Of the waits `uneven` (0 to 1) is unevenness; OpenMP's regions that are not
 * drawn took so long. */
void split_adjust(struct split *split, double uneven, int64_t undrawn_ns);
void split_free(struct split *split);

/* What of [start_ns, end_ns) lies in typical steps. */
int64_t split_typical_ns(const struct split *split, int64_t start_ns,
			 int64_t end_ns);

const char *split_share_text(enum share share); /* "host-bound" */
const char *split_share_key(enum share share);	/* "host" */

/* split_sides.c: steps whose calls of Python are recorded take longer for that
 * alone.  Where they do, and the recording of calls ended in the midst of the
 * steps, those after that are the steps, or if they are few those before. */
void split_choose_side(struct split *split, int64_t python_until_ns);

/* The median of the steps that are recorded as this one. */
double split_median_at(const struct split *split, size_t step);

/* split_slow.c: the steps' quantiles, and which are slow. */
void split_find_slow(struct split *split);

/* How much of the time from the first step to the last one, of 1, lies in none:
 * validations. */
double split_between(const struct split *split);

/* The sums of the others. */
void split_add_up(struct split *split);

#endif
