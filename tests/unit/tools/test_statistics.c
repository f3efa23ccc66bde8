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
	return (struct series){values, NULL, count, 0, 0};
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
	const struct comparison found =
		statistics_compare((struct series){a, files, 8, 0, 0},
				   (struct series){b, files, 8, 0, 0}, 1);

	(void)state;
	assert_true(found.noise >= 5);
	assert_false(statistics_differ(&found, 0.05));
}

/* --- pairs of simulated runs, the same each time ------------------------- */

#define STEPS_MAX 200
#define PAIRS	  100

static uint64_t seed;

static double uniform(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (double)(seed >> 11) / (double)(UINT64_C(1) << 53);
}

static double normal(void)
{
	double sum = -6;

	for (int at = 0; at < 12; at++)
		sum += uniform();
	return sum;
}

/* Shares of the step's length.  Real runs have all of it. */
struct noise {
	double step;	/* each step its own */
	double row;	/* what goes on into the next step by nine tenths */
	double drift;	/* from the first step to the last */
	double run;	/* the same for all steps of a run */
	double outlier; /* one step in ten is longer by so much */
};

static void simulate(double *values, size_t count, const struct noise *noise)
{
	const double run = noise->run * normal();
	const double drift = noise->drift * normal();
	double row = noise->row * normal();

	for (size_t at = 0; at < count; at++) {
		row = 0.9 * row + noise->row * sqrt(1 - 0.81) * normal();
		values[at] = 1 + run + row + noise->step * normal() +
			     drift * (double)at / (double)count +
			     (uniform() < 0.1 ? noise->outlier : 0);
	}
}

static unsigned int differing(const struct noise *noise, size_t count,
			      double factor)
{
	double a[STEPS_MAX], b[STEPS_MAX];
	unsigned int found = 0;

	seed = 20261122;
	for (int pair = 0; pair < PAIRS; pair++) {
		struct comparison one;

		simulate(a, count, noise);
		simulate(b, count, noise);
		for (size_t at = 0; at < count; at++)
			b[at] *= factor;
		one = statistics_compare(series_of(a, count),
					 series_of(b, count), 1);
		found += statistics_differ(&one, 0.05);
	}
	return found;
}

static const struct noise quiet = {.step = 0.01, .run = 0.002};

/* Of a hundred at most five. */
static void equal_runs(void **state)
{
	static const struct noise kinds[] = {
		{.step = 0.01},
		{.step = 0.01, .run = 0.007},
		{.step = 0.01, .row = 0.02},
		{.step = 0.01, .drift = 0.02},
		{.step = 0.01, .outlier = 0.5},
		{.step = 0.05, .run = 0.015},
		{.step = 0.02, .row = 0.02, .run = 0.005, .outlier = 0.3},
	};

	(void)state;
	for (size_t at = 0; at < COUNT(kinds); at++) {
		const size_t counts[] = {20, 60, STEPS_MAX};

		for (size_t i = 0; i < COUNT(counts); i++) {
			const unsigned int found =
				differing(&kinds[at], counts[i], 1);

			if (found > PAIRS / 20)
				fail_msg("kind %zu, %zu steps: %u of %d", at,
					 counts[i], found, PAIRS);
		}
	}
}

static void three_percent_in_twenty_steps(void **state)
{
	(void)state;
	assert_true(differing(&quiet, 20, 1.03) > PAIRS * 9 / 10);
	assert_true(differing(&quiet, 20, 1 / 1.03) > PAIRS * 9 / 10);
}

static void halves_of_one_run(void **state)
{
	static const struct noise noise = {.step = 0.01, .drift = 0.02};
	double run[40];
	unsigned int found = 0;

	(void)state;
	seed = 1;
	for (int pair = 0; pair < PAIRS; pair++) {
		struct comparison one;

		simulate(run, 40, &noise);
		one = statistics_compare(series_of(run, 20),
					 series_of(run + 20, 20), 1);
		found += statistics_differ(&one, 0.05);
	}
	assert_true(found <= PAIRS / 20);
}

/* With enough runs, what they differ by is measured: five on each side tell a
 * change of 1 % where runs are that alike, and none where they aren't. */
static void several_runs(void **state)
{
	double a[50], b[50];
	unsigned int numbers[50];
	unsigned int found[2][2] = {{0}};

	(void)state;
	for (unsigned int at = 0; at < 50; at++)
		numbers[at] = at / 10;
	seed = 7;
	for (int pair = 0; pair < 4 * PAIRS; pair++) {
		const bool is_rough = pair % 2, is_slower = pair / 2 % 2;
		const struct noise noise = {.step = 0.005,
					    .run = is_rough ? 0.03 : 0.002};
		struct comparison one;

		for (unsigned int run = 0; run < 50; run += 10) {
			simulate(a + run, 10, &noise);
			simulate(b + run, 10, &noise);
		}
		for (unsigned int at = 0; at < 50; at++)
			b[at] *= is_slower ? 1.01 : 1;
		one = statistics_compare((struct series){a, numbers, 50, 0, 0},
					 (struct series){b, numbers, 50, 0, 0},
					 1);
		found[is_rough][is_slower] += statistics_differ(&one, 0.05);
	}
	assert_true(found[0][0] <= PAIRS / 20);
	assert_true(found[1][0] <= PAIRS / 20);
	assert_true(found[0][1] > PAIRS * 9 / 10);
	assert_true(found[1][1] < PAIRS / 4);
}

/* A run that found no processor for a tenth of its time tells no 5 %. */
static void a_run_that_was_disturbed(void **state)
{
	double a[20], b[20];
	struct series to = {b, NULL, 20, 0, 0};
	struct comparison one;

	(void)state;
	seed = 3;
	simulate(a, 20, &quiet);
	simulate(b, 20, &quiet);
	for (size_t at = 0; at < 20; at++)
		b[at] *= 1.06;
	one = statistics_compare(series_of(a, 20), to, 1);
	assert_true(statistics_differ(&one, 0.05));
	to.disturbed = 0.10;
	one = statistics_compare(series_of(a, 20), to, 1);
	assert_false(statistics_differ(&one, 0.05));
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
		cmocka_unit_test(equal_runs),
		cmocka_unit_test(three_percent_in_twenty_steps),
		cmocka_unit_test(halves_of_one_run),
		cmocka_unit_test(several_runs),
		cmocka_unit_test(a_run_that_was_disturbed),
		cmocka_unit_test(trends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
