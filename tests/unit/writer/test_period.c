/* SPDX-License-Identifier: MIT */
/*
 * test_period.c - streams of marks with a loop in them, and without one: what
 * is found is the step, what has no step is refused.
 */
#include "tests/unit/cmocka_base.h"

#include "writer/steps/period.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MARKS_MAX 20000u
#define MS	  1000000u

static struct period_mark marks[MARKS_MAX];
static size_t count;
static uint64_t now;
static uint64_t state;

/* What is asked of the search in these tests. */
static struct period_needs needs;

static uint64_t random_below(uint64_t limit)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (state >> 33) % limit;
}

static int set_up(void **unused)
{
	(void)unused;
	count = 0;
	now = 1000;
	state = 1;
	needs = (struct period_needs){
		.repeats = 8, .span_ticks = 0, .short_ticks = 50 * MS};
	return 0;
}

/* A site is hit, and that takes a while, which varies. */
static void hit(uint64_t id, uint64_t ticks)
{
	if (count == MARKS_MAX)
		return;
	marks[count++] = (struct period_mark){.id = id, .ticks = now};
	now += ticks + random_below(ticks / 2 + 1);
}

static int find(struct period *found)
{
	void *room = NULL;
	int rc;

	assert_int_equal(posix_memalign(&room, 64, period_room(count)), 0);
	memset(room, 0xa5, period_room(count));
	memset(found, 0, sizeof(*found));
	rc = period_find(marks, count, &needs, room, found);
	free(room);
	return rc;
}

/* Steps of a network: layers forward and backward, then the update. */
static void train(unsigned int layers, uint64_t ticks)
{
	for (unsigned int i = 0; i < layers; i++) {
		hit(1, ticks);
		hit(2, ticks);
	}
	hit(3, ticks);
	for (unsigned int i = 0; i < layers; i++) {
		hit(4, ticks);
		hit(5, ticks);
		hit(2, ticks);
	}
	hit(6, ticks);
}

static void evaluate(unsigned int layers, uint64_t ticks)
{
	for (unsigned int i = 0; i < layers; i++) {
		hit(1, ticks);
		hit(2, ticks);
	}
	hit(7, ticks);
}

static void expect_steps(uint64_t id, size_t steps)
{
	struct period found;

	assert_int_equal(find(&found), 0);
	assert_int_equal(found.id, id);
	assert_int_equal(found.steps, steps);
}

static void expect_none(void)
{
	struct period found;

	assert_int_equal(find(&found), -ENOENT);
}

static void test_one_loop(void **unused)
{
	struct period found;

	(void)unused;
	for (int i = 0; i < 20; i++) {
		hit(10, 3 * MS);
		hit(20, 2 * MS);
		hit(30, MS);
	}
	assert_int_equal(find(&found), 0);
	assert_int_equal(found.id, 30);
	assert_int_equal(found.steps, 20);
	assert_int_equal(found.first, 2);
	assert_int_equal(found.context, 0);
	assert_int_equal(found.key, search_key(&(uint64_t){30}, 0));
	assert_in_range(found.ticks, 6 * MS, 9 * MS);
	assert_int_equal(found.outer, 0);
}

static void test_too_few_turns(void **unused)
{
	(void)unused;
	for (int i = 0; i < 7; i++)
		train(3, MS);
	expect_none();
	train(3, MS);
	expect_steps(6, 8);
}

static void test_too_short_a_time(void **unused)
{
	(void)unused;
	needs.span_ticks = 1000 * MS;
	for (int i = 0; i < 12; i++)
		train(3, MS);
	expect_none();
}

static void test_layers_are_not_steps(void **unused)
{
	(void)unused;
	for (unsigned int layers = 1; layers <= 40; layers += 3) {
		set_up(NULL);
		for (int i = 0; i < 12; i++)
			train(layers, MS);
		expect_steps(6, 12);
	}
}

/* One loop of layers alone, and little else: 12 turns, then the end. */
static void test_a_short_inner_loop_is_part_of_its_step(void **unused)
{
	(void)unused;
	for (int i = 0; i < 30; i++) {
		for (int layer = 0; layer < 12; layer++) {
			hit(1, MS / 10);
			hit(2, MS / 10);
		}
		hit(3, MS / 10);
		hit(4, MS / 10);
	}
	expect_steps(4, 30);
}

/* Not yet seen often enough: the first turn of the outer loop. */
static void test_an_inner_loop_is_not_taken_too_soon(void **unused)
{
	(void)unused;
	hit(9, MS);
	for (int layer = 0; layer < 60; layer++) {
		hit(1, MS / 10);
		hit(2, MS / 10);
		hit(3, MS / 10);
	}
	expect_none();
}

