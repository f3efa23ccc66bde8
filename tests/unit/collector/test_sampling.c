/* SPDX-License-Identifier: MIT */
/*
 * test_sampling.c - distances are exponential, and what a sample stands for is
 * what libm says.
 */
#include "collector/system/sampling.h"
#include "tests/unit/cmocka_base.h"

#include <math.h>

#define DRAWS 400000
#define MEAN  65536

static void test_distances_are_exponential(void **state)
{
	static const double parts[] = {0.01, 0.1, 0.5, 1, 2, 5};
	uint64_t beyond[6] = {0};
	uint64_t seed = 1;
	double sum = 0;

	(void)state;
	for (int i = 0; i < DRAWS; i++) {
		const int64_t distance = sampling_distance(&seed, MEAN);

		assert_true(distance >= 1);
		sum += (double)distance;
		for (int p = 0; p < 6; p++)
			beyond[p] += (double)distance > parts[p] * MEAN;
	}
	/* Five standard deviations. */
	assert_true(fabs(sum / DRAWS / MEAN - 1) < 5 / sqrt(DRAWS));
	for (int p = 0; p < 6; p++) {
		const double wanted = exp(-parts[p]);

		assert_true(fabs((double)beyond[p] / DRAWS - wanted) <
			    5 * sqrt(wanted * (1 - wanted) / DRAWS));
	}
}

static void test_a_sample_stands_for_its_bytes_by_their_chance(void **state)
{
	static const uint64_t sizes[] = {1,	 24,	  1000,	   65536,
					 524288, 1000000, 5000000, 100000000};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const double size = (double)sizes[i];
		const double wanted = size / -expm1(-size / 524288);

		assert_true(fabs((double)sampling_weigh(sizes[i], 524288) -
				 wanted) <= 0.5 + wanted * 1e-12);
	}
	assert_int_equal(sampling_weigh(0, 100), 0);
	assert_int_equal(sampling_weigh(100, 0), 100);
}

static void test_samples_of_a_row_of_blocks_add_up(void **state)
{
	const uint64_t sizes[] = {24, 4096, 100, 300000, 50};
	uint64_t seed = 99, sum = 0, estimate = 0;
	int64_t left = sampling_distance(&seed, MEAN);

	(void)state;
	for (int i = 0; i < 2000000; i++) {
		const uint64_t size = sizes[i % 5];

		sum += size;
		left -= (int64_t)size;
		if (left > 0)
			continue;
		left = sampling_distance(&seed, MEAN);
		estimate += sampling_weigh(size, MEAN);
	}
	assert_true(fabs((double)estimate / (double)sum - 1) < 0.002);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_distances_are_exponential),
		cmocka_unit_test(
			test_a_sample_stands_for_its_bytes_by_their_chance),
		cmocka_unit_test(test_samples_of_a_row_of_blocks_add_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
