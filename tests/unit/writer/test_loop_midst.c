/* SPDX-License-Identifier: MIT */
/*
 * test_loop_midst.c - what some turns have in several places is done by them:
 * the turns are the step, however much that is, and wherever the run ends.
 * What is no step: a marker that some turns lack, parts too small for a team,
 * copies of one call, and what lies before the loop.
 */
#include "writer/loops/loop_groups.h"
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

static size_t steps(void)
{
	struct loop_nest nest;

	return find(&nest) ? 0 : nest.level[nest.step].turns;
}

static uint32_t random_below(uint32_t limit)
{
	static uint32_t state = 1;

	state = state * 1103515245u + 12345u;
	return (state >> 16) % limit;
}

/* --- a marker that not each turn has --- */

/* Requests of any size: what multiplies, and what is added to that, goes by it,
 * so that what some have comes nearly as often as they do. */
static void answer(uint32_t small, uint32_t split, uint32_t narrow)
{
	for (unsigned int i = 0; i < 80; i++) {
		const uint32_t rows =
			(1 + random_below(8)) * (4 + random_below(60));

		hit(1);
		for (unsigned int layer = 0; layer < 3; layer++) {
			if (rows < split)
				hit(2);
			hit(rows < small ? 3 : 4);
			hit(5);
			hit(rows < narrow ? 6 : 7);
			hit(8);
			hit(9);
			hit(10);
			hit(9);
		}
		hit(11);
		hit(1);
	}
}

static void test_requests_of_any_size(void **unused)
{
	static const uint32_t sizes[][3] = {
		{40, 30, 150},	{40, 200, 50},	 {100, 120, 50},
		{100, 300, 50}, {200, 120, 150}, {200, 300, 150},
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		size_t found;

		set_up(NULL);
		answer(sizes[i][0], sizes[i][1], sizes[i][2]);
		found = steps();
		assert_true(!found || (found >= 79 && found <= 81));
	}
}

/* --- what is too small for a team --- */

/* Files are opened by teams, the work is done by one, and the parts that it has
 * written are opened one after the other. */
static void open_parts(unsigned int parts, uint8_t team)
{
	for (unsigned int i = 0; i < 3; i++) {
		hit(1);
		hit(2);
	}
	hit(3);
	for (unsigned int i = 0; i < 2 * 3 + 1; i++)
		marks[i].team = 2;
	for (unsigned int i = 0; i < parts; i++) {
		hit(1);
		marks[count - 1].team = team;
		hit(2);
		marks[count - 1].team = team;
	}
}

static void test_what_is_too_small_for_a_team(void **unused)
{
	(void)unused;
	open_parts(64, 1);
	assert_int_equal(steps(), 0);
}

static void test_teams_in_each_turn(void **unused)
{
	(void)unused;
	open_parts(64, 4);
	assert_int_equal(steps(), 67);
	count = 0;
	/* No region has more than one: they may not. */
	open_parts(64, 1);
	for (size_t i = 0; i < count; i++)
		marks[i].team = 1;
	assert_int_equal(steps(), 67);
	count = 0;
	open_parts(64, 1);
	for (size_t i = 8; i < count; i += 2)
		marks[i].team = 2;
	assert_int_equal(steps(), 67);
}

/* In so many loops by the code; what runs stands so far from the call. */
static void hit_in(uint64_t id, uint16_t loop, uint8_t loops, int32_t distance)
{
	hit(id);
	marks[count - 1].caller = (uint16_t)(id % 100 + 1);
	marks[count - 1].loop = loop;
	marks[count - 1].depth = (uint8_t)(LOOP_DEPTH_NONE + loops);
	marks[count - 1].note = (uint64_t)(uint32_t)distance << 32;
}

/* Sweeps of six chains, each by two colours, of which the compiler made two
 * calls: what turns six times in a sweep, or is one. */
static void test_a_call_that_was_copied(void **state)
{
	(void)state;
	for (size_t chain = 0; chain < 1260; chain++) {
		hit_in(1000, 1, 2, -500);
		hit_in(1040, 1, 2, -540);
	}
	assert_int_equal(steps(), 0);
	/* One finds the nearest unit, the other moves it. */
	count = 0;
	for (size_t sample = 0; sample < 600; sample++) {
		hit_in(1000, 1, 2, -500);
		hit_in(1040, 1, 2, -340);
	}
	assert_int_equal(steps(), 600);
}

/* What the loop does comes once or twice before it, too. */
static void expect_after(size_t before, uint8_t loops)
{
	struct loop_nest nest;

	count = 0;
	for (size_t turn = 0; turn < before + 64; turn++) {
		hit_in(1001, 1, turn < before ? loops : 1, 0);
		hit_in(1002, 1, turn < before ? loops : 1, 0);
	}
	assert_int_equal(find(&nest), 0);
	assert_int_equal(nest.level[nest.step].turns, loops ? before + 64 : 64);
	assert_int_equal(nest.level[nest.step].begin, loops ? 0 : 2 * before);
}

static void test_what_comes_before_the_loop(void **state)
{
	(void)state;
	expect_after(0, 1);
	expect_after(1, 1);
	expect_after(1, 0);
	expect_after(2, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_each_tenth_step_sorts, set_up),
		cmocka_unit_test_setup(test_the_others_do_something_instead,
				       set_up),
		cmocka_unit_test_setup(test_what_is_around_a_loop, set_up),
		cmocka_unit_test_setup(test_requests_of_any_size, set_up),
		cmocka_unit_test_setup(test_what_is_too_small_for_a_team,
				       set_up),
		cmocka_unit_test_setup(test_teams_in_each_turn, set_up),
		cmocka_unit_test_setup(test_a_call_that_was_copied, set_up),
		cmocka_unit_test_setup(test_what_comes_before_the_loop, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