/* Neighbours are listed each 100 steps. */
static void test_a_long_outer_loop_is_not_the_step(void **unused)
{
	(void)unused;
	for (int i = 0; i < 1000; i++) {
		for (uint64_t site = 1; site <= 9; site++)
			hit(site, MS);
		if (i % 100 == 99) {
			for (uint64_t site = 20; site < 26; site++)
				hit(site, MS);
		}
	}
	expect_steps(9, 1000);
}

/* One site more in each seventh step, of eight: still the same loop. */
static void test_something_more_now_and_then(void **unused)
{
	(void)unused;
	for (int i = 0; i < 140; i++) {
		for (uint64_t site = 1; site <= 8; site++)
			hit(site, MS / 10);
		if (i % 7 == 6)
			hit(20, MS / 10);
	}
	expect_steps(8, 140);
}

/* The marker was hit once before, by chance. */
static void test_a_hit_before_the_loop(void **unused)
{
	struct period found;

	(void)unused;
	hit(6, MS);
	for (uint64_t site = 100; site < 400; site++)
		hit(site, MS);
	needs.short_ticks = MS;
	for (int i = 0; i < 20; i++)
		train(3, MS);
	assert_int_equal(find(&found), 0);
	assert_int_equal(found.id, 6);
	assert_int_equal(found.steps, 20);
	assert_in_range(found.first, 302, 340);
}

static void test_evaluation_in_between(void **unused)
{
	struct period found;

	(void)unused;
	for (int epoch = 0; epoch < 6; epoch++) {
		for (int i = 0; i < 25; i++)
			train(3, MS);
		for (int i = 0; i < 5; i++)
			evaluate(3, MS);
		hit(8, MS);
	}
	assert_int_equal(find(&found), 0);
	assert_int_equal(found.id, 6);
	assert_int_equal(found.steps, 150);
	assert_int_equal(found.outer, 25);
}

/* The last site of a step, but evaluations have it too. */
static void test_a_marker_that_evaluation_shares(void **unused)
{
	(void)unused;
	for (int epoch = 0; epoch < 6; epoch++) {
		for (int i = 0; i < 25; i++) {
			train(3, MS);
			hit(9, MS);
		}
		for (int i = 0; i < 5; i++) {
			evaluate(3, MS);
			hit(9, MS);
		}
	}
	expect_steps(6, 150);
}

static void test_warm_up(void **unused)
{
	(void)unused;
	for (uint64_t site = 100; site < 160; site++)
		hit(site, MS);
	for (int i = 0; i < 30; i++)
		hit(200 + random_below(9), MS);
	train(3, 500 * MS);
	train(3, 50 * MS);
	for (int i = 0; i < 20; i++)
		train(3, MS);
	/* Perhaps it is part of what began there. */
	expect_none();
	needs.short_ticks = MS;
	expect_steps(6, 22);
}

/* It hits the loop's own sites, in no order: that is no step. */
static void test_warm_up_with_the_loops_own_sites(void **unused)
{
	struct period found;

	(void)unused;
	needs.short_ticks = MS;
	for (int run = 0; run < 200; run++) {
		size_t before;

		count = 0;
		for (int i = 0; i < 60 + run; i++)
			hit(1 + random_below(6), MS);
		before = count;
		for (int i = 0; i < 150; i++)
			train(3, MS);
		assert_int_equal(find(&found), 0);
		/* Where the warm-up ends with parts of a turn, not sharp. */
		assert_in_range(found.steps, 149, 153);
		assert_in_range(found.first, before - 32, before + 32);
	}
}

static void test_irregular_marks(void **unused)
{
	struct period found;

	(void)unused;
	for (int i = 0; i < 60; i++) {
		train(4, MS);
		if (random_below(5) == 0)
			hit(50 + random_below(4), MS);
		if (random_below(11) == 0)
			now += 100 * MS;
	}
	assert_int_equal(find(&found), 0);
	assert_int_equal(found.steps, 60);
}

/* Trees of different shapes: nodes, then the update. */
static void test_trees(void **unused)
{
	struct period found;

	(void)unused;
	for (int tree = 0; tree < 40; tree++) {
		const uint64_t nodes = 28 + random_below(3);

		hit(90, MS);
		hit(91, MS);
		for (uint64_t i = 0; i < nodes; i++) {
			hit(1, MS / 4);
			hit(2, MS / 4);
			if (random_below(8))
				hit(3, MS / 4);
			hit(4, MS / 4);
		}
		hit(92, MS);
	}
	assert_int_equal(find(&found), 0);
	assert_in_range(found.id, 90, 92);
	assert_int_equal(found.steps, 40);
}

