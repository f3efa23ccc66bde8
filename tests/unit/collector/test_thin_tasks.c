/* SPDX-License-Identifier: MIT */
/*
 * test_thin_tasks.c - what is drawn in the place of tasks that are not: here a
 * task or a wait is its beginning and its end, at times of our own.
 */
#include "tests/unit/session_fixture.h"

#include "collector/session/thin_tasks.h"

#define LONG 1000u /* ticks */

static struct session *session;
static struct thread *thread;

static int set_up(void **state)
{
	(void)state;
	session = fixture_begin(4);
	thread = thread_here();
	thread->thin.long_ticks = LONG;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	fixture_end(session);
	return 0;
}

static void commit(enum event_kind kind, uint64_t start, uint64_t end)
{
	struct event *event = ring_reserve(&thread->ring, 1);

	assert_non_null(event);
	*event = (struct event){
		.kind = kind, .start_ticks = start, .end_ticks = end};
	ring_commit(&thread->ring, 1, 1);
}

/* The nth event that is a slice; NULL: there are fewer. */
static const struct event *slice(unsigned int nth)
{
	struct ring_walk walk = {0};
	const struct event *event;

	while ((event = ring_walk_next(&walk, session, &thread->ring)))
		if (event_is_on_lane(event->kind) && !nth--)
			return event;
	return NULL;
}

static void expect_slice(unsigned int nth, enum event_kind kind, uint64_t start,
			 uint64_t end)
{
	const struct event *event = slice(nth);

	assert_non_null(event);
	assert_int_equal(event->kind, kind);
	assert_int_equal(event->start_ticks, start);
	assert_int_equal(event->end_ticks, end);
}

/* A task of this code ends.  True if it is drawn. */
static bool ends(const struct thin_frame *frame, uint64_t code, uint64_t start,
		 uint64_t end)
{
	const uint64_t bare = thin_bare(thread, frame, end - start);
	const bool is_drawn = thin_draws(thread, frame, bare, 0);

	thin_leave(thread, frame);
	if (is_drawn) {
		thread->thin.frame.covered = frame->covered + end - start;
		commit(EVENT_OMP_EXPLICIT, start, end);
	} else {
		thin_task_left(thread, bare, code, 7, end);
	}
	return is_drawn;
}

static bool task(uint64_t code, uint64_t start, uint64_t end)
{
	struct thin_frame frame;

	thin_enter(thread, &frame);
	return ends(&frame, code, start, end);
}

/* So many of 100 ticks each, every 200 ticks, from there on. */
static void tasks(unsigned int count, uint64_t start)
{
	for (unsigned int i = 0; i < count; i++)
		assert_false(task(5, start + 200 * i, start + 200 * i + 100));
}

static void short_ones_in_a_row_are_one_slice(void **state)
{
	(void)state;
	commit(EVENT_OMP_IMPLICIT, 100, 1000);
	tasks(THIN_ROW * LONG / 100 - 1, 2000);
	assert_null(slice(1));
	tasks(1, 100000);
	expect_slice(1, EVENT_OMP_TASKS, 1000, 1000 + THIN_ROW * LONG);
	assert_int_equal(slice(1)->omp.code, 5);
	assert_int_equal(slice(1)->omp.region, 7);
	assert_int_equal(slice(1)->outlined_offset, 0);
	assert_int_equal(thread->thin.frame.bare, 0);
	assert_int_equal(thread->thin.frame.covered, THIN_ROW * LONG);
}

static void a_row_begins_behind_what_is_there(void **state)
{
	(void)state;
	commit(EVENT_SCOPE, 100, 3000);
	commit(EVENT_HEAP_ALLOC, 5000, 5000);
	tasks(4, 4000);
	thin_show(thread, 0, 4800);
	expect_slice(1, EVENT_OMP_TASKS, 3000, 3400);
	/* Inside of what is open, and no longer than until now. */
	thread_open(thread, EVENT_OMP_WAIT, 6000, 0, 1, 7, 0);
	tasks(4, 6100);
	thin_show(thread, 0, 6300);
	expect_slice(2, EVENT_OMP_TASKS, 6000, 6300);
	assert_int_equal(thread->thin.frame.bare, 100);
}

/* Nothing is known of slices that lie in other chunks. */
static void without_a_slice_before_it_there_is_none(void **state)
{
	(void)state;
	tasks(4, 4000);
	thin_show(thread, 0, 4800);
	assert_null(slice(0));
	assert_int_equal(thread->thin.frame.bare, 400);
}

/* A slice is the last in its chunk, and the first in the next one are marks of
 * calls from before it. */
static void marks_from_before_a_slice_are_not_behind_it(void **state)
{
	struct thin_site *site = thin_site(thread, EVENT_OMP_CREATE, 3, 0, 0);
	const uint64_t late = 2 * EVENT_MARK_AFTER_MAX;
	unsigned int slices = 1;

	(void)state;
	assert_true(thin_mark(thread, site, 1100, 1100));
	commit(EVENT_OMP_WAIT, 1200, 1300);
	while (thread->ring.stop - thread->ring.next >
	       (int64_t)sizeof(struct event)) {
		commit(EVENT_OMP_WAIT, 1200, 1300);
		slices++;
	}
	commit(EVENT_OMP_EXPLICIT, 1400, late);
	tasks(4, late + 100);
	assert_true(thin_mark(thread, site, late + 900, late + 900));
	thin_show(thread, 0, late + 1500);
	expect_slice(slices + 1, EVENT_OMP_TASKS, late + 900, late + 1300);
}

