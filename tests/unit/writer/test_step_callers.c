/* SPDX-License-Identifier: MIT */
/*
 * test_step_callers.c - one region that is called from several places: those
 * tell its sites apart where each call's is known and nothing else tells.
 */
#include "tests/unit/cmocka_base.h"

#include "writer/steps/step_marks.h"
#include <errno.h>

#define SITE UINT64_C(0x7f0000001000)

static struct step_marks stream;

static void hit(uint64_t code, uint64_t caller)
{
	const uint64_t now = 1000 + 100 * stream.count;

	step_marks_add(&stream, &(struct loop_mark){.id = code,
						    .ticks = now,
						    .end_ticks = now + 50,
						    .caller = caller});
}

static int set_up(void **unused)
{
	(void)unused;
	stream = (struct step_marks){.family = SEARCH_REGIONS};
	return 0;
}

static int tear_down(void **unused)
{
	(void)unused;
	array_free(&stream.marks);
	return 0;
}

static void expect_none(void)
{
	struct loop_nest nest;

	assert_int_equal(step_marks_find(&stream, stream.count, &nest),
			 -ENOENT);
	assert_false(stream.is_by_caller);
	for (size_t i = 0; i < stream.count; i++)
		assert_int_equal(step_marks(&stream)[i].id >> 56, 0);
}

static void test_places_tell(void **unused)
{
	struct loop_nest nest;
	struct loop_level *step;
	struct step_look look;

	(void)unused;
	hit(SITE + 1, 1);
	for (int i = 0; i < 40; i++)
		for (uint64_t caller = 2; caller <= 4; caller++)
			hit(SITE, caller);
	assert_int_equal(step_marks_find(&stream, stream.count, &nest), 0);
	step = &nest.level[nest.step];
	assert_true(stream.is_by_caller);
	assert_int_equal(step->turns, 40);
	assert_int_equal(step->id, search_region(SITE, 4));
	assert_int_equal(step->begin, 1);
	/* The next mark is told apart likewise; looked at anew from the start.
	 */
	hit(SITE, 2);
	assert_int_equal(step_marks(&stream)[121].id, search_region(SITE, 2));
	look = (struct step_look){stream.count, UINT64_MAX};
	assert_int_equal(step_marks_find_at(&stream, &look, &nest), 0);
	assert_int_equal(nest.level[nest.step].turns, 40);
	/* A recovery finds what was told. */
	step_marks_tell_callers(&stream);
	assert_true(step_marks_find_told(
		&stream,
		&(struct step_search){.family = SEARCH_REGIONS,
				      .id = step->id,
				      .key = step->key,
				      .begin_ticks = 1100,
				      .first_ticks = 1300},
		&nest.level[0]));
	assert_true(stream.is_by_caller);
	assert_int_equal(nest.level[0].first, 3);
}

/* An epoch's two blocks, and those of its test. */
static void test_two_places_twice_each(void **unused)
{
	struct loop_nest nest;

	(void)unused;
	for (uint64_t i = 0; i < 80; i++)
		hit(SITE, 1 + i / 2 % 2);
	assert_int_equal(step_marks_find(&stream, stream.count, &nest), 0);
	assert_int_equal(nest.level[nest.step].turns, 20);
	assert_int_equal(nest.level[nest.step].begin, 0);
}

static void test_two_places_in_turns_of_any_length(void **unused)
{
	(void)unused;
	for (uint64_t i = 0; i < 40; i++) {
		for (uint64_t k = 0; k <= 2 + i % 3; k++)
			hit(SITE, 1);
		hit(SITE, 2);
		hit(SITE, 2);
	}
	expect_none();
}

/* A sweep to and one fro; a time step has some of those. */
static void test_two_places_in_two_loops(void **unused)
{
	struct loop_nest nest;

	(void)unused;
	for (uint16_t i = 0; i < 120; i++) {
		hit(SITE, 1 + i % 2);
		step_marks(&stream)[i].loop = 1;
		step_marks(&stream)[i].depth = 3;
	}
	expect_none();
	/* Two regions are more of a step. */
	for (size_t i = 0; i < stream.count; i += 2)
		step_marks(&stream)[i].id = SITE + 16;
	assert_int_equal(step_marks_find(&stream, stream.count, &nest), 0);
	assert_int_equal(nest.level[nest.step].turns, 60);
	/* So are two places in one loop. */
	for (size_t i = 0; i < stream.count; i++) {
		step_marks(&stream)[i].id = SITE;
		step_marks(&stream)[i].depth = 2;
	}
	assert_int_equal(step_marks_find(&stream, stream.count, &nest), 0);
	assert_int_equal(nest.level[nest.step].turns, 60);
}

