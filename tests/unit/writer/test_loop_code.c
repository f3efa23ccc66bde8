/* SPDX-License-Identifier: MIT */
/*
 * test_loop_code.c - streams of marks of which the code tells in what loops
 * they lie: what the order of the sites leaves open is decided by that.
 */
#include "tests/unit/cmocka_base.h"

#include "writer/loops/loop_nest.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MARKS_MAX 20000u

static struct loop_mark marks[MARKS_MAX];
static size_t count;

/* A site that lies in so many loops, of which `loop` is the innermost. */
static void hit(uint64_t id, uint16_t loop, uint16_t loops)
{
	assert_true(count < MARKS_MAX);
	marks[count] = (struct loop_mark){.id = id,
					  .ticks = count * 1000,
					  .end_ticks = count * 1000 + 900,
					  .caller = (uint16_t)id,
					  .loop = loop,
					  .depth = (uint16_t)(loops + 1)};
	count++;
}

static int find(struct loop_nest *nest)
{
	void *room = NULL;
	int rc;

	assert_int_equal(posix_memalign(&room, 64, loop_nest_room(count)), 0);
	memset(room, 0xa5, loop_nest_room(count));
	rc = loop_nest_find(marks, count, room, nest);
	free(room);
	return rc;
}

static void expect_steps(size_t steps)
{
	struct loop_nest nest;

	assert_int_equal(find(&nest), 0);
	assert_int_equal(nest.level[nest.step].turns, steps);
}

static void expect_none(void)
{
	struct loop_nest nest;

	assert_int_equal(find(&nest), -ENOENT);
}

static void forget(void)
{
	for (size_t i = 0; i < count; i++)
		marks[i].loop = marks[i].depth = 0;
}

static int set_up(void **unused)
{
	(void)unused;
	count = 0;
	return 0;
}

static void test_one_region_in_one_loop(void **unused)
{
	(void)unused;
	hit(1, 0, 0);
	for (unsigned int i = 0; i < 180; i++)
		hit(2, 1, 1);
	expect_steps(180);
	forget();
	expect_none();
}

static void test_one_region_in_two_loops(void **unused)
{
	(void)unused;
	for (unsigned int i = 0; i < 180; i++)
		hit(2, 2, 2);
	expect_none();
}

static void test_one_region_from_two_places(void **unused)
{
	(void)unused;
	for (unsigned int i = 0; i < 180; i++) {
		hit(2, 1, 1);
		marks[count - 1].caller = (uint16_t)(1 + i % 2);
	}
	expect_none();
}

static void test_one_region_beside_another_loop(void **unused)
{
	(void)unused;
	for (unsigned int i = 0; i < 180; i++)
		hit(2, 1, 1);
	for (unsigned int i = 0; i < 10; i++)
		hit(3, 2, 1);
	expect_none();
}

static void test_a_report_in_the_same_loop(void **unused)
{
	(void)unused;
	for (unsigned int i = 0; i < 180; i++) {
		hit(1, 1, 1);
		if (i % 10 == 9)
			hit(2, 1, 1);
	}
	expect_steps(180);
}

/* A list that is made before the first time step, too. */
static void test_what_is_called_before_the_loop(void **unused)
{
	(void)unused;
	hit(2, 0, 0);
	marks[0].caller = 9;
	for (unsigned int i = 0; i < 250; i++) {
		hit(1, 1, 1);
		hit(3, 1, 1);
		if (i * i % 17 < 2)
			hit(2, 1, 1);
		hit(4, 1, 1);
		hit(5, 1, 1);
	}
	expect_steps(250);
}

/* A sum over spins after each tenth sweep. */
static void test_reports_after_round_numbers(void **unused)
{
	(void)unused;
	hit(9, 0, 0);
	for (unsigned int i = 0; i < 90; i++) {
		hit(1, 1, 1);
		hit(2, 1, 1);
		if (i % 10 == 9) {
			hit(3, 1, 1);
			hit(4, 1, 1);
		}
	}
	expect_steps(90);
	forget();
	expect_none();
}

