/* SPDX-License-Identifier: MIT */
/*
 * test_loop_phase.c - two loops in turn, of which nobody knows which is the
 * step; what only prepares, validates or generates is no such loop.
 */
#include "tests/unit/loop_marks.h"

static int set_up(void **unused)
{
	(void)unused;
	count = 0;
	return 0;
}

/* So many times the sites from one to another. */
static void loop(size_t turns, uint64_t from, uint64_t to)
{
	for (size_t i = 0; i < turns; i++) {
		for (uint64_t site = from; site <= to; site++)
			hit(site);
	}
}

/* None, and both are told: so many turns, and the other loop's. */
static void expect_both(size_t turns, size_t other)
{
	struct loop_nest nest;

	assert_int_not_equal(find(&nest), 0);
	assert_int_equal(nest.level[nest.step].turns, turns);
	assert_in_range(nest.runner_up, 0, nest.count - 1);
	assert_int_equal(nest.level[nest.runner_up].turns, other);
}

/* Rounds that make a model, of many splits each. */
static void boost(size_t rounds)
{
	for (size_t i = 0; i < rounds; i++) {
		loop(30, 1, 6);
		loop(1, 7, 10);
	}
}

static void test_rounds_and_explanations(void **unused)
{
	(void)unused;
	boost(40);
	loop(30, 20, 20);
	expect_both(40, 30);
}

static void test_rounds_and_richer_explanations(void **unused)
{
	(void)unused;
	boost(40);
	loop(30, 20, 22);
	expect_both(40, 30);
}

/* The longer one comes last. */
static void test_rounds_and_much_more_scoring(void **unused)
{
	(void)unused;
	boost(20);
	loop(4000, 20, 22);
	expect_both(4000, 20);
}

static void test_two_simulations(void **unused)
{
	(void)unused;
	loop(60, 1, 4);
	loop(80, 5, 8);
	expect_both(80, 60);
}

/* A few explanations of many rounds. */
static void test_a_few_behind_many(void **unused)
{
	(void)unused;
	boost(60);
	loop(8, 20, 20);
	expect_steps(60);
}

/* Two sites for 40 parts of the data, and then a training of seven. */
static void test_what_prepares(void **unused)
{
	(void)unused;
	loop(40, 20, 21);
	loop(50, 1, 7);
	expect_steps(50);
}

/* Pictures between two, and then each of them is written. */
static void test_the_same_in_two_loops(void **unused)
{
	(void)unused;
	loop(20, 20, 20);
	loop(22, 1, 2);
	expect_both(22, 20);
	count = 0;
	loop(40, 20, 22);
	loop(41, 1, 8);
	expect_both(41, 40);
}

/* A region that fills in what the run begins with. */
static void test_one_site_that_prepares(void **unused)
{
	(void)unused;
	loop(200, 20, 20);
	loop(50, 1, 7);
	expect_steps(50);
	count = 0;
	loop(50, 20, 20);
	loop(50, 1, 7);
	expect_steps(50);
}

/* Its first sites, and a metric. */
static void test_a_training_and_its_test(void **unused)
{
	(void)unused;
	loop(100, 1, 7);
	for (int i = 0; i < 300; i++) {
		loop(1, 1, 3);
		hit(8);
	}
	expect_steps(100);
}

/* What so many networks gave moves the weights: a product as theirs, no site of
 * its own.  Or an epoch ends with a pass. */
static void evolve(size_t turns, size_t networks, uint64_t more)
{
	for (size_t i = 0; i < turns; i++) {
		loop(networks, 1, 7);
		loop(1, 1, more);
	}
}

static void test_a_little_after_so_many_turns(void **unused)
{
	(void)unused;
	evolve(45, 12, 1);
	expect_both(540, 44);
	count = 0;
	evolve(45, 50, 2);
	expect_both(2250, 44);
}

static void test_a_pass_after_so_many_turns(void **unused)
{
	(void)unused;
	evolve(45, 12, 3);
	expect_steps(540);
}

/* A transform in so many stages: the first and the last are calls of their own,
 * and two calls take turns between them. */
static void transform(unsigned int stages, unsigned int first)
{
	hit(first);
	for (unsigned int i = 2; i < stages; i++)
		hit(first + 1 + i % 2);
	if (stages > 1)
		hit(first + 3);
}

/* To and fro, of one size after another, the small ones more often: those of
 * the last sizes are a fifth of all. */
static void test_transforms_of_larger_and_larger_size(void **unused)
{
	(void)unused;
	for (unsigned int stages = 1; stages <= 9; stages++) {
		for (unsigned int i = 0; i < (stages < 5 ? 600 : 60); i++) {
			transform(stages, 1);
			transform(stages, 11);
		}
	}
	expect_none();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_rounds_and_explanations, set_up),
		cmocka_unit_test_setup(test_rounds_and_richer_explanations,
				       set_up),
		cmocka_unit_test_setup(test_rounds_and_much_more_scoring,
				       set_up),
		cmocka_unit_test_setup(test_two_simulations, set_up),
		cmocka_unit_test_setup(test_a_few_behind_many, set_up),
		cmocka_unit_test_setup(test_what_prepares, set_up),
		cmocka_unit_test_setup(test_the_same_in_two_loops, set_up),
		cmocka_unit_test_setup(test_one_site_that_prepares, set_up),
		cmocka_unit_test_setup(test_a_training_and_its_test, set_up),
		cmocka_unit_test_setup(test_a_little_after_so_many_turns,
				       set_up),
		cmocka_unit_test_setup(test_a_pass_after_so_many_turns, set_up),
		cmocka_unit_test_setup(
			test_transforms_of_larger_and_larger_size, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
