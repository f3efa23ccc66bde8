/* SPDX-License-Identifier: MIT */
/*
 * test_loop_midst.c - what some turns have in several places is done by them:
 * the turns are the step, however much that is, and wherever the run ends.
 */
#include "tests/unit/loop_marks.h"

static int set_up(void **state)
{
	(void)state;
	count = 0;
	return 0;
}

static void hits(uint64_t first, uint64_t last)
{
	for (uint64_t id = first; id <= last; id++)
		hit(id);
}

static void expect_steps(size_t steps)
{
	struct loop_nest nest;

	assert_int_equal(find(&nest), 0);
	assert_int_equal(nest.level[nest.step].turns, steps);
}

/* Molecules: each tenth time step sorts them, and makes a list of pairs behind
 * the forces. */
static void move(size_t step, bool has_branch)
{
	const bool is_sorting = step % 10 == 0;

	if (is_sorting)
		hits(20, 23);
	else if (has_branch)
		hit(30);
	hits(1, 6);
	if (is_sorting)
		hits(26, 28);
	hits(7, 10);
}

static void test_each_tenth_step_sorts(void **state)
{
	(void)state;
	for (size_t step = 0; step < 121; step++)
		move(step, false);
	expect_steps(121);
}

/* The others only move what is there. */
static void test_the_others_do_something_instead(void **state)
{
	(void)state;
	for (size_t step = 0; step < 121; step++)
		move(step, true);
	expect_steps(121);
}

/* Layers: what comes between them comes in one place. */
static void test_what_is_around_a_loop(void **state)
{
	(void)state;
	for (size_t batch = 0; batch < 40; batch++) {
		hits(20, 25);
		for (size_t layer = 0; layer < 10; layer++)
			hits(1, 10);
		hits(26, 29);
	}
	expect_steps(40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_each_tenth_step_sorts, set_up),
		cmocka_unit_test_setup(test_the_others_do_something_instead,
				       set_up),
		cmocka_unit_test_setup(test_what_is_around_a_loop, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
