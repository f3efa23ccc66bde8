/* SPDX-License-Identifier: MIT */
/* test_cost_least.c - of many batches the least of each kind counts. */
#include "tests/unit/cmocka_base.h"

#include "preload/cost_least.h"

#define KINDS  3
#define ROUNDS 4

/* Other work lengthens one batch or another, the last ones too. */
static const uint64_t took[ROUNDS][KINDS] = {
	{90, 70, 900},
	{50, 800, 40},
	{60, 75, 45},
	{700, 71, 50},
};

static uint64_t timed(void *of, int kind)
{
	size_t *calls = of;
	const size_t call = (*calls)++;

	/* One of each in turn. */
	assert_int_equal(call % KINDS, kind);
	return took[call / KINDS][kind];
}

static void test_the_least_of_each_kind(void **unused)
{
	uint64_t least[KINDS];
	size_t calls = 0;

	(void)unused;
	cost_least(least, KINDS, ROUNDS, timed, &calls);
	assert_int_equal(calls, KINDS * ROUNDS);
	assert_int_equal(least[0], 50);
	assert_int_equal(least[1], 70);
	assert_int_equal(least[2], 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_least_of_each_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
