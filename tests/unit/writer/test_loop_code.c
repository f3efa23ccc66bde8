/* SPDX-License-Identifier: MIT */
/*
 * test_loop_code.c - streams of marks of which the code tells in what loops
 * they lie: what the order of the sites leaves open is decided by that.
 */
#include "tests/unit/cmocka_base.h"

#include "writer/loops/loop_certain.h"
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

/* The same, in each turn of that loop. */
static void hit_always(uint64_t id, uint16_t loop, uint16_t loops)
{
	hit(id, loop, loops);
	marks[count - 1].is_always = true;
}

/* A loop lies in the next one that is told of, if any. */
static void nest_loops(void)
{
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < count && !marks[i].within; k++) {
			if (marks[k].loop && marks[i].loop &&
			    marks[k].depth + 1 == marks[i].depth)
				marks[i].within = (uint8_t)marks[k].loop;
		}
	}
}

static int find(struct loop_nest *nest)
{
	void *room = NULL;
	int rc;

	nest_loops();
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

/* What calls it isn't known, but a loop was seen to turn before each. */
static void test_one_region_in_each_turn(void **unused)
{
	(void)unused;
	for (unsigned int i = 0; i < 5000; i++) {
		hit(2, 0, 0);
		marks[count - 1].depth = 0;
		marks[count - 1].turn =
			i ? SEARCH_TURN_NEXT : SEARCH_TURN_ROUND;
	}
	expect_steps(5000);
	/* Another loop turned, or none. */
	marks[2500].turn = SEARCH_TURN_ROUND;
	expect_none();
	marks[2500].turn = SEARCH_TURN_SAME;
	expect_none();
	marks[2500].turn = SEARCH_TURN_NEXT;
	marks[2500].caller = 3;
	expect_none();
	marks[2500].caller = 2;
	for (unsigned int i = 0; i < 6; i++)
		hit(3, 0, 1);
	expect_none();
}

/* Gradients of four batches are added up; before each tenth update the passes
 * of an evaluation. */
static void test_batches_that_are_added_up(void **unused)
{
	(void)unused;
	for (unsigned int i = 0; i < 60; i++) {
		for (unsigned int pass = 0; pass < 8 && i % 10 == 0; pass++) {
			for (unsigned int k = 0; k < 6; k++) {
				hit(11 + k, 1, 2);
				marks[count - 1].caller = 21;
			}
		}
		for (unsigned int batch = 0; batch < 4; batch++) {
			for (unsigned int k = 0; k < 6; k++)
				hit(11 + k, 3, 2);
			hit(2, 3, 2);
			for (unsigned int k = 0; k < 6; k++)
				hit(3, 4, 3);
			hit(4, 3, 2);
		}
		hit_always(5, 5, 1);
		hit_always(6, 5, 1);
	}
	expect_steps(60);
	forget();
	expect_none();
}

/* Three kinds of layers, called through one pointer: each would come once in
 * each turn of that loop, and they can't. */
static void test_layers_of_several_kinds(void **unused)
{
	(void)unused;
	for (unsigned int i = 0; i < 60; i++) {
		for (unsigned int k = 0; k < 3; k++) {
			hit_always(1, 1, 2);
			hit_always(2, 1, 2);
		}
		hit_always(3, 1, 2);
	}
	expect_steps(60);
}

/* Pictures of seven stages, and a sum after each twelfth: the sum lies in fewer
 * loops, but not in each turn of its own. */
static void test_a_sum_in_some_turns_of_the_loop_around(void **unused)
{
	(void)unused;
	for (unsigned int i = 0; i < 60; i++) {
		for (unsigned int k = 0; k < 3; k++) {
			hit_always(1, 1, 2);
			hit_always(2, 1, 2);
		}
		hit_always(3, 1, 2);
		if (i % 12 == 11)
			hit(4, 2, 1);
	}
	expect_none();
}

/* Ten sweeps and a sum: a report by the sites alone. */
static void test_sweeps_and_a_sum(void **unused)
{
	(void)unused;
	for (unsigned int i = 0; i < 40; i++) {
		for (unsigned int k = 0; k < 10; k++) {
			hit(1, 1, 2);
			hit(3, 1, 2);
		}
		hit_always(2, 2, 1);
	}
	expect_steps(40);
	forget();
	expect_none();
	count = 0;
	for (unsigned int i = 0; i < 40; i++) {
		for (unsigned int k = 0; k < 10; k++)
			hit(1, 1, 2);
		hit_always(2, 2, 1);
	}
	expect_steps(40);
	forget();
	expect_none();
}

/* What lies in a function that calls itself lies in a loop more; each level of
 * the grid is smoothed, four times the smallest. */
static void test_cycles_that_call_themselves(void **unused)
{
	(void)unused;
	for (unsigned int i = 0; i < 30; i++) {
		const size_t first = count;

		for (unsigned int k = 0; k < 9; k++) {
			hit(1, 1, 2);
			hit(2, 1, 2);
			if (k < 4)
				hit(3, 1, 2);
			else if (k < 8)
				hit(4, 1, 2);
		}
		/* From many places. */
		for (size_t k = first; k < count; k++)
			marks[k].caller = (uint16_t)(10 + k - first);
		hit_always(5, 2, 1);
	}
	expect_steps(30);
	forget();
	expect_none();
}

/* Many sites, and after each eighth batch two passes of a test. */
static void test_an_evaluation_in_a_loop_of_its_own(void **unused)
{
	(void)unused;
	for (unsigned int batch = 0; batch < 96; batch++) {
		for (unsigned int site = 1; site <= 30; site++)
			hit(site, 1, 1);
		for (unsigned int pass = 0; pass < 2 && batch % 8 == 7;
		     pass++) {
			for (unsigned int site = 31; site <= 48; site++) {
				hit(site, 2, 2);
				marks[count - 1].within = 1;
			}
		}
	}
	expect_steps(96);
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

/* Each turn does one of three things: none of them comes in each. */
static void test_one_of_several_ways(void **unused)
{
	unsigned int luck = 1;

	(void)unused;
	for (unsigned int i = 0; i < 300; i++) {
		luck = luck * 1103515245u + 12345u;
		hit(luck >> 16 & 1 ? 1 : 2 + (luck >> 17 & 1), 1, 1);
	}
	expect_none();
}

/* Two loops in each turn, of one region each. */
static void test_two_loops_in_turn(void **unused)
{
	(void)unused;
	for (unsigned int i = 0; i < 30; i++) {
		for (unsigned int k = 0; k < 3; k++)
			hit(1, 1, 2);
		for (unsigned int k = 0; k < 3; k++)
			hit(2, 2, 2);
	}
	expect_steps(30);
	/* Both lie in the same one: one of two ways. */
	for (size_t i = 0; i < count; i++)
		marks[i].loop = 1;
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
/* Molecules: a list each 20 steps, from its own loop, is made once before the
 * first, too, from elsewhere. */
static void test_a_list_that_is_made_before_the_loop(void **state)
{
	(void)state;
	hit(1, 0, 0);
	hit(2, 0, 0);
	hit(3, 0, 0);
	for (size_t i = 0; i < count; i++) {
		marks[i].caller = (uint16_t)(20 + i);
		marks[i].depth = 0;
	}
	for (size_t step = 0; step < 250; step++) {
		hit(4, 7, 1);
		if (step && step % 20 == 0) {
			hit(1, 7, 1);
			hit(2, 8, 2);
			hit(3, 8, 2);
		}
		hit(5, 9, 2);
		hit(6, 7, 1);
		hit(7, 10, 2);
	}
	expect_steps(250);
}

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

/* Only the run's first thousand marks were asked. */
static void forget_late(size_t from)
{
	for (size_t i = from; i < count; i++)
		marks[i].caller = marks[i].loop = marks[i].depth = 0;
}

/* Four folds of 80 batches, and a test of five behind each: all that was asked
 * has the forward pass in the batches' loop, so that what a test lacks looks as
 * if some turns did it besides. */
static void test_a_pass_from_another_place_later(void **unused)
{
	(void)unused;
	for (unsigned int fold = 0; fold < 4; fold++) {
		hit(20, 1, 1);
		for (unsigned int i = 0; i < 85; i++) {
			for (uint64_t site = 1; site <= 6; site++)
				hit(site, 2, 3);
			for (uint64_t site = 7; site <= 14 && i < 80; site++)
				hit(site, 2, 3);
			if (i >= 80)
				hit(15, 4, 2);
		}
	}
	forget_late(1024);
	expect_steps(320);
}

/* A new mesh each eight time steps, to the end; what follows is called from
 * several places, but for one. */
static void test_what_some_turns_begin_with(void **unused)
{
	(void)unused;
	for (unsigned int i = 0; i < 88; i++) {
		if (i % 8 == 0) {
			hit(1, 1, 1);
			hit(2, 1, 1);
			hit(3, 1, 1);
		}
		hit(4, 1, 1);
		for (uint16_t place = 0; place < 7; place++) {
			hit(5, 0, 0);
			hit(6, 0, 0);
			marks[count - 1].caller = 20 + place;
			marks[count - 2].caller = 30 + place;
			marks[count - 1].depth = marks[count - 2].depth = 0;
		}
	}
	expect_steps(88);
}

/* Newton's steps in time steps, each of conjugate gradients, so many of all as
 * it takes: a site before them, and one behind. */
static void test_time_steps_of_a_few(void **unused)
{
	unsigned int luck = 1;

	(void)unused;
	for (unsigned int t = 0; t < 25; t++) {
		hit(1, 1, 1);
		for (unsigned int k = 0; k < 2 + t * 7 % 3; k++) {
			for (uint64_t site = 2; site <= 4; site++)
				hit(site, 2, 2);
			luck = luck * 1103515245u + 12345u;
			for (unsigned int i = 0; i < 5 + (luck >> 16) % 11;
			     i++) {
				for (uint64_t site = 5; site <= 9; site++)
					hit(site, 3, 3);
			}
			hit(10, 2, 2);
		}
		hit(11, 1, 1);
	}
	expect_steps(25);
}

/* Five restarts of k-means, or as many structures: nobody knows. */
static void restarts(unsigned int turns)
{
	for (unsigned int restart = 0; restart < turns; restart++) {
		for (unsigned int i = 0; i < 7; i++)
			hit(1, 2, 2);
		for (unsigned int i = 0; i < 14 + restart * 5 % 12; i++) {
			hit(2, 3, 2);
			hit(3, 3, 2);
		}
		hit(4, 1, 1);
	}
}

static void test_a_few_restarts(void **unused)
{
	(void)unused;
	restarts(5);
	expect_none();
	count = 0;
	restarts(9);
	expect_steps(9);
}

/* They may be a part of what is called 30 times. */
static void test_thousands_of_turns_of_two_sites(void **unused)
{
	(void)unused;
	for (unsigned int i = 0; i < 5000; i++) {
		hit(1, 1, 1);
		hit(2, 1, 1);
	}
	expect_steps(5000);
	forget();
	expect_none();
	count = 2000;
	expect_steps(1000);
}

/* Before the run is over much that lies between its turns may be a loop. */
static void test_when_it_is_likely(void **unused)
{
	const struct loop_patience patience = {16, 64};
	struct loop_nest nest = {.count = 1, .seldom = 40};
	struct loop_choice choice = {.of = marks, .since = 100};

	(void)unused;
	nest.level[0] = (struct loop_level){.turns = 60, .mass = 0.95};
	assert_true(loop_is_certain(&choice, marks, &nest, 200, &patience));
	nest.seldom = 24;
	assert_false(loop_is_certain(&choice, marks, &nest, 200, &patience));
	nest.seldom = 40;
	nest.level[0].mass = 0.82;
	assert_false(loop_is_certain(&choice, marks, &nest, 200, &patience));
}

/* Time steps of a system that is solved in 40 iterations, then in ever fewer,
 * and at last in none. */
static void test_time_steps_that_need_no_iteration(void **unused)
{
	(void)unused;
	for (unsigned int step = 0; step < 50; step++) {
		const unsigned int needed = step < 25 ? 40 / (step + 1) : 0;

		hit(1, 1, 1);
		hit(2, 1, 1);
		for (unsigned int i = 0; i < needed; i++) {
			for (uint64_t site = 3; site <= 8; site++)
				hit(site, 2, 2);
		}
		hit(9, 1, 1);
	}
	expect_steps(50);
	forget();
	expect_none();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_time_steps_that_need_no_iteration,
				       set_up),
		cmocka_unit_test_setup(test_one_region_in_one_loop, set_up),
		cmocka_unit_test_setup(test_one_region_in_each_turn, set_up),
		cmocka_unit_test_setup(test_batches_that_are_added_up, set_up),
		cmocka_unit_test_setup(test_sweeps_and_a_sum, set_up),
		cmocka_unit_test_setup(test_layers_of_several_kinds, set_up),
		cmocka_unit_test_setup(
			test_a_sum_in_some_turns_of_the_loop_around, set_up),
		cmocka_unit_test_setup(test_cycles_that_call_themselves,
				       set_up),
		cmocka_unit_test_setup(test_an_evaluation_in_a_loop_of_its_own,
				       set_up),
		cmocka_unit_test_setup(test_one_region_in_two_loops, set_up),
		cmocka_unit_test_setup(test_one_region_from_two_places, set_up),
		cmocka_unit_test_setup(test_one_of_several_ways, set_up),
		cmocka_unit_test_setup(test_two_loops_in_turn, set_up),
		cmocka_unit_test_setup(test_one_region_beside_another_loop,
				       set_up),
		cmocka_unit_test_setup(test_a_report_in_the_same_loop, set_up),
		cmocka_unit_test_setup(test_what_is_called_before_the_loop,
				       set_up),
		cmocka_unit_test_setup(test_reports_after_round_numbers,
				       set_up),
		cmocka_unit_test_setup(test_a_report_that_calls_it_again,
				       set_up),
		cmocka_unit_test_setup(test_a_list_that_is_made_before_the_loop,
				       set_up),
		cmocka_unit_test_setup(test_one_region_twice_in_each_turn,
				       set_up),
		cmocka_unit_test_setup(test_two_ways_through_a_turn, set_up),
		cmocka_unit_test_setup(test_loops_within_and_reports, set_up),
		cmocka_unit_test_setup(test_a_part_from_some_turn_on, set_up),
		cmocka_unit_test_setup(test_a_pass_from_another_place_later,
				       set_up),
		cmocka_unit_test_setup(test_what_some_turns_begin_with, set_up),
		cmocka_unit_test_setup(test_time_steps_of_a_few, set_up),
		cmocka_unit_test_setup(test_a_few_restarts, set_up),
		cmocka_unit_test_setup(test_thousands_of_turns_of_two_sites,
				       set_up),
		cmocka_unit_test(test_when_it_is_likely),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
