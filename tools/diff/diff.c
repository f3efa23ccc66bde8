/* SPDX-License-Identifier: MIT */
/*
 * diff.c - reads two runs and compares steps, names and heap.
 *
 * A name differs only if its time in the steps does, at a level that is shared
 * among all names that are tried (Holm): of a thousand equal ones none is said
 * to differ, nineteen times in twenty.
 */
#include "tools/diff/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/util/memory.h"

/* Less of the time without a processor, or beside others, falls into few steps,
 * which the median leaves out. */
#define DISTURBED_MIN 0.05

/* A run's steps as numbers, in the order of time. */
struct columns {
	double *values;
	unsigned int *runs;
	double disturbed, waited;
};

static struct columns columns_new(const struct run *run)
{
	const double waited = run_disturbed(run);
	const double disturbed = fmax(waited, run_others(run));
	struct columns columns = {
		memory_zeroed(run->step_count + 1, sizeof(double)),
		memory_zeroed(run->step_count + 1, sizeof(unsigned int)), 0, 0};
	double median;

	for (size_t at = 0; at < run->step_count; at++) {
		columns.runs[at] = run->steps[at].run;
		columns.values[at] = (double)run->steps[at].dur_ns;
	}
	/* Of a step; all of it may have been in the same name. */
	median = statistics_median(columns.values, run->step_count);
	if (disturbed >= DISTURBED_MIN)
		columns.disturbed = disturbed * median;
	if (waited >= DISTURBED_MIN)
		columns.waited = waited * median;
	return columns;
}

static void columns_free(struct columns *columns)
{
	free(columns->values);
	free(columns->runs);
}

static struct series series_of(const struct columns *columns,
			       const struct run *run)
{
	return (struct series){columns->values, columns->runs, run->step_count,
			       columns->disturbed, columns->waited};
}

static void compare_steps(struct diff *diff, struct columns *columns)
{
	for (int side = 0; side < 2; side++)
		for (size_t at = 0; at < diff->run[side].step_count; at++)
			columns[side].values[at] =
				(double)diff->run[side].steps[at].dur_ns;
	diff->steps =
		statistics_compare(series_of(&columns[0], &diff->run[0]),
				   series_of(&columns[1], &diff->run[1]), 1);
	diff->steps_differ = statistics_differ(&diff->steps, DIFF_ALPHA);
}

/* File by file, since each run begins with a heap of its own; the largest. */
static double growth_of(const struct run *run, double *values)
{
	double growth = 0;

	for (size_t at = 0, end; at < run->step_count; at = end) {
		size_t count = 0;

		for (end = at; end < run->step_count &&
			       run->steps[end].file == run->steps[at].file;
		     end++)
			if (run->steps[end].live_bytes >= 0)
				values[count++] =
					(double)run->steps[end].live_bytes;
		growth = fmax(growth, statistics_trend(values, count));
	}
	return growth;
}

static void compare_name(struct diff *diff, struct diff_name *name,
			 struct columns *columns)
{
	for (int side = 0; side < 2; side++) {
		const struct run *run = &diff->run[side];
		const struct run_name *row = name->in[side];
		double sum = 0;

		for (size_t at = 0; at < run->step_count; at++) {
			columns[side].values[at] =
				row && row->step_ns ? (double)row->step_ns[at]
						    : 0;
			sum += columns[side].values[at];
		}
		if (diff->has_steps)
			name->mean_ns[side] = sum / (double)run->step_count;
		else
			name->mean_ns[side] = row ? (double)row->sum_ns : 0;
	}
	name->comparison.p = 1;
	if (diff->has_steps && name->in[0] && name->in[1] &&
	    !name->in[0]->has_no_room && !name->in[1]->has_no_room)
		name->comparison = statistics_compare(
			series_of(&columns[0], &diff->run[0]),
			series_of(&columns[1], &diff->run[1]),
			diff->steps.wider);
}

static struct diff_name *add_name(struct diff *diff, size_t number, int side)
{
	const struct run *run = &diff->run[side];
	struct diff_name *name = &diff->names[diff->name_count++];

	*name = (struct diff_name){
		.category = run_category(run, number),
		.name = run_name_text(run, number),
	};
	name->in[side] = key_table_row(&run->names, number);
	name->in[!side] = run_same_name(run, &diff->run[!side], number);
	return name;
}

static int compare_p(const void *left, const void *right)
{
	const double a = ((const struct diff_name *)left)->comparison.p;
	const double b = ((const struct diff_name *)right)->comparison.p;

	return a < b ? -1 : a > b;
}

static int compare_change(const void *left, const void *right)
{
	const struct diff_name *a = left, *b = right;
	const double by_a = fabs(a->mean_ns[1] - a->mean_ns[0]);
	const double by_b = fabs(b->mean_ns[1] - b->mean_ns[0]);

	if (by_a != by_b)
		return by_a > by_b ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* Holm: the smallest p is held against alpha / names, the next against
 * alpha / (names - 1), until one fails. */
static void judge_names(struct diff *diff)
{
	size_t tried = 0;

	qsort(diff->names, diff->name_count, sizeof(*diff->names), compare_p);
	for (size_t at = 0; at < diff->name_count; at++)
		tried += diff->names[at].comparison.p < 1;
	for (size_t at = 0; at < tried; at++) {
		struct diff_name *name = &diff->names[at];

		if (name->comparison.p >= DIFF_ALPHA / (double)(tried - at))
			break;
		name->differs =
			statistics_differ(&name->comparison, DIFF_ALPHA);
	}
	qsort(diff->names, diff->name_count, sizeof(*diff->names),
	      compare_change);
}

static void compare_names(struct diff *diff, struct columns *columns)
{
	const size_t most = diff->run[0].names.count + diff->run[1].names.count;

	diff->names = memory_zeroed(most + 1, sizeof(*diff->names));
	for (size_t at = 0; at < diff->run[0].names.count; at++)
		compare_name(diff, add_name(diff, at, 0), columns);
	for (size_t at = 0; at < diff->run[1].names.count; at++)
		if (!run_same_name(&diff->run[1], &diff->run[0], at))
			compare_name(diff, add_name(diff, at, 1), columns);
	judge_names(diff);
}

int diff_read(struct diff *diff, const char *a, const char *b)
{
	struct columns columns[2];
	int error;

	memset(diff, 0, sizeof(*diff));
	run_begin(&diff->run[0]);
	run_begin(&diff->run[1]);
	error = run_read(&diff->run[0], a);
	if (!error)
		error = run_read(&diff->run[1], b);
	if (error)
		return error;
	diff->has_steps = diff->run[0].step_count && diff->run[1].step_count;
	for (int side = 0; side < 2; side++) {
		columns[side] = columns_new(&diff->run[side]);
		diff->growth_bytes[side] =
			growth_of(&diff->run[side], columns[side].values);
	}
	compare_steps(diff, columns);
	compare_names(diff, columns);
	columns_free(&columns[0]);
	columns_free(&columns[1]);
	return 0;
}

void diff_free(struct diff *diff)
{
	run_free(&diff->run[0]);
	run_free(&diff->run[1]);
	free(diff->names);
}
