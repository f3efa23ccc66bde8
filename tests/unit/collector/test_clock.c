/* SPDX-License-Identifier: MIT */
/*
 * test_clock.c - the curve from ticks to nanoseconds: never backwards, the same
 * answer whenever it is asked, back on the system's clock after a drift.
 *
 * clock_gettime() is replaced, so that CLOCK_MONOTONIC can run fast, slow and
 * jump against the counter.
 */
#include "tests/unit/cmocka_base.h"

#include "collector/system/clock.h"
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static double speed = 1.0;
static int64_t jump_ns;
static int64_t origin_ns; /* from here on `speed` counts */

static int64_t system_ns(clockid_t id)
{
	struct timespec now;

	syscall(SYS_clock_gettime, id, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int clock_gettime(clockid_t id, struct timespec *now)
{
	int64_t ns = system_ns(id);

	if (id == CLOCK_MONOTONIC)
		ns = origin_ns + (int64_t)((double)(ns - origin_ns) * speed) +
		     jump_ns;
	now->tv_sec = ns / 1000000000;
	now->tv_nsec = ns % 1000000000;
	return 0;
}

static struct clock_segments segments;

static int set_up(void **state)
{
	(void)state;
	speed = 1.0;
	jump_ns = 0;
	origin_ns = system_ns(CLOCK_MONOTONIC);
	clock_uses_counter = 1;
	clock_start(&segments);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	clock_uses_counter = 0;
	return 0;
}

static void pass(int64_t ns)
{
	const int64_t until = system_ns(CLOCK_MONOTONIC) + ns;

	while (system_ns(CLOCK_MONOTONIC) < until)
		;
}

/* The least of many looks, since the test may be interrupted within one. */
static int64_t distance_now(void)
{
	int64_t least = INT64_MAX;

	for (int i = 0; i < 100; i++) {
		const int64_t ns = clock_ns(&segments, clock_ticks()) -
				   (int64_t)clock_monotonic_ns();
		const int64_t size = ns < 0 ? -ns : ns;

		least = size < least ? size : least;
	}
	return least;
}

static void test_the_curve_is_near_the_system_clock(void **state)
{
	(void)state;
	assert_int_equal(load_relaxed(&segments.count), 1);
	assert_in_range(distance_now(), 0, 1000000);
	for (int i = 0; i < 5; i++) {
		pass(2000000);
		clock_anchor(&segments);
	}
	assert_int_equal(load_relaxed(&segments.count), 6);
	assert_in_range(distance_now(), 0, 1000000);
	assert_int_equal(segments.steps_back, 0);
}

/* The first slope is good for a millisecond, a measured one for twice as long
 * as it was measured. */
static void test_anchors_are_due_at_growing_distances(void **state)
{
	(void)state;
	for (uint64_t ms = 1; ms <= 512; ms *= 2) {
		assert_in_range(clock_due_in(&segments), 0, ms * 1000000);
		assert_false(clock_is_settled(&segments));
		clock_anchor(&segments);
	}
	assert_in_range(clock_due_in(&segments), 1, 1000000000);
	assert_true(clock_is_settled(&segments));
	clock_anchor(&segments);
	assert_in_range(clock_due_in(&segments), 500000001, 1000000000);
	jump_ns = 1000000000;
	assert_int_equal(clock_due_in(&segments), 0);
}

static void test_a_tick_value_always_gives_the_same_time(void **state)
{
	uint64_t ticks[300];
	int64_t ns[300];

	(void)state;
	for (int i = 0; i < 300; i++) {
		speed = 1.0 + (i % 7 - 3) * 1e-4;
		ticks[i] = clock_ticks();
		ns[i] = clock_ns(&segments, ticks[i]);
		if (i)
			assert_true(ns[i] >= ns[i - 1]);
		clock_anchor(&segments);
	}
	assert_in_range(load_relaxed(&segments.count), 200, 301);
	for (int i = 0; i < 300; i++)
		assert_int_equal(clock_ns(&segments, ticks[i]), ns[i]);
}

static void test_the_curve_is_continuous_and_never_runs_backwards(void **state)
{
	int64_t last = INT64_MIN;
	uint64_t count, tick_ns;

	(void)state;
	/* Some processors count 25 million a second. */
	tick_ns = 1000000000 / clock_ticks_per_second(&segments) + 1;
	for (int i = 0; i < 40; i++) {
		speed = i % 2 ? 1.0005 : 0.9995;
		pass(100000);
		clock_anchor(&segments);
	}
	count = load_relaxed(&segments.count);
	for (uint64_t i = 1; i < count; i++) {
		const uint64_t from = segments.segment[i].from_ticks;

		for (uint64_t t = from - 20; t < from + 20; t++) {
			const int64_t ns = clock_ns(&segments, t);

			assert_true(ns >= last);
			if (t > from - 20)
				assert_in_range(ns - last, 0, tick_ns + 1);
			last = ns;
		}
	}
}

static void test_a_drift_is_followed(void **state)
{
	int64_t longest_ns = 0, last_ns = system_ns(CLOCK_MONOTONIC);

	(void)state;
	clock_anchor(&segments);
	speed = 1.0 + 2e-4;
	for (int i = 0; i < 12; i++) {
		int64_t now_ns;

		pass(5000000);
		clock_anchor(&segments);
		now_ns = system_ns(CLOCK_MONOTONIC);
		if (now_ns - last_ns > longest_ns)
			longest_ns = now_ns - last_ns;
		last_ns = now_ns;
	}
	/* 60 ms at 200 ppm would be 12 microseconds off. */
	assert_in_range(distance_now(), 0, 6000);
	/* The more, the longer another program kept us from an anchor. */
	assert_true(segments.error_ns < 100000 + longest_ns / 1000);
}

static void test_a_jump_ahead_is_followed_at_once(void **state)
{
	const uint64_t before = clock_ticks();
	const int64_t before_ns = clock_ns(&segments, before);

	(void)state;
	jump_ns = 3000000000;
	clock_anchor(&segments);
	assert_int_equal(segments.steps_back, 1);
	assert_in_range(distance_now(), 0, 1000000);
	assert_int_equal(clock_ns(&segments, before), before_ns);
}

static void test_a_jump_back_never_turns_time(void **state)
{
	int64_t last;

	(void)state;
	last = clock_ns(&segments, clock_ticks());
	jump_ns = -3000000000;
	for (int i = 0; i < 50; i++) {
		clock_anchor(&segments);
		const int64_t ns = clock_ns(&segments, clock_ticks());

		assert_true(ns >= last);
		last = ns;
	}
}

static void test_old_segments_give_way_to_new_ones(void **state)
{
	int64_t last = INT64_MIN;

	(void)state;
	memset(&segments, 0, sizeof(segments));
	segments.uses_counter = 1;
	for (uint64_t i = 0; i < 3 * CLOCK_SEGMENTS_MAX; i++) {
		segments.segment[i % CLOCK_SEGMENTS_MAX] =
			(struct clock_segment){.from_ticks = 1000 * i,
					       .from_ns = (int64_t)(2000 * i),
					       .ns_per_tick = 2.0};
		store_release(&segments.count, i + 1);
	}
	assert_int_equal(clock_ns(&segments, 3000000), 6000000);
	assert_int_equal(clock_ns(&segments, 2999999), 5999998);
	/* Before the oldest that is kept: on its line, still rising. */
	for (uint64_t ticks = 0; ticks < 3100000; ticks += 333) {
		const int64_t ns = clock_ns(&segments, ticks);

		assert_true(ns > last);
		last = ns;
	}
}

static void test_ticks_before_the_first_segment(void **state)
{
	(void)state;
	memset(&segments, 0, sizeof(segments));
	segments.uses_counter = 1;
	assert_int_equal(clock_ns(&segments, 5), 0); /* none yet */
	segments.segment[0] = (struct clock_segment){
		.from_ticks = 1000, .from_ns = 500, .ns_per_tick = 0.5};
	store_release(&segments.count, 1);
	assert_int_equal(clock_ns(&segments, 1000), 500);
	assert_int_equal(clock_ns(&segments, 800), 400);
	assert_int_equal(clock_ns(&segments, 1200), 600);
	assert_int_equal(clock_ticks_per_second(&segments), 2000000000);
}

static void test_without_the_counter_ticks_are_nanoseconds(void **state)
{
	(void)state;
	clock_choose(true);
	assert_int_equal(clock_uses_counter, 0);
	clock_start(&segments);
	const uint64_t ticks = clock_ticks();

	assert_int_equal(clock_ns(&segments, ticks), ticks);
	clock_anchor(&segments);
	assert_int_equal(load_relaxed(&segments.count), 1);
	assert_int_equal(clock_ticks_per_second(&segments), 1000000000);
	assert_int_equal(clock_due_in(&segments), UINT64_MAX);
	assert_true(clock_is_settled(&segments));
}

#define CLOCK_TEST(name)                                                       \
	cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLOCK_TEST(test_the_curve_is_near_the_system_clock),
		CLOCK_TEST(test_anchors_are_due_at_growing_distances),
		CLOCK_TEST(test_a_tick_value_always_gives_the_same_time),
		CLOCK_TEST(
			test_the_curve_is_continuous_and_never_runs_backwards),
		CLOCK_TEST(test_a_drift_is_followed),
		CLOCK_TEST(test_a_jump_ahead_is_followed_at_once),
		CLOCK_TEST(test_a_jump_back_never_turns_time),
		CLOCK_TEST(test_old_segments_give_way_to_new_ones),
		CLOCK_TEST(test_ticks_before_the_first_segment),
		CLOCK_TEST(test_without_the_counter_ticks_are_nanoseconds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