static void a_long_one_is_drawn(void **state)
{
	(void)state;
	assert_false(task(5, 1000, 1000 + LONG - 1));
	assert_true(task(5, 3000, 3000 + LONG));
	expect_slice(0, EVENT_OMP_EXPLICIT, 3000, 3000 + LONG);
	assert_int_equal(thread->thin.frame.bare, LONG - 1);
}

/* What counts is the time that lies in no task which is drawn. */
static void a_task_around_one_that_is_drawn(void **state)
{
	struct thin_frame outer, inner;

	(void)state;
	thin_enter(thread, &outer);
	thin_enter(thread, &inner);
	assert_true(ends(&inner, 5, 1100, 1100 + 2 * LONG));
	assert_int_equal(thin_bare(thread, &outer, 2 * LONG + 200), 200);
	/* Where it is, a short one would leave it floating in a wait. */
	assert_true(thin_draws(thread, &outer, 200, 0));
	assert_false(thin_draws(thread, &outer, 200, THIN_DEEP));
	assert_true(ends(&outer, 5, 1000, 1200 + 2 * LONG));
	assert_int_equal(thread->thin.frame.covered, 2 * LONG + 200);
}

static void blocks_are_no_slices(void **state)
{
	struct thin_frame frame;

	(void)state;
	commit(EVENT_OMP_IMPLICIT, 100, 1000);
	thin_enter(thread, &frame);
	commit(EVENT_HEAP_ALLOC, 2000, 2000);
	assert_false(thin_holds_slice(thread, &frame));
	commit(EVENT_SCOPE, 2000, 2100);
	assert_true(thin_holds_slice(thread, &frame));
	assert_true(ends(&frame, 5, 1900, 2200));
}

static void a_wait_knows_its_tasks(void **state)
{
	struct thin_frame wait;

	(void)state;
	commit(EVENT_OMP_IMPLICIT, 100, 1000);
	tasks(2, 1000);
	thin_enter(thread, &wait);
	tasks(3, 2000);
	assert_true(task(5, 4000, 4000 + LONG));
	assert_int_equal(thin_tasks_ticks(thread, &wait), 300 + LONG);
	thin_show(thread, 0, 9000);
	assert_int_equal(thin_tasks_ticks(thread, &wait), 300 + LONG);
	expect_slice(2, EVENT_OMP_TASKS, 4000 + LONG, 4300 + LONG);
	thin_leave(thread, &wait);
	assert_int_equal(thread->thin.frame.bare, 200);
}

static void waits_of_a_task_become_one(void **state)
{
	struct thin_frame frame;

	(void)state;
	commit(EVENT_OMP_IMPLICIT, 100, 1000);
	thin_enter(thread, &frame);
	thread->thin.frame.idle += LONG / THIN_PART;
	thin_waits(thread, frame.idle, LONG, 7, 2000, 2000 + LONG);
	assert_null(slice(1));
	thread->thin.frame.idle += 1;
	thin_waits(thread, frame.idle, LONG, 7, 2000, 2000 + LONG);
	expect_slice(1, EVENT_OMP_WAITS, 2000, 2000 + LONG / THIN_PART + 1);
	assert_int_equal(slice(1)->omp.region, 7);
	assert_int_equal(thread->thin.frame.idle, frame.idle);
}

static void a_row_of_two_codes(void **state)
{
	(void)state;
	commit(EVENT_OMP_IMPLICIT, 100, 1000);
	task(5, 1000, 1100);
	task(9, 1200, 1300);
	task(5, 1400, 1500);
	thin_show(thread, 0, 1500);
	expect_slice(1, EVENT_OMP_TASKS, 1000, 1300);
	assert_int_equal(slice(1)->omp.code, 5);
	assert_int_equal(slice(1)->outlined_offset, 4);
	task(5, 1600, 1700);
	task(9, 1800, 1900);
	task(11, 2000, 2100);
	task(5, 2200, 2300);
	thin_show(thread, 0, 2300);
	assert_int_equal(slice(2)->omp.code, 0);
	assert_int_equal(slice(2)->outlined_offset, 0);
	/* Forgotten with the slice. */
	task(11, 2400, 2500);
	thin_show(thread, 0, 2500);
	assert_int_equal(slice(3)->omp.code, 11);
}

#define ROW(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROW(short_ones_in_a_row_are_one_slice),
		ROW(a_row_begins_behind_what_is_there),
		ROW(without_a_slice_before_it_there_is_none),
		ROW(marks_from_before_a_slice_are_not_behind_it),
		ROW(a_long_one_is_drawn),
		ROW(a_task_around_one_that_is_drawn),
		ROW(blocks_are_no_slices),
		ROW(a_wait_knows_its_tasks),
		ROW(waits_of_a_task_become_one),
		ROW(a_row_of_two_codes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