static void test_one_place_tells_nothing(void **unused)
{
	(void)unused;
	for (int i = 0; i < 120; i++)
		hit(SITE, 1);
	expect_none();
}

static void test_a_place_is_not_known(void **unused)
{
	(void)unused;
	for (uint64_t i = 0; i < 120; i++)
		hit(SITE, i == 100 ? 0 : 1 + i % 3);
	expect_none();
}

static void test_places_in_no_order(void **unused)
{
	uint64_t state = 1;

	(void)unused;
	for (int i = 0; i < 600; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		hit(SITE, 1 + (state >> 33) % 5);
	}
	expect_none();
}

/* Regions that tell are not asked who called. */
static void test_regions_go_first(void **unused)
{
	struct loop_nest nest;

	(void)unused;
	for (uint64_t i = 0; i < 40; i++) {
		hit(SITE, 1 + i % 2);
		hit(SITE, 1);
		hit(SITE, 1);
		hit(SITE + 1, 1);
	}
	assert_int_equal(step_marks_find(&stream, stream.count, &nest), 0);
	assert_false(stream.is_by_caller);
	assert_int_equal(nest.level[nest.step].turns, 40);
	assert_int_equal(nest.level[nest.step].id, SITE + 1);
}

/* Regions of two sites in turn, of which a library's own loop calls one and its
 * user the other: each fourth pair is another one. */
static void test_turns_from_several_places(void **unused)
{
	struct loop_nest nest;

	(void)unused;
	for (int i = 0; i < 20; i++) {
		for (uint64_t k = 0; k < 4; k++) {
			hit(SITE, k ? 2 : 1);
			hit(SITE + 16, k < 3 ? 3 : 4);
		}
	}
	assert_int_equal(step_marks_find(&stream, stream.count, &nest), 0);
	assert_int_equal(nest.level[nest.step].turns, 20);
	/* Of one whose place isn't known nothing is said. */
	step_marks_tell_callers(&stream);
	step_marks(&stream)[100].caller = 0;
	assert_int_equal(step_marks_find(&stream, stream.count, &nest), 0);
	assert_int_equal(nest.level[nest.step].turns, 80);
}

/* The same number of turns in which no place comes by turns. */
static void hit_in_loop(uint64_t code, uint64_t caller, uint16_t loop)
{
	hit(code, caller);
	step_marks(&stream)[stream.count - 1].loop = loop;
	step_marks(&stream)[stream.count - 1].depth = 2;
}

/* Each turn calls two regions, and a report the same from other lines of the
 * loop: that is no turn. */
static void test_reports_that_call_it_again(void **unused)
{
	struct loop_nest nest;

	(void)unused;
	for (int i = 0; i < 25; i++) {
		hit_in_loop(SITE, 1, 1);
		hit_in_loop(SITE + 1, 2, 1);
		if (i % 10 != 7)
			continue;
		hit_in_loop(SITE, 3, 1);
		hit_in_loop(SITE + 1, 4, 1);
		hit_in_loop(SITE + 2, 5, 1);
	}
	assert_int_equal(step_marks_find(&stream, stream.count, &nest), 0);
	assert_int_equal(nest.level[nest.step].turns, 25);
	assert_true(stream.is_by_caller);
}

/* Lines of different loops are turns of both. */
static void test_turns_of_two_loops(void **unused)
{
	struct loop_nest nest;

	(void)unused;
	for (uint16_t i = 0; i < 30; i++) {
		hit_in_loop(SITE, 1 + i / 20, 1 + i / 20);
		hit_in_loop(SITE + 1, 3 + i / 20, 1 + i / 20);
	}
	assert_int_equal(step_marks_find(&stream, stream.count, &nest), 0);
	assert_int_equal(nest.level[nest.step].turns, 30);
	assert_false(stream.is_by_caller);
}

static void test_turns_from_places_by_chance(void **unused)
{
	unsigned int chance = 1;
	struct loop_nest nest;

	(void)unused;
	for (unsigned int i = 0; i < 80; i++) {
		hit(SITE, 1);
		chance = chance * 1103515245u + 12345u;
		hit(SITE + 16, 2 + (chance >> 16) % 3);
	}
	assert_int_equal(step_marks_find(&stream, stream.count, &nest), 0);
	assert_int_equal(nest.level[nest.step].turns, 80);
	assert_false(stream.is_by_caller);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_places_tell, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_two_places_twice_each,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			test_two_places_in_turns_of_any_length, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(test_two_places_in_two_loops,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_one_place_tells_nothing,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_place_is_not_known,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_places_in_no_order, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_regions_go_first, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_turns_from_several_places,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_reports_that_call_it_again,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_turns_of_two_loops, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			test_turns_from_places_by_chance, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
