/* SPDX-License-Identifier: MIT */
/*
 * test_thin.c - which sites are thinned, and what is left of their calls.
 *
 * The looks back are made by hand, at times of our own: a second is a second.
 */
#include "tests/unit/session_fixture.h"

#include "collector/session/thin.h"
#include "collector/steps/manual_window.h"
#include <string.h>

#define SLICE_PS   30000
#define REGION_PS  50000
#define MEMBER_PS  500000
#define THINNED_PS 15000

static struct session *session;
static struct thread *thread;
static uint64_t now;

static int set_up(void **state)
{
	(void)state;
	session = fixture_begin(4);
	session->head->cost.slice_ps = SLICE_PS;
	session->head->cost.region_ps = REGION_PS;
	session->head->cost.member_ps = MEMBER_PS;
	session->head->cost.thinned_ps = THINNED_PS;
	session->head->cost.marked_ps = THINNED_PS;
	thread = thread_here();
	now = 1000;
	assert_non_null(thin_site(thread, EVENT_OMP_REGION, 99, 0, 0));
	thin_look(thread, now);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	fixture_end(session);
	return 0;
}

static struct thin_site *region(uint64_t code)
{
	return thin_site(thread, EVENT_OMP_REGION, code, 8, 0);
}

static struct thin_site *barrier(void)
{
	return thin_site(thread, EVENT_OMP_WAIT, 0, 0, OMP_SYNC_BARRIER);
}

/* So many calls of a site: how many are drawn. */
static unsigned int call(struct thin_site *site, unsigned int calls)
{
	unsigned int drawn = 0;

	while (calls--) {
		thread->thin.left = THIN_CALLS; /* no look by itself */
		drawn += !thin_skips(thread, site);
	}
	return drawn;
}

/* A look so many microseconds after the last. */
static void look(double micros)
{
	const uint64_t rate = clock_ticks_per_second(&session->head->clock) + 1;

	now += (uint64_t)(micros * (double)rate / 1e6);
	thin_look(thread, now);
}

static void what_costs_little_is_left_alone(void **state)
{
	struct thin_site *site = region(1);

	(void)state;
	assert_ptr_equal(region(1), site);
	/* 50 ns of each us and a half: less than 5 %. */
	for (int i = 0; i < 20; i++) {
		assert_int_equal(call(site, 1000), 1000);
		look(1500);
	}
	assert_int_equal(site->mask, 0);
}

static void a_dear_site_is_thinned_after_two_looks(void **state)
{
	struct thin_site *site = region(1);

	(void)state;
	/* Of 200 ns even the marks are more than 5 %. */
	call(site, 1000);
	look(200);
	assert_int_equal(site->mask, 0);
	call(site, 1000);
	look(200);
	assert_int_equal(site->mask, THIN_MOST);
	/* Half of the share, eight times; and a first look in between. */
	for (unsigned int i = 0; i < THIN_UNDER; i++) {
		assert_int_equal(site->mask, THIN_MOST);
		call(site, 1024);
		look(1024 * 2.5);
	}
	assert_int_equal(site->mask, 0);
	/* 50 of 550 ns are 9 %: with every second it is too much. */
	for (unsigned int i = 0; i < THIN_OVER; i++) {
		call(site, 1024);
		look(1024 * 0.55);
	}
	assert_int_equal(site->mask, 3);
	assert_int_equal(call(site, 1024), 256);
}

static void a_single_slow_look_changes_nothing(void **state)
{
	struct thin_site *site = region(1);

	(void)state;
	for (int i = 0; i < 20; i++) {
		call(site, 1000);
		look(i % 2 ? 200 : 2000);
	}
	assert_int_equal(site->mask, 0);
}

static void waits_go_first_and_what_is_rare_stays(void **state)
{
	struct thin_site *often = region(1);
	struct thin_site *rare = region(2);
	struct thin_site *wait = barrier();

	(void)state;
	/* 50 ns each and 30 for the wait, of 1.2 us. */
	for (int i = 0; i < 2; i++) {
		call(often, 1000);
		call(wait, 1000);
		call(rare, 10);
		look(1200);
	}
	assert_int_equal(wait->mask, THIN_ALL);
	assert_int_equal(often->mask, 1);
	assert_int_equal(rare->mask, 0);
	call(wait, 1);
	assert_int_equal(call(wait, 100), 0);
}

static void a_team_costs_more(void **state)
{
	struct thin_site *site = region(1);

	(void)state;
	site->team = 2;
	/* 500 ns of 6 us. */
	for (int i = 0; i < 2; i++) {
		call(site, 1000);
		look(6000);
	}
	assert_int_equal(site->mask, 1);
}

