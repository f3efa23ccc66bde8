/* SPDX-License-Identifier: MIT */
/*
 * test_cupti_clock.c - times of CUPTI's own clock, which is played here: it
 * goes at its own rate, and is set forwards and back.
 */
#include "tests/unit/cmocka_base.h"

#ifdef HAVE_CUPTI
#include "preload/cuda/cupti_clock.h"
#include "collector/system/cupti_versions.h"
#include "preload/cuda/cupti_source.h"
#include "tests/unit/session_fixture.h"
#include <unistd.h>

#define HOUR_NS INT64_C(3600000000000)
#define MOST_NS 20000.0

static double rate;
static int64_t offset;
static uint64_t origin;

static uint64_t time_at(uint64_t ticks)
{
	const struct session *session = load_relaxed(&session_here);
	const double ns = (double)(ticks - origin) * 1e9 /
			  (double)clock_ticks_per_second(&session->head->clock);

	return (uint64_t)(2 * HOUR_NS + offset + (int64_t)(ns * rate));
}

static CUptiResult CUPTIAPI timestamp(uint64_t *time)
{
	*time = time_at(clock_ticks());
	return CUPTI_SUCCESS;
}

static bool is_ours(void)
{
	return true;
}

static struct session *begin(double its_rate)
{
	struct session *session = fixture_begin(4);

	cupti.cuptiGetTimestamp = timestamp;
	cupti_versions_start(130001);
	cupti_clock_forget();
	rate = its_rate;
	offset = 0;
	origin = clock_ticks();
	assert_int_equal(cupti_clock_start(), 0);
	return session;
}

static void assert_is(uint64_t time, uint64_t ticks)
{
	const struct session *session = load_relaxed(&session_here);
	const double off =
		(double)(int64_t)(cupti_clock_ticks(time) - ticks) * 1e9 /
		(double)clock_ticks_per_second(&session->head->clock);

	assert_true(off < MOST_NS && off > -MOST_NS);
}

static void between_two_readings(void **state)
{
	struct session *session = begin(1.0001);
	uint64_t ticks[3], time[3];

	(void)state;
	for (int i = 0; i < 3; i++) {
		usleep(3000);
		ticks[i] = clock_ticks();
		time[i] = time_at(ticks[i]);
		usleep(3000);
		cupti_clock_pair(is_ours);
	}
	for (int i = 2; i >= 0; i--)
		assert_is(time[i], ticks[i]);
	assert_int_equal(cupti_clock_ticks(0), 0);
	fixture_end(session);
}

/* What was recorded before and what comes after have a line each. */
static void across_a_setting(int64_t by)
{
	struct session *session = begin(1);
	uint64_t before, after, time_before, time_after;

	usleep(2000);
	before = clock_ticks();
	time_before = time_at(before);
	cupti_clock_pair(is_ours);
	offset = by;
	usleep(2000);
	cupti_clock_pair(is_ours);
	usleep(2000);
	after = clock_ticks();
	time_after = time_at(after);
	cupti_clock_pair(is_ours);
	assert_is(time_after, after);
	assert_is(time_before, before);
	assert_int_equal(load_relaxed(&session->head->note_count), 1);
	fixture_end(session);
}

/* Two calls, one after the other, whose buffers are decoded one after the
 * other: the second doesn't begin inside the first. */
static void told_without_a_reading(void **state)
{
	struct session *session = begin(1);
	struct clock_segments *clock = &session->head->clock;
	uint64_t first, time;

	(void)state;
	clock->uses_counter = 1;
	usleep(20000);
	time = time_at(clock_ticks());
	first = cupti_clock_ticks(time);
	/* Our own clock is known better in between. */
	clock->segment[load_relaxed(&clock->count) - 1].ns_per_tick *= 1.001;
	assert_true(cupti_clock_ticks(time + 1) >= first);
	fixture_end(session);
}

static void a_reading_later_on(void **state)
{
	struct session *session = begin(1);
	uint64_t first, time, last;

	(void)state;
	usleep(2000);
	cupti_clock_pair(is_ours);
	usleep(2000);
	time = time_at(clock_ticks());
	first = cupti_clock_ticks(time);
	/* It went faster, as far as a clock does that is set right. */
	offset = 50000;
	usleep(1000);
	cupti_clock_pair(is_ours);
	last = cupti_clock_ticks(time + 1);
	assert_true(last >= first);
	usleep(1000);
	cupti_clock_pair(is_ours);
	assert_true(cupti_clock_ticks(time + 2) >= last);
	assert_is(time, first);
	fixture_end(session);
}

