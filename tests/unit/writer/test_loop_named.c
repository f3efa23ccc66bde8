/* SPDX-License-Identifier: MIT */
/*
 * test_loop_named.c - ranges in ranges: which of those that are called like a
 * step is it, and which one lies around all of a turn.
 */
#include "tests/unit/cmocka_base.h"

#include "collector/control/search.h"
#include "writer/loops/loop_named.h"
#include "writer/loops/loop_shell.h"

#define MARKS_MAX 1000u

enum { STEP = 1, PART, OTHER, PLAIN };

static struct loop_mark marks[MARKS_MAX];
static size_t count;
static uint64_t now;

static int set_up(void **unused)
{
	(void)unused;
	count = 0;
	now = 0;
	return 0;
}

static size_t begin(uint64_t id)
{
	marks[count] = (struct loop_mark){
		.id = id, .ticks = ++now, .is_step_like = id != PLAIN};
	return count++;
}

static void end(size_t at)
{
	marks[at].end_ticks = ++now;
}

static void range(uint64_t id)
{
	end(begin(id));
}

static void step(uint64_t id, uint64_t part, unsigned int parts)
{
	const size_t at = begin(id);

	while (parts--)
		range(part);
	end(at);
}

/* Its hits; 0 none. */
static size_t named(uint64_t id, bool is_over)
{
	struct loop_level found;

	if (!loop_named_find(marks, count, is_over, &found))
		return 0;
	assert_true(found.is_begin);
	assert_int_equal(found.id, id);
	assert_int_equal(marks[found.first].id, id);
	return found.turns;
}

static void test_the_outermost_that_turns(void **unused)
{
	size_t all;

	(void)unused;
	all = begin(OTHER);
	for (int i = 0; i < 7; i++)
		step(STEP, PART, 4);
	end(all);
	assert_int_equal(named(STEP, true), 7);
	/* The one around them may come again. */
	assert_int_equal(named(STEP, false), 0);
	for (int i = 0; i < 8; i++)
		step(STEP, PART, 4);
	assert_int_equal(named(STEP, false), 15);
}

static void test_none_before_it_can_be_known(void **unused)
{
	(void)unused;
	step(STEP, PART, 4);
	step(STEP, PART, 4);
	assert_int_equal(named(STEP, false), 0);
	assert_int_equal(named(PART, true), 8);
	step(STEP, PART, 4);
	assert_int_equal(named(STEP, false), 3);
	assert_int_equal(named(STEP, true), 3);
}

static void test_side_by_side(void **unused)
{
	(void)unused;
	for (int i = 0; i < 5; i++)
		range(OTHER);
	for (int i = 0; i < 4; i++)
		step(STEP, PLAIN, 9);
	assert_int_equal(named(OTHER, false), 5);
	assert_int_equal(named(STEP, true), 4);
}

static void test_names(void **unused)
{
	(void)unused;
	assert_true(search_is_step_like("train_step"));
	assert_true(search_is_step_like("step #3"));
	assert_true(search_is_step_like("step #a=3"));
	assert_true(search_is_step_like("#step=3#"));
	assert_true(search_is_step_like("train#_r=1,step_num=3#"));
	assert_true(search_is_step_like("TSL: XlaModule:#hlo_module=jit_step,"
					"program_id=1#"));
	assert_false(search_is_step_like("TSL: XlaModule:#hlo_module=jit_loss,"
					 "name=step#"));
	assert_false(
		search_is_step_like("XlaModule:#hlo_module=jit_load_step#"));
	assert_false(search_is_step_like("Thunk:#name=jit(step)/dot,"
					 "hlo_op=custom-call.5#"));
	assert_false(search_is_step_like("Thunk:#a_step_num=3#"));
	assert_false(search_is_step_like("Optimizer.step#SGD.step"));
}

static struct loop_level level_of(uint64_t id, size_t first)
{
	struct loop_level level = {
		.id = id, .first = first, .last = first, .length = 4};

	for (size_t i = first; i < count; i++)
		level.turns += marks[i].id == id;
	return level;
}

static void test_a_range_around_each_turn(void **unused)
{
	struct loop_level level;
	size_t all;

	(void)unused;
	range(PLAIN);
	all = begin(PLAIN);
	for (int i = 0; i < 9; i++) {
		const size_t outer = begin(STEP), inner = begin(OTHER);

		range(PLAIN);
		range(PART);
		end(inner);
		end(outer);
	}
	end(all);
	level = level_of(PART, 5);
	loop_shell_take(marks, count, &level);
	assert_int_equal(level.id, STEP);
	assert_int_equal(level.first, 2);
	assert_int_equal(level.begin, 2);
	assert_int_equal(level.turns, 9);
	/* Its own, rather than the part's. */
	assert_int_equal(level.ticks, marks[6].ticks - marks[2].ticks);
	assert_true(level.is_begin);
}

static void test_none_around_all_of_a_turn(void **unused)
{
	struct loop_level level;

	(void)unused;
	/* Something comes outside of it. */
	for (int i = 0; i < 9; i++) {
		step(STEP, PART, 1);
		range(PLAIN);
	}
	level = level_of(PART, 1);
	loop_shell_take(marks, count, &level);
	assert_int_equal(level.id, PART);
	assert_false(level.is_begin);
	/* Two turns lie in each. */
	count = 0;
	for (int i = 0; i < 9; i++)
		step(STEP, PART, 2);
	level = level_of(PART, 1);
	loop_shell_take(marks, count, &level);
	assert_int_equal(level.id, PART);
}

/* A step's time is its median, as of any other step, however long some take. */
static void test_the_period_is_a_median(void **unused)
{
	struct loop_level found;

	(void)unused;
	for (int i = 0; i < 200; i++) {
		step(STEP, PART, 2);
		now += i % 10 ? 4 : 5000;
	}
	assert_true(loop_named_find(marks, count, true, &found));
	assert_int_equal(found.turns, 200);
	assert_int_equal(found.ticks, 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_the_outermost_that_turns, set_up),
		cmocka_unit_test_setup(test_none_before_it_can_be_known,
				       set_up),
		cmocka_unit_test_setup(test_side_by_side, set_up),
		cmocka_unit_test_setup(test_the_period_is_a_median, set_up),
		cmocka_unit_test(test_names),
		cmocka_unit_test_setup(test_a_range_around_each_turn, set_up),
		cmocka_unit_test_setup(test_none_around_all_of_a_turn, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