static void without_a_bound_there_are_no_sites(void **state)
{
	(void)state;
	session->head->options.max_overhead = 0;
	thread->thin.sites = 0;
	assert_null(region(1));
	assert_false(thin_skips(thread, NULL));
}

/* As while the step is searched for. */
static void leave_marks(void)
{
	assert_true(
		search_move(&session->head->search, SEARCH_NONE, SEARCH_ON));
	look(1);
	assert_int_equal(thread->thin.sums, 0);
}

static void four_marks_are_one_event(void **state)
{
	struct thin_site *site = region(0x4000);
	struct ring_walk reader = {0};
	const struct event *event;

	(void)state;
	leave_marks();
	for (uint64_t i = 0; i < 5; i++)
		assert_true(
			thin_mark(thread, site, 100 + 10 * i, 103 + 11 * i));
	event = ring_walk_next(&reader, session, &thread->ring);
	assert_non_null(event);
	assert_int_equal(event->kind, EVENT_OMP_THINNED);
	assert_int_equal(event->name, 4);
	assert_int_equal(event->extra, 0);
	assert_int_equal(event->end_ticks, 136);
	for (unsigned int i = 0; i < 4; i++) {
		const uint64_t mark = event->words[i];

		assert_int_equal(event_mark_start(event, i), 100 + 10 * i);
		assert_int_equal(event_mark_took(mark), 3 + i);
		assert_ptr_equal(&thin_sites(thread)[event_mark_site(mark)],
				 site);
	}
	assert_null(ring_walk_next(&reader, session, &thread->ring));
	assert_int_equal(thread->ring.committed, 5);
	/* One that is too far off begins an event of its own. */
	assert_true(thin_mark(thread, site, UINT64_C(1) << 40,
			      (UINT64_C(1) << 40) + 1));
	event = ring_walk_next(&reader, session, &thread->ring);
	assert_non_null(event);
	assert_int_equal(event->name, 1);
	assert_int_equal(event->extra, 4);
	/* And one that is too long is none. */
	assert_false(thin_mark(thread, site, 1, UINT64_C(1) << 33));
	thread_leave();
	event = ring_walk_next(&reader, session, &thread->ring);
	assert_non_null(event);
	assert_int_equal(event_mark_start(event, 0), UINT64_C(1) << 40);
}

/* They come as they end: the inner one first. */
static void marks_of_calls_in_each_other(void **state)
{
	static const uint64_t starts[] = {200, 150, 400, 100};
	struct thin_site *site = region(0x4000);
	struct ring_walk reader = {0};
	const struct event *event;

	(void)state;
	leave_marks();
	for (uint64_t i = 0; i < 4; i++)
		assert_true(thin_mark(thread, site, starts[i], 500 + i));
	event = ring_walk_next(&reader, session, &thread->ring);
	assert_non_null(event);
	assert_int_equal(event->name, 4);
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(event_mark_start(event, i), starts[i]);
		assert_int_equal(event_mark_took(event->words[i]),
				 500 + i - starts[i]);
	}
}

static void marks_without_room_are_refused_one_by_one(void **state)
{
	struct thin_site *site = region(1);
	uint64_t marked = 0;

	(void)state;
	leave_marks();
	while (!thread->ring.dropped[EVENT_OMP_REGION]) {
		thin_mark(thread, site, marked, marked + 1);
		assert_true(++marked < 10000000);
	}
	assert_int_equal(thread->ring.dropped[EVENT_OMP_REGION], 4);
	assert_int_equal(thread->ring.committed + 4, marked);
}

static void fill_ring(void)
{
	while (ring_reserve(&thread->ring, 1))
		ring_commit(&thread->ring, 1, 1);
}

/* A call of a site that is thinned, from then on for so long. */
static bool add(struct thin_site *site, uint64_t start, uint64_t took)
{
	return thin_add(thread, site, start, start + took) ||
	       thin_mark(thread, site, start, start + took);
}

static void expect_sums(const struct event *event, const struct thin_site *site,
			uint32_t first, uint32_t calls, uint64_t all,
			uint64_t least, uint64_t most)
{
	assert_non_null(event);
	assert_int_equal(event->kind, EVENT_OMP_THINNED);
	assert_int_equal(event->flags, EVENT_IN_SUMS);
	assert_ptr_equal(&thin_sites(thread)[event->outlined_offset], site);
	assert_int_equal(event->extra, first);
	assert_int_equal(event->name, calls);
	assert_int_equal(event->words[EVENT_SUM_ALL], all);
	assert_int_equal(event->words[EVENT_SUM_LEAST], least);
	assert_int_equal(event->words[EVENT_SUM_MOST], most);
}

