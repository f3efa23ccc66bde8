/* SPDX-License-Identifier: MIT */
/*
 * test_statistics.c - the figures of other programs, and what is noise.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "tools/model/statistics.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct series series_of(const double *values, size_t count)
{
	return (struct series){values, NULL, count};
}

static void near(double value, double wanted, double by)
{
	if (fabs(value - wanted) > by)
		fail_msg("%g, not %g", value, wanted);
}

static void medians(void **state)
{
	const double odd[] = {3, 1, 2}, even[] = {4, 1, 3, 2};

	(void)state;
	near(statistics_median(odd, 3), 2, 0);
	near(statistics_median(even, 4), 2.5, 0);
	near(statistics_median(odd, 0), 0, 0);
}

/* As R's wilcox.test(exact = FALSE, conf.int = TRUE) has it: p 0.03038 for four
 * against four that don't overlap, shift 10. */
static void without_overlap(void **state)
{
	const double a[] = {2, 1, 4, 3}, b[] = {12, 11, 14, 13};
	const struct comparison found = statistics_compare(
		series_of(a, COUNT(a)), series_of(b, COUNT(b)), 1);

	(void)state;
	near(found.p, 0.03038, 0.0001);
	near(found.shift, 10, 0.001);
	near(found.wider, 1, 0);
	assert_true(statistics_differ(&found, 0.05));
}

static void equal_values_and_none(void **state)
{
	const double a[] = {5, 5, 5, 5, 5, 5};
	struct comparison found = statistics_compare(series_of(a, COUNT(a)),
						     series_of(a, COUNT(a)), 1);

	(void)state;
	near(found.p, 1, 0);
	near(found.shift, 0, 0);
	assert_false(statistics_differ(&found, 0.05));
	found = statistics_compare(series_of(a, 0), series_of(a, 3), 1);
	near(found.p, 1, 0);
}

/* Three against three can't be told from chance. */
static void too_few(void **state)
{
	const double a[] = {1, 2, 3}, b[] = {101, 102, 103};
	const struct comparison found =
		statistics_compare(series_of(a, 3), series_of(b, 3), 1);

	(void)state;
	assert_true(found.p > 0.05);
}

/* A run that drifts by more than the two differ by. */
static void drift_is_noise(void **state)
{
	double a[40], b[40];
	struct comparison found;

	(void)state;
	for (int at = 0; at < 40; at++) {
		a[at] = 100 + 0.5 * at + (at * 7 % 5);
		b[at] = a[at] + 4;
	}
	found = statistics_compare(series_of(a, 40), series_of(b, 40), 1);
	assert_true(found.noise > 9);
	assert_false(statistics_differ(&found, 0.05));
}

/* Slow steps that come in rows: ten of them count as few. */
static void rows_count_as_few(void **state)
{
	double a[40], b[40];
	struct comparison mixed, rows;

	(void)state;
	for (int at = 0; at < 40; at++) {
		a[at] = at % 2 ? 100 : 104;
		b[at] = at % 4 ? 104 : 100;
	}
	mixed = statistics_compare(series_of(a, 40), series_of(b, 40), 1);
	for (int at = 0; at < 40; at++) {
		a[at] = at / 5 % 2 ? 100 : 104;
		b[at] = at / 5 % 4 ? 104 : 100;
	}
	rows = statistics_compare(series_of(a, 40), series_of(b, 40), 1);
	assert_true(rows.wider > 2 * mixed.wider);
	assert_true(rows.p > mixed.p);
}

/* What the files of one side differ by is noise for all. */
static void files_that_differ(void **state)
{
	const unsigned int files[] = {0, 0, 0, 0, 1, 1, 1, 1};
	const double a[] = {10, 11, 10, 11, 20, 21, 20, 21};
	const double b[] = {13, 14, 13, 14, 23, 24, 23, 24};
	const struct comparison found = statistics_compare(
		(struct series){a, files, 8}, (struct series){b, files, 8}, 1);

	(void)state;
	assert_true(found.noise >= 5);
	assert_false(statistics_differ(&found, 0.05));
}

static void trends(void **state)
{
	double values[50];

	(void)state;
	for (int at = 0; at < 50; at++)
		values[at] = 1000 + 10 * at + (at * 7 % 5);
	near(statistics_trend(values, 50), 10, 0.1);
	for (int at = 0; at < 50; at++)
		values[at] = 1000 + (at * 7 % 5);
	near(statistics_trend(values, 50), 0, 0);
	/* A cache that fills up in the warm-up, and no further. */
	for (int at = 0; at < 50; at++)
		values[at] = at < 10 ? 100 * at : 1000 + (at * 7 % 5);
	near(statistics_trend(values, 50), 0, 0);
	near(statistics_trend(values, 5), 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(medians),
		cmocka_unit_test(without_overlap),
		cmocka_unit_test(equal_values_and_none),
		cmocka_unit_test(too_few),
		cmocka_unit_test(drift_is_noise),
		cmocka_unit_test(rows_count_as_few),
		cmocka_unit_test(files_that_differ),
		cmocka_unit_test(trends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