/* Distances once a turn, and in a report after each tenth once more, from
 * another line of the same loop. */
static void test_a_report_that_calls_it_again(void **unused)
{
	(void)unused;
	for (unsigned int i = 0; i < 60; i++) {
		hit(1, 1, 1);
		hit(2, 1, 1);
		if (i % 10 == 9) {
			hit(1, 1, 1);
			marks[count - 1].caller = 8;
			hit(2, 1, 1);
			marks[count - 1].caller = 9;
			hit(3, 1, 1);
		}
	}
	expect_steps(66);
	forget();
	expect_none();
}

/* Two lines of each turn run one region: that tells of no turns without what
 * comes once. */
static void test_one_region_twice_in_each_turn(void **unused)
{
	(void)unused;
	for (unsigned int i = 0; i < 60; i++) {
		hit(1, 1, 1);
		hit(1, 1, 1);
		marks[count - 1].caller = 8;
		hit(2, 1, 1);
		marks[count - 1].caller = 9;
		hit(3, 1, 1);
	}
	expect_steps(60);
}

/* Seven of eight pictures go one way, the eighth the other. */
static void test_two_ways_through_a_turn(void **unused)
{
	(void)unused;
	for (unsigned int i = 0; i < 70; i++) {
		hit(1, 1, 1);
		if (i % 8 == 0) {
			hit(2, 1, 1);
		} else {
			hit(3, 1, 1);
			hit(4, 1, 1);
			hit(4, 1, 1);
			marks[count - 1].caller = 9;
		}
		hit(5, 1, 1);
		hit(6, 1, 1);
	}
	expect_steps(70);
}

/* Sweeps, a check at each fourth, and sums at each tenth step. */
static void test_loops_within_and_reports(void **unused)
{
	(void)unused;
	for (unsigned int i = 0; i < 120; i++) {
		if (i % 25 == 0)
			hit(8, 1, 1);
		hit(1, 1, 1);
		hit(2, 1, 1);
		for (unsigned int k = 0; k < 20 + i * 7 % 9; k++) {
			hit(3, 2, 2);
			if (k % 4 == 3)
				hit(4, 2, 2);
		}
		hit(5, 1, 1);
		hit(6, 1, 1);
		if (i % 10 == 0)
			hit(7, 1, 1);
	}
	expect_steps(120);
}

/* A booster that draws rows from its tenth round on. */
static void test_a_part_from_some_turn_on(void **unused)
{
	(void)unused;
	for (unsigned int i = 0; i < 50; i++) {
		hit(1, 1, 1);
		if (i >= 10)
			hit(2, 1, 1);
		hit(3, 1, 1);
		for (unsigned int split = 0; split < 14 + i % 3; split++) {
			hit(4, 2, 2);
			hit(5, 2, 2);
			hit(6, 2, 2);
		}
		hit(7, 1, 1);
		hit(8, 1, 1);
	}
	expect_steps(50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_one_region_in_one_loop, set_up),
		cmocka_unit_test_setup(test_one_region_in_two_loops, set_up),
		cmocka_unit_test_setup(test_one_region_from_two_places, set_up),
		cmocka_unit_test_setup(test_one_region_beside_another_loop,
				       set_up),
		cmocka_unit_test_setup(test_a_report_in_the_same_loop, set_up),
		cmocka_unit_test_setup(test_what_is_called_before_the_loop,
				       set_up),
		cmocka_unit_test_setup(test_reports_after_round_numbers,
				       set_up),
		cmocka_unit_test_setup(test_a_report_that_calls_it_again,
				       set_up),
		cmocka_unit_test_setup(test_one_region_twice_in_each_turn,
				       set_up),
		cmocka_unit_test_setup(test_two_ways_through_a_turn, set_up),
		cmocka_unit_test_setup(test_loops_within_and_reports, set_up),
		cmocka_unit_test_setup(test_a_part_from_some_turn_on, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