static void sums_are_told_at_a_look_and_when_a_window_opens(void **state)
{
	struct thin_site *site = region(0x4000), *other = barrier();
	struct window_state *windows = &session->head->windows;
	struct ring_walk reader = {0};

	(void)state;
	assert_int_equal(window_open(windows, 50, -1, 0, false), 0);
	add_relaxed(&gate_page.openings, 1);
	/* Neither the least nor the most comes last. */
	for (uint64_t i = 0; i < 5; i++)
		assert_true(add(site, 100, 3 + (i + 2) * 2 % 5));
	assert_true(add(other, 100, 0));
	/* What began before the window did is to be drawn. */
	assert_false(add(site, 49, 10));
	assert_false(add(site, 100, UINT64_C(1) << 32));
	assert_int_equal(thread->ring.committed, 6);
	assert_null(ring_walk_next(&reader, session, &thread->ring));
	look(1);
	expect_sums(ring_walk_next(&reader, session, &thread->ring), site, 0, 5,
		    25, 3, 7);
	expect_sums(ring_walk_next(&reader, session, &thread->ring), other, 5,
		    1, 0, 0, 0);
	assert_null(ring_walk_next(&reader, session, &thread->ring));
	assert_true(add(site, 100, 9));
	assert_int_equal(window_close(windows, 200, -1), 0);
	assert_int_equal(window_open(windows, 300, -1, 0, false), 0);
	add_relaxed(&gate_page.openings, 1);
	/* The first call of the new window: those of the old one go. */
	assert_true(add(site, 300, 4));
	expect_sums(ring_walk_next(&reader, session, &thread->ring), site, 6, 1,
		    9, 9, 9);
	assert_false(add(site, 299, 4));
	thread_leave();
	expect_sums(ring_walk_next(&reader, session, &thread->ring), site, 7, 1,
		    4, 4, 4);
}

static struct thin_site *early;

/* A call that ends while the gate is open and its window isn't known yet. */
static void call_early(bool open)
{
	if (open)
		add(early, 100, 1);
}

static void sums_are_of_the_window_that_opens_after_the_gate(void **state)
{
	struct window_state *windows = &session->head->windows;
	struct ring_walk reader = {0};
	const struct event *event;

	(void)state;
	early = region(0x4000);
	assert_int_equal(window_open(windows, 50, -1, 0, false), 0);
	assert_int_equal(window_close(windows, 60, -1), 0);
	gate_on_change(GATE_INTERPRETER, call_early);
	assert_int_equal(manual_open(session, -1, 0, true), 0);
	gate_on_change(GATE_INTERPRETER, NULL);
	gate_record(false);
	/* What began before the window did is to be drawn. */
	assert_false(add(early, windows->window[1].start_ticks - 1, 5));
	assert_true(add(early, windows->window[1].start_ticks, 4));
	thread_leave();
	expect_sums(ring_walk_next(&reader, session, &thread->ring), early, 0,
		    1, 1, 1, 1);
	event = ring_walk_next(&reader, session, &thread->ring);
	expect_sums(event, early, 1, 1, 4, 4, 4);
	assert_true(event->start_ticks >= windows->window[1].start_ticks);
}

static void sums_without_room_wait(void **state)
{
	struct thin_site *site = region(1);

	(void)state;
	assert_int_equal(window_open(&session->head->windows, 1, -1, 0, false),
			 0);
	add_relaxed(&gate_page.openings, 1);
	fill_ring();
	assert_true(add(site, 100, 5));
	look(1);
	assert_int_equal(site->count, 1);
	thread_leave();
	/* Then there is no later. */
	assert_int_equal(thread->ring.dropped[EVENT_OMP_REGION], 1);
}

static void more_sites_than_there_is_room_for(void **state)
{
	unsigned int found = 0;

	(void)state;
	for (uint64_t code = 1; code <= 2000; code++)
		found += region(code) != NULL;
	assert_in_range(found, THIN_SITES / 2, THIN_SITES);
	assert_ptr_equal(region(1), region(1));
}

#define THIN_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		THIN_TEST(what_costs_little_is_left_alone),
		THIN_TEST(a_dear_site_is_thinned_after_two_looks),
		THIN_TEST(a_single_slow_look_changes_nothing),
		THIN_TEST(waits_go_first_and_what_is_rare_stays),
		THIN_TEST(a_team_costs_more),
		THIN_TEST(without_a_bound_there_are_no_sites),
		THIN_TEST(four_marks_are_one_event),
		THIN_TEST(marks_of_calls_in_each_other),
		THIN_TEST(marks_without_room_are_refused_one_by_one),
		THIN_TEST(sums_are_told_at_a_look_and_when_a_window_opens),
		THIN_TEST(sums_are_of_the_window_that_opens_after_the_gate),
		THIN_TEST(sums_without_room_wait),
		THIN_TEST(more_sites_than_there_is_room_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
