/* SPDX-License-Identifier: MIT */
/*
 * verdict.h - why the step takes as long as it does, and what to change.
 *
 * Every rule looks for one cause.  Where it finds it, it says how much time
 * would be saved at most if it were gone, where it is worst, and what to do
 * next; in doubt it is silent.  docs/verdict.md lists the rules.
 */
#ifndef TOOLS_VERDICT_H
#define TOOLS_VERDICT_H

#include <stdio.h>

#include "tools/model/region_totals.h"
#include "tools/model/split.h"
#include "tools/trace/trace_metadata.h"
#include "tools/trace/trace_sampled.h"

/* Lines at the end of a run, and where somebody asks for all. */
#define VERDICT_LINES_MAX 15u
#define VERDICT_LINES_ALL 1000u

/* All that rules look at.  The regions are those of the whole file. */
struct verdict_facts {
	struct timeline *timeline;
	const struct trace_metadata *metadata;
	const struct trace_sampled *sampled;
	const struct region_total *regions;
	size_t region_count;
	int64_t wall_ns; /* of the recording */
	struct split split;
	double regions_in_steps; /* of OpenMP's time, from 0 to 1 */
	bool are_waits_named;	 /* of teams, by a rule before */
	bool is_oversubscribed;	 /* a team is, by a rule before */
	bool is_lossy;		 /* events are missing that figures need */
};

struct finding {
	const struct rule *rule;
	double saved_ns; /* in all typical steps, at most; 0: no time */
	double share;	 /* of their time; of rules that are about other steps,
			    of all steps' */
	int64_t at_ns;	 /* where it is worst; INT64_MIN nowhere */
	int64_t step;	 /* its number there, -1 none */
	char *figure, *threshold, *place, *next;
	bool spoils; /* the rest is of no use beside it */
};

struct rule {
	const char *name;
	bool (*judge)(const struct verdict_facts *facts,
		      struct finding *finding);
	bool stands_losses; /* true where events are missing, too */
	bool is_of_all;	    /* about steps that aren't typical */
};

struct verdict {
	struct verdict_facts facts;
	struct finding *findings; /* by what they would save */
	size_t count;
};

/* timeline: finished.  The others: where they are NULL or 0, nothing is known.
 * All of them must stay as long as the verdict. */
void verdict_make(struct verdict *verdict, struct timeline *timeline,
		  const struct trace_metadata *metadata,
		  const struct trace_sampled *sampled,
		  const struct region_total *regions, size_t region_count);
void verdict_free(struct verdict *verdict);

/* Reads a file and prints its verdict in so many columns; of a larger one the
 * last `most` bytes alone, 0: it is read whole.  0; -ENODATA: too few whole
 * steps lie in them; other -errno when it can't be read. */
int verdict_file(const char *path, uint64_t most, unsigned int columns,
		 FILE *out);

/* How much of the judged time lies outside of all that is recorded, where
 * that is most of it and samples would tell what it is; else 0. */
double verdict_unseen(const struct verdict *verdict);

/* How much of the recording its typical steps are, which all is about, where
 * that is less than half; else 0. */
double verdict_covered(const struct verdict *verdict);

/* Its first finding, that no processor was free, is no cause beside others but
 * a word on all figures: it stands before them, without a number. */
bool verdict_is_spoilt(const struct verdict *verdict);

/* At most so many lines, each of at most `columns` columns. */
void verdict_print(const struct verdict *verdict, unsigned int lines,
		   unsigned int columns, FILE *out);

#endif
