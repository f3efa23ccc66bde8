/* SPDX-License-Identifier: MIT */
/*
 * test_window.c - the schedule's function against its table, and the table of
 * windows.
 */
#include "tests/unit/cmocka_base.h"

#include "collector/control/options.h"
#include "tests/unit/schedule_reference.h"
#include <errno.h>
#include <string.h>

static void compare(const struct schedule *schedule, void *arg)
{
	struct schedule_reference reference;
	int64_t whole = 0; /* steps until the first window is whole */

	(*(int *)arg)++;
	reference_fill(&reference, schedule);
	for (int64_t step = 0; step < REFERENCE_STEPS; step++) {
		assert_int_equal(window_action(schedule, step),
				 reference.action[step]);
		assert_int_equal(window_cycle(schedule, step),
				 reference.cycle[step]);
		if (reference.action[step] == WINDOW_RECORD_AND_SAVE && !whole)
			whole = step + 1;
	}
	assert_int_equal(window_steps_needed(schedule), whole);
}

static void test_every_small_schedule(void **state)
{
	int schedules = 0;

	(void)state;
	reference_each(compare, &schedules);
	assert_int_equal(schedules, 1152);
}

static void test_without_active_the_window_never_ends(void **state)
{
	const struct schedule schedule = {.skip_first = 1,
					  .wait = 2,
					  .warmup = 1,
					  .active = INT64_MAX,
					  .repeat = 3};

	(void)state;
	assert_int_equal(window_action(&schedule, 0), WINDOW_NONE);
	assert_int_equal(window_action(&schedule, 2), WINDOW_NONE);
	assert_int_equal(window_action(&schedule, 3), WINDOW_WARMUP);
	assert_int_equal(window_action(&schedule, 4), WINDOW_RECORD);
	assert_int_equal(window_action(&schedule, INT64_C(1) << 40),
			 WINDOW_RECORD);
	assert_int_equal(window_cycle(&schedule, INT64_C(1) << 40), 0);
	assert_int_equal(window_steps_needed(&schedule), 5);
}

static void test_no_schedule_records_all(void **state)
{
	const struct schedule schedule = {.always = true};

	(void)state;
	assert_int_equal(window_action(&schedule, 0), WINDOW_RECORD);
	assert_int_equal(window_action(&schedule, 1000), WINDOW_RECORD);
	assert_int_equal(window_cycle(&schedule, 1000), 0);
	assert_int_equal(window_steps_needed(&schedule), 0);
}

static void test_any_variable_makes_a_schedule(void **state)
{
	struct options options;
	struct schedule schedule;
	char why[256];

	(void)state;
	options_default(&options);
	schedule_from_options(&options, &schedule);
	assert_true(schedule.always);
	options_set(&options, "WARMUP", "0", why, sizeof(why));
	schedule_from_options(&options, &schedule);
	assert_false(schedule.always);
	assert_true(schedule.active == INT64_MAX);
	options_set(&options, "ACTIVE", "5", why, sizeof(why));
	options_set(&options, "SKIP_FIRST", "2", why, sizeof(why));
	schedule_from_options(&options, &schedule);
	assert_int_equal(schedule.active, 5);
	assert_int_equal(schedule.skip_first, 2);
	assert_int_equal(schedule.repeat, 0);
}

static void test_a_window_is_opened_and_closed_once(void **state)
{
	static struct window_state windows;

	(void)state;
	memset(&windows, 0, sizeof(windows));
	assert_int_equal(window_close(&windows, 1, 0), -ENOENT);
	assert_int_equal(window_open(&windows, 10, 3, 7, true), 0);
	assert_int_equal(window_open(&windows, 11, 4, 0, false), -EBUSY);
	assert_int_equal(load_relaxed(&windows.opened), 1);
	assert_int_equal(windows.window[0].start_ticks, 10);
	assert_int_equal(load_relaxed(&windows.window[0].end_ticks), 0);
	assert_int_equal(windows.is_manual, 1);
	assert_int_equal(window_close(&windows, 20, 5), 0);
	assert_int_equal(load_relaxed(&windows.window[0].end_ticks), 20);
	assert_int_equal(windows.window[0].first_step, 3);
	assert_int_equal(windows.window[0].last_step, 5);
	assert_int_equal(windows.window[0].name, 7);
	assert_int_equal(windows.is_manual, 0);
	assert_int_equal(window_close(&windows, 21, 5), -ENOENT);
}

static void test_nobody_waits_for_who_is_at_it(void **state)
{
	static struct window_state windows;

	(void)state;
	memset(&windows, 0, sizeof(windows));
	store_relaxed(&windows.busy, 1);
	assert_int_equal(window_open(&windows, 1, 0, 0, false), -EBUSY);
	assert_int_equal(window_close(&windows, 1, 0), -EBUSY);
	store_relaxed(&windows.busy, 0);
	assert_int_equal(window_open(&windows, 1, 0, 0, false), 0);
}

static void test_the_writer_may_be_so_far_behind(void **state)
{
	static struct window_state windows;

	(void)state;
	memset(&windows, 0, sizeof(windows));
	for (uint64_t i = 0; i < WINDOWS_MAX; i++) {
		assert_int_equal(window_open(&windows, i, 0, 0, false), 0);
		assert_int_equal(window_close(&windows, i, 0), 0);
	}
	assert_int_equal(window_open(&windows, 99, 0, 0, false), -EAGAIN);
	assert_int_equal(load_relaxed(&windows.missed), 1);
	assert_false(window_is_open(&windows));
	store_relaxed(&windows.written, 1);
	assert_int_equal(window_open(&windows, 99, 0, 0, false), 0);
	assert_int_equal(windows.window[0].start_ticks, 99);
	assert_int_equal(windows.window[0].cycle, WINDOWS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_small_schedule),
		cmocka_unit_test(test_without_active_the_window_never_ends),
		cmocka_unit_test(test_no_schedule_records_all),
		cmocka_unit_test(test_any_variable_makes_a_schedule),
		cmocka_unit_test(test_a_window_is_opened_and_closed_once),
		cmocka_unit_test(test_nobody_waits_for_who_is_at_it),
		cmocka_unit_test(test_the_writer_may_be_so_far_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
