/* SPDX-License-Identifier: MIT */
/*
 * diff.h - two runs side by side, and rules that a build fails by.
 */
#ifndef TOOLS_DIFF_H
#define TOOLS_DIFF_H

#include <stdio.h>

#include "tools/model/run.h"
#include "tools/model/statistics.h"

/* A difference counts when chance would make one in twenty. */
#define DIFF_ALPHA 0.05

/* A name, with what it took in a step on average. */
struct diff_name {
	const char *category, *name;
	const struct run_name *in[2]; /* NULL: not in that run */
	double mean_ns[2];	      /* a step's, or the run's without steps */
	struct comparison comparison; /* of its time in each step */
	bool differs;
};

struct diff {
	struct run run[2];
	bool has_steps; /* both have */
	struct comparison steps;
	bool steps_differ;
	double growth_bytes[2];	 /* of the heap, a step */
	struct diff_name *names; /* largest change first */
	size_t name_count;
};

/* Reads both; 0, or -errno with the run's error filled in. */
int diff_read(struct diff *diff, const char *a, const char *b);
void diff_free(struct diff *diff);

/* "step>3%", "name:gemm*>5%", "peak>10MB", "growth>0". */
enum diff_subject { DIFF_STEP, DIFF_NAME, DIFF_PEAK, DIFF_GROWTH };

struct diff_rule {
	const char *text;
	enum diff_subject subject;
	char glob[128]; /* of DIFF_NAME */
	double limit;	/* percent, ns or bytes */
	bool is_percent;
};

/* 0, or -EINVAL with one line in why. */
int diff_rule_parse(struct diff_rule *rule, const char *text, char *why,
		    size_t why_bytes);

enum diff_outcome { DIFF_HELD, DIFF_BROKEN, DIFF_UNKNOWN };

/* Says a line for each breach, or why a rule can't be judged. */
enum diff_outcome diff_rule_judge(const struct diff_rule *rule,
				  const struct diff *diff, FILE *out);

void diff_print_text(const struct diff *diff, const char *const *titles,
		     size_t top, FILE *out);
void diff_print_json(const struct diff *diff, const char *const *titles,
		     FILE *out);

#endif