/* Each site several times a step: only what stands before one tells. */
static void test_a_marker_needs_its_context(void **unused)
{
	struct period found;

	(void)unused;
	for (int i = 0; i < 30; i++) {
		hit(1, MS);
		hit(1, MS);
		hit(2, MS);
		hit(2, MS);
		hit(2, MS);
	}
	assert_int_equal(find(&found), 0);
	assert_true(found.context > 0);
	assert_in_range(found.steps, 29, 30);
	assert_in_range(found.ticks, 4 * MS, 9 * MS);
}

static void test_one_site_in_step(void **unused)
{
	(void)unused;
	for (int i = 0; i < 40; i++)
		hit(1, 20 * MS);
	expect_steps(1, 40);
}

static void test_one_site_at_any_time(void **unused)
{
	(void)unused;
	for (int i = 0; i < 200; i++)
		hit(1, (uint64_t)1 << random_below(30));
	expect_none();
}

static void test_nothing(void **unused)
{
	(void)unused;
	expect_none();
	hit(1, MS);
	expect_none();
}

static void test_a_loop_that_is_over(void **unused)
{
	(void)unused;
	for (int i = 0; i < 20; i++)
		train(3, MS);
	for (uint64_t i = 0; i < 400; i++)
		hit(1000 + i, MS);
	expect_none();
	needs.is_over = true;
	expect_steps(6, 20);
}

/* Sites in any order, equally often or not, in bursts or not. */
static void test_no_order_no_step(void **unused)
{
	static const unsigned int sites[] = {2, 3, 5, 8, 20, 100};
	unsigned int wrong = 0;
	struct period found;

	(void)unused;
	for (uint64_t seed = 1; seed <= 300; seed++) {
		const uint64_t limit = sites[seed % 6];
		const size_t length = 100 + seed * 7;
		const int kind = (int)(seed / 6 % 4);
		uint64_t last = 0;

		set_up(NULL);
		state = seed * 7919;
		while (count < length) {
			const uint64_t site = random_below(limit);

			switch (kind) {
			case 0: last = site; break;
			/* Few are frequent. */
			case 1: last = random_below(site + 1); break;
			/* In bursts. */
			case 2: last = random_below(4) ? last : site; break;
			/* Each leads to one of two. */
			default:
				last = (last * 7 + random_below(2)) % limit;
				break;
			}
			hit(last, 1 + random_below(MS));
		}
		wrong += find(&found) == 0;
	}
	assert_int_equal(wrong, 0);
}

/* Steps made of random parts, always the same: always found. */
static void test_any_step_is_found(void **unused)
{
	(void)unused;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		uint64_t parts[60];
		uint64_t length;
		struct period found;

		set_up(NULL);
		state = seed * 104729;
		length = 3 + random_below(57);
		for (uint64_t i = 0; i < length; i++)
			parts[i] = 1 + random_below(length / 2 + 1);
		parts[random_below(length)] = 99;
		for (int step = 0; step < 40; step++) {
			for (uint64_t i = 0; i < length; i++)
				hit(parts[i], MS);
		}
		assert_int_equal(find(&found), 0);
		assert_in_range(found.steps, 39, 40);
	}
}

#define PERIOD_TEST(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PERIOD_TEST(test_one_loop),
		PERIOD_TEST(test_too_few_turns),
		PERIOD_TEST(test_too_short_a_time),
		PERIOD_TEST(test_layers_are_not_steps),
		PERIOD_TEST(test_a_short_inner_loop_is_part_of_its_step),
		PERIOD_TEST(test_an_inner_loop_is_not_taken_too_soon),
		PERIOD_TEST(test_a_long_outer_loop_is_not_the_step),
		PERIOD_TEST(test_something_more_now_and_then),
		PERIOD_TEST(test_a_hit_before_the_loop),
		PERIOD_TEST(test_evaluation_in_between),
		PERIOD_TEST(test_a_marker_that_evaluation_shares),
		PERIOD_TEST(test_warm_up),
		PERIOD_TEST(test_warm_up_with_the_loops_own_sites),
		PERIOD_TEST(test_irregular_marks),
		PERIOD_TEST(test_trees),
		PERIOD_TEST(test_a_marker_needs_its_context),
		PERIOD_TEST(test_one_site_in_step),
		PERIOD_TEST(test_one_site_at_any_time),
		PERIOD_TEST(test_nothing),
		PERIOD_TEST(test_a_loop_that_is_over),
		PERIOD_TEST(test_no_order_no_step),
		PERIOD_TEST(test_any_step_is_found),
	};

	return cmocka_run_group_tests_name("period", tests, NULL, NULL);
}