/* What lies ahead is another's: no reading would come after it. */
static void a_time_that_lies_ahead(void **state)
{
	struct session *session = begin(1.0005);
	uint64_t ticks, time;

	(void)state;
	cupti_clock_ticks(time_at(clock_ticks()) + 1000 * HOUR_NS);
	usleep(100000);
	ticks = clock_ticks();
	time = time_at(ticks);
	cupti_clock_pair(is_ours);
	assert_is(time, ticks);
	fixture_end(session);
}

/* What was recorded before another took CUPTI is decoded after that. */
static bool is_anothers(void)
{
	return false;
}

static void the_last_reading_before_another(void **state)
{
	struct session *session = begin(1.0005);
	uint64_t ticks, time;

	(void)state;
	usleep(100000);
	ticks = clock_ticks();
	time = time_at(ticks);
	cupti_clock_leave(is_ours);
	offset = 40 * HOUR_NS;
	cupti_clock_pair(is_anothers);
	/* It came before we had left. */
	cupti_clock_leave(is_anothers);
	cupti_clock_pair(is_anothers);
	assert_is(time, ticks);
	assert_int_equal(load_relaxed(&session->head->note_count), 0);
	fixture_end(session);
}

static void set_forwards(void **state)
{
	(void)state;
	across_a_setting(HOUR_NS);
}

static void set_back(void **state)
{
	(void)state;
	across_a_setting(-HOUR_NS);
}

static struct event call_at(uint64_t correlation, uint64_t start)
{
	return (struct event){.kind = EVENT_GPU_API,
			      .extra = 42,
			      .start_ticks = start,
			      .end_ticks = start + 10,
			      .api.correlation = correlation};
}

/* Those around the setting have the same times; records come in any order. */
static void calls_stay_apart_where_it_was_set_back(void **state)
{
	struct session *session = begin(1);
	struct event out[CUPTI_PAIRS_OUT];
	struct event first = call_at(5, 1000), second = call_at(6, 1002),
		     earlier = call_at(4, 900);
	uint64_t doubled = 0;

	(void)state;
	second.end_ticks = 1010;
	cupti_pairs_forget();
	cupti_pairs_add(&first, out, &doubled);
	cupti_pairs_add(&second, out, &doubled);
	/* It may have been made by the first. */
	assert_int_equal(out[0].start_ticks, 1002);
	offset = -HOUR_NS;
	cupti_clock_pair(is_ours);
	cupti_pairs_forget();
	cupti_pairs_add(&first, out, &doubled);
	cupti_pairs_add(&second, out, &doubled);
	assert_int_equal(out[0].start_ticks, 1010);
	assert_int_equal(out[0].end_ticks, 1010);
	cupti_pairs_add(&earlier, out, &doubled);
	assert_int_equal(out[0].start_ticks, 900);
	assert_int_equal(out[0].end_ticks, 910);
	cupti_pairs_forget();
	fixture_end(session);
}

/* Forward and back between two readings: the calls tell. */
static void calls_that_cross_were_timed_by_a_clock_that_was_set(void **state)
{
	static const uint64_t starts[] = {995, 1005};

	(void)state;
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		struct session *session = begin(1);
		struct event out[CUPTI_PAIRS_OUT];
		struct event first = call_at(5, 1000);
		struct event second = call_at(6, starts[i]);
		uint64_t doubled = 0;

		cupti_pairs_forget();
		cupti_pairs_add(&first, out, &doubled);
		assert_false(cupti_clock_was_set());
		cupti_pairs_add(&second, out, &doubled);
		assert_int_equal(out[0].start_ticks, 1010);
		assert_true(out[0].end_ticks >= 1010);
		assert_int_equal(load_relaxed(&session->head->note_count), 1);
		cupti_pairs_forget();
		fixture_end(session);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(between_two_readings),
		cmocka_unit_test(told_without_a_reading),
		cmocka_unit_test(a_reading_later_on),
		cmocka_unit_test(a_time_that_lies_ahead),
		cmocka_unit_test(the_last_reading_before_another),
		cmocka_unit_test(set_forwards),
		cmocka_unit_test(set_back),
		cmocka_unit_test(calls_stay_apart_where_it_was_set_back),
		cmocka_unit_test(
			calls_that_cross_were_timed_by_a_clock_that_was_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	return cmocka_skip_all("no CUPTI without CUDA's headers");
}

#endif
