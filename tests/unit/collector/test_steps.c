/* SPDX-License-Identifier: MIT */
/*
 * test_steps.c - marks, steps and the windows that they open, over a real
 * session: every small schedule against the same reference as the table, then
 * divisors, threads, the timer and windows by hand.
 */
#include "tests/unit/session_fixture.h"

#include "collector/session/gate.h"
#include "collector/session/names.h"
#include "collector/steps/manual_window.h"
#include "collector/steps/steps.h"
#include "tests/unit/schedule_reference.h"
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define TICKS(step) (1000u + 10u * (uint64_t)(step))

static struct session *session;
static struct thread *thread;
static struct ring_walk reader;

static void set(const char *name, int64_t value)
{
	char text[32];
	char why[256];

	snprintf(text, sizeof(text), "%lld", (long long)value);
	assert_int_equal(options_set(&session->head->options, name, text, why,
				     sizeof(why)),
			 0);
}

static void set_step(const char *text)
{
	char why[256];

	assert_int_equal(options_set(&session->head->options, "STEP", text, why,
				     sizeof(why)),
			 0);
}

static int set_up(void **state)
{
	(void)state;
	session = fixture_begin(64);
	thread = thread_here();
	memset(&reader, 0, sizeof(reader));
	gate_set_record(GATE_OMP);
	gate_set(GATE_CLOSED);
	set_step("api");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	steps_forget();
	fixture_end(session);
	return 0;
}

static const struct event *next_event(void)
{
	return ring_walk_next(&reader, session, &thread->ring);
}

static void expect_step(int64_t number, uint64_t start, uint64_t end,
			unsigned int flags)
{
	const struct event *event = next_event();

	assert_non_null(event);
	assert_int_equal(event->kind, EVENT_STEP);
	assert_int_equal(event->step.number, number);
	assert_int_equal(event->start_ticks, start);
	assert_int_equal(event->end_ticks, end);
	assert_int_equal(event->flags, flags);
	assert_int_equal(event->extra, thread->tid);
}

static uint64_t windows_opened(void)
{
	return load_relaxed(&session->head->windows.opened);
}

/* When each step was marked, and from when on it is counted. */
static uint64_t marked[REFERENCE_STEPS + 1];
static uint64_t begun[REFERENCE_STEPS];

/* The windows must be the reference's runs of one cycle. */
static void expect_windows(const struct schedule_reference *reference)
{
	struct window_state *windows = &session->head->windows;
	uint64_t count = 0;

	for (int64_t first = 0; first < REFERENCE_STEPS;) {
		const struct window *window = &windows->window[count];
		int64_t last = first;

		if (reference->cycle[first] < 0) {
			first++;
			continue;
		}
		while (last + 1 < REFERENCE_STEPS &&
		       reference->cycle[last + 1] == reference->cycle[first])
			last++;
		assert_true(count < windows_opened());
		assert_int_equal(window->first_step, first);
		assert_int_equal(window->last_step, last);
		/* Not before the gate was open, and with its first step. */
		assert_true(window->start_ticks > marked[first]);
		assert_int_equal(window->start_ticks, begun[first]);
		assert_int_equal(load_relaxed(&window->end_ticks),
				 marked[last + 1]);
		assert_int_equal(window->cycle, count);
		count++;
		first = last + 1;
	}
	assert_int_equal(windows_opened(), count);
}

static void drive(const struct schedule *schedule, void *arg)
{
	struct schedule_reference reference;

	(*(int *)arg)++;
	reference_fill(&reference, schedule);
	memset(&session->head->windows, 0, sizeof(session->head->windows));
	gate_set(GATE_CLOSED);
	set("SKIP_FIRST", schedule->skip_first);
	set("SKIP_FIRST_WAIT", schedule->skip_first_wait);
	set("WAIT", schedule->wait);
	set("WARMUP", schedule->warmup);
	set("ACTIVE", schedule->active);
	set("REPEAT", schedule->repeat);
	steps_start(session, clock_ticks());
	assert_int_equal(windows_opened(), 0);
	for (int64_t step = 0; step < REFERENCE_STEPS; step++) {
		marked[step] = clock_ticks();
		steps_mark(session, thread, marked[step]);
		begun[step] = session->head->windows.step_start_ticks;
		assert_int_equal(gate_is_recording(),
				 reference.cycle[step] >= 0);
	}
	marked[REFERENCE_STEPS] = clock_ticks();
	steps_end(session, thread, marked[REFERENCE_STEPS]);
	assert_false(gate_is_recording());
	expect_windows(&reference);
	for (int64_t step = 0; step < REFERENCE_STEPS; step++) {
		if (reference.cycle[step] >= 0)
			expect_step(step, begun[step], marked[step + 1],
				    step == REFERENCE_STEPS - 1
					    ? EVENT_UNFINISHED
					    : 0);
	}
	assert_null(next_event());
}

static void test_every_small_schedule_opens_its_windows(void **state)
{
	int schedules = 0;

	(void)state;
	reference_each(drive, &schedules);
	assert_int_equal(schedules, 1152);
	assert_int_equal(thread->ring.dropped[EVENT_STEP], 0);
}

static void test_a_window_without_a_place_is_missed_once(void **state)
{
	struct window_state *windows = &session->head->windows;

	(void)state;
	set("WAIT", 1);
	set("ACTIVE", 2);
	steps_start(session, clock_ticks());
	for (int64_t step = 0; step < 3 * (WINDOWS_MAX + 6); step++) {
		steps_mark(session, thread, clock_ticks());
		/* There is a place again in the middle of the last one. */
		if (step == 3 * (WINDOWS_MAX + 5) + 1)
			store_relaxed(&windows->written, 1);
	}
	assert_int_equal(windows_opened(), WINDOWS_MAX);
	assert_int_equal(load_relaxed(&windows->missed), 6);
	assert_false(gate_is_recording());
}

static void test_without_a_schedule_the_whole_run_is_one_window(void **state)
{
	struct window_state *windows = &session->head->windows;

	(void)state;
	steps_start(session, clock_ticks());
	assert_true(gate_is_recording());
	assert_int_equal(windows_opened(), 1);
	for (int step = 0; step < 3; step++)
		steps_mark(session, thread, TICKS(step));
	steps_end(session, thread, TICKS(3));
	assert_int_equal(windows_opened(), 1);
	assert_int_equal(windows->window[0].first_step, -1);
	assert_int_equal(windows->window[0].last_step, 2);
	expect_step(0, TICKS(0), TICKS(1), 0);
	expect_step(1, TICKS(1), TICKS(2), 0);
	expect_step(2, TICKS(2), TICKS(3), EVENT_UNFINISHED);
	steps_end(session, thread, TICKS(4)); /* nothing is open any more */
	assert_null(next_event());
}

/* A search that found a step late said what is past; the program's own steps
 * count from 0, unless the thread had counted the found ones. */
static void own_call_after(bool is_counted, int64_t first)
{
	struct step_search *search = &session->head->search;

	memset(&session->head->windows, 0, sizeof(session->head->windows));
	memset(search, 0, sizeof(*search));
	set_step("auto");
	set("WAIT", 1);
	set("ACTIVE", 1);
	steps_start(session, clock_ticks());
	search->passed = 5;
	store_relaxed(&search->live_ticks, is_counted);
	assert_true(steps_own_call(session, thread));
	for (int step = 0; step < 10; step++)
		steps_mark(session, thread, TICKS(step));
	assert_int_equal(session->head->windows.window[0].first_step, first);
	assert_int_equal(search->passed, is_counted ? 5 : 0);
}

static void test_an_own_call_begins_the_schedule_anew(void **state)
{
	(void)state;
	own_call_after(false, 1);
	own_call_after(true, 6);
}

static void test_a_run_without_steps_ends_its_window(void **state)
{
	(void)state;
	steps_start(session, clock_ticks());
	steps_end(session, thread, 77);
	assert_null(next_event());
	assert_int_equal(
		load_relaxed(&session->head->windows.window[0].end_ticks), 77);
	assert_int_equal(session->head->windows.window[0].last_step, -1);
}

static void test_every_nth_mark_begins_a_step(void **state)
{
	(void)state;
	set_step("api/4");
	steps_start(session, clock_ticks());
	for (int mark = 0; mark < 10; mark++)
		steps_mark(session, thread, TICKS(mark));
	assert_int_equal(load_relaxed(&session->head->windows.marks), 10);
	assert_int_equal(load_relaxed(&session->head->windows.steps), 3);
	expect_step(0, TICKS(0), TICKS(4), 0);
	expect_step(1, TICKS(4), TICKS(8), 0);
	assert_null(next_event());
}

static void *mark_elsewhere(void *arg)
{
	for (int i = 0; i < 5; i++)
		steps_mark(session, thread_here(), 500);
	*(uint64_t *)arg = thread_self->ring.committed;
	thread_leave();
	return NULL;
}

static void test_marks_of_another_thread_are_ignored(void **state)
{
	uint64_t committed = 1;
	pthread_t id;

	(void)state;
	steps_start(session, clock_ticks());
	steps_mark(session, thread, TICKS(0));
	pthread_create(&id, NULL, mark_elsewhere, &committed);
	pthread_join(id, NULL);
	assert_int_equal(committed, 0);
	assert_int_equal(load_relaxed(&session->head->windows.marks), 1);
	assert_int_equal(load_relaxed(&session->head->windows.step_tid),
			 thread->tid);
}

static void test_slices_around_both_ends_are_noted(void **state)
{
	const struct event *event;

	(void)state;
	steps_start(session, clock_ticks());
	steps_mark(session, thread, TICKS(0));
	thread_open(thread, EVENT_SCOPE, 555, 0, 0, 0, 0);
	steps_mark(session, thread, TICKS(1));
	thread_shut(thread);
	steps_mark(session, thread, TICKS(2));
	event = next_event();
	assert_int_equal(event->step.outer_at_start, 0);
	assert_int_equal(event->step.outer_at_end, 555);
	event = next_event();
	assert_int_equal(event->step.outer_at_start, 555);
	assert_int_equal(event->step.outer_at_end, 0);
}

static void test_a_full_ring_loses_steps_and_counts_them(void **state)
{
	(void)state;
	steps_start(session, clock_ticks());
	while (session_alloc(session, 4096))
		;
	steps_mark(session, thread, TICKS(0));
	steps_mark(session, thread, TICKS(1));
	steps_mark(session, thread, TICKS(2));
	assert_int_equal(thread->ring.dropped[EVENT_STEP], 2);
	assert_int_equal(load_relaxed(&session->head->windows.steps), 3);
}

static void test_windows_by_hand(void **state)
{
	const struct window_state *windows = &session->head->windows;

	(void)state;
	set_step("manual");
	steps_start(session, clock_ticks());
	/* The program's calls begin steps there, and no window. */
	assert_int_equal(steps_source(), STEP_API);
	assert_false(gate_is_recording());
	assert_int_equal(windows_opened(), 0);
	assert_int_equal(manual_stop(session), -ENOENT);
	assert_int_equal(manual_start(session, "epoch", 0, 0), 0);
	assert_true(gate_is_recording());
	assert_int_equal(manual_start(session, "again", 0, 0), -EBUSY);
	assert_true(gate_is_recording());
	assert_int_equal(manual_stop(session), 0);
	assert_false(gate_is_recording());
	assert_int_equal(manual_stop(session), -ENOENT);
	assert_string_equal(names_text(session, windows->window[0].name, NULL),
			    "epoch");
	assert_int_equal(manual_start(session, NULL, 0, 0), 0);
	assert_string_equal(names_text(session, windows->window[1].name, NULL),
			    "manual");
	assert_int_equal(windows->window[1].first_step, -1);
}

static void test_by_hand_is_refused_while_one_records(void **state)
{
	(void)state;
	steps_start(session, clock_ticks()); /* no schedule: the whole run */
	assert_int_equal(manual_start(session, "late", 0, 0), -EBUSY);
	assert_int_equal(manual_stop(session), -ENOENT);
	assert_true(gate_is_recording());
	assert_int_equal(windows_opened(), 1);
}

/* The run goes on being recorded where its file can't be cut, and each window
 * that was asked for is missed. */
static void test_a_window_by_hand_without_a_place_is_missed(void **state)
{
	struct window_state *windows = &session->head->windows;
	unsigned int made = 0;

	(void)state;
	/* Nobody has set anything. */
	options_default(&session->head->options);
	steps_start(session, clock_ticks());
	while (!steps_start_window(session, thread, "mine")) {
		assert_int_equal(steps_stop_window(session, thread), 0);
		assert_true(++made < WINDOWS_MAX);
	}
	assert_true(made > 0);
	assert_int_equal(load_relaxed(&windows->missed), 1);
	assert_int_equal(steps_start_window(session, thread, "mine"), -EAGAIN);
	assert_int_equal(load_relaxed(&windows->missed), 2);
	assert_true(gate_is_recording());
	store_relaxed(&windows->written, windows_opened() - 1);
	assert_int_equal(steps_start_window(session, thread, "mine"), 0);
	assert_int_equal(load_relaxed(&windows->missed), 2);
}

/* So that a file has as many steps as were marked in it. */
static void test_a_window_by_hand_ends_the_step_in_it(void **state)
{
	struct window_state *windows = &session->head->windows;
	struct clock_segments *clock = &session->head->clock;
	const struct event *event;

	(void)state;
	options_default(&session->head->options);
	steps_start(session, clock_ticks());
	steps_own_call(session, thread);
	steps_mark(session, thread, clock_ticks());
	assert_int_equal(steps_start_window(session, thread, "mine"), 0);
	event = next_event();
	assert_int_equal(event->step.number, 0);
	assert_true(event->end_ticks <= windows->window[0].end_ticks);
	for (int i = 0; i < 2; i++)
		steps_mark(session, thread, clock_ticks());
	assert_int_equal(next_event()->step.number, 1);
	/* Another thread's stop would end it anywhere. */
	assert_int_equal(steps_stop_window(session, NULL), 0);
	assert_null(next_event());
	/* Nothing of a step that has only just begun lies before the window. */
	store_relaxed(&windows->longest_step_ticks, UINT64_MAX);
	steps_mark(session, thread, clock_ticks());
	assert_int_equal(next_event()->step.number, 2);
	clock->uses_counter = 1;
	store_relaxed(&clock->count, 1);
	clock->segment[0].ns_per_tick = 1e-9; /* however busy the machine is */
	assert_int_equal(steps_start_window(session, thread, "again"), 0);
	assert_null(next_event());
	steps_mark(session, thread, clock_ticks());
	assert_null(next_event());
	assert_int_equal(steps_stop_window(session, thread), 0);
	event = next_event();
	assert_int_equal(event->step.number, 4);
	assert_int_equal(event->flags, 0);
	assert_true(event->end_ticks <= windows->window[3].end_ticks);
	steps_mark(session, thread, clock_ticks());
	steps_mark(session, thread, clock_ticks());
	assert_int_equal(next_event()->step.number, 5);
	assert_null(next_event());
}

static void test_a_schedule_waits_for_a_window_by_hand(void **state)
{
	const struct window_state *windows = &session->head->windows;

	(void)state;
	set("WAIT", 2);
	set("ACTIVE", 3);
	steps_start(session, clock_ticks());
	steps_mark(session, thread, TICKS(0));
	assert_int_equal(manual_start(session, "mine", 0, 0), 0);
	for (int step = 1; step < 4; step++) /* 2 and 3 would be recorded */
		steps_mark(session, thread, TICKS(step));
	assert_int_equal(windows_opened(), 1);
	assert_int_equal(manual_stop(session), 0);
	steps_mark(session, thread, TICKS(4));
	assert_int_equal(windows_opened(), 2);
	assert_int_equal(windows->window[1].first_step, 4);
	assert_int_equal(manual_stop(session), -ENOENT);
	steps_mark(session, thread, TICKS(5));
	assert_int_equal(windows->window[1].last_step, 4);
	assert_false(gate_is_recording());
}

static void test_time_begins_steps(void **state)
{
	const struct timespec moment = {0, 50000000};
	struct window_state *windows = &session->head->windows;

	(void)state;
	thread_self = NULL;
	set_step("time:20");
	steps_start(session, clock_ticks());
	steps_time(session);
	assert_int_equal(load_relaxed(&windows->steps), 1);
	nanosleep(&moment, NULL);
	steps_time(session);
	steps_time(session); /* late: one step, not a burst */
	assert_int_equal(load_relaxed(&windows->steps), 2);
	assert_ptr_equal(thread_self, THREAD_BUSY);
}

static void test_no_time_steps_unless_asked(void **state)
{
	(void)state;
	steps_start(session, clock_ticks());
	steps_time(session);
	assert_int_equal(load_relaxed(&session->head->windows.steps), 0);
}

static void test_functions_by_pattern(void **state)
{
	(void)state;
	set_step("omp:adam*/391");
	steps_start(session, clock_ticks());
	assert_int_equal(steps_source(), STEP_OMP);
	assert_true(steps_matches("adam_update(float*, int)"));
	assert_false(steps_matches("sgd_adam"));
	steps_forget();
	assert_false(steps_matches("adam"));
}

/* What a text means, or -1 in `source`: not valid. */
static const struct {
	const char *text;
	int source;
	uint64_t divisor;
	uint64_t period_ns;
	const char *glob;
} meanings[] = {
	{"auto", STEP_AUTO, 1, 0, ""},
	{"auto/4", STEP_AUTO, 4, 0, ""},
	{"api", STEP_API, 1, 0, ""},
	{"api/3", STEP_API, 3, 0, ""},
	{"manual", STEP_MANUAL, 1, 0, ""},
	{"time:250", STEP_TIME, 1, 250000000, ""},
	{"time:5/2", STEP_TIME, 2, 5000000, ""},
	{"omp:train*", STEP_OMP, 1, 0, "train*"},
	{"omp:a/b/7", STEP_OMP, 7, 0, "a/b"},
	{"omp:a/b", STEP_OMP, 1, 0, "a/b"},
	{"nvtx:epoch*/2", STEP_NVTX, 2, 0, "epoch*"},
	{"range:epoch*/2", STEP_NVTX, 2, 0, "epoch*"},
	{"", -1, 0, 0, NULL},
	{"api/0", -1, 0, 0, NULL},
	{"api/-1", -1, 0, 0, NULL},
	{"api/x", -1, 0, 0, NULL},
	{"time:", -1, 0, 0, NULL},
	{"time:0", -1, 0, 0, NULL},
	{"time:1s", -1, 0, 0, NULL},
	{"time:-5", -1, 0, 0, NULL},
	{"time:99999999999999999999", -1, 0, 0, NULL},
	{"range:epoch/0", STEP_NVTX, 1, 0, "epoch/0"},
	{"range:[load", STEP_NVTX, 1, 0, "[load"},
	{"omp:*operator[]", STEP_OMP, 1, 0, "*operator[]"},
	{"omp:*operator/", STEP_OMP, 1, 0, "*operator/"},
	{"omp:main/0", -1, 0, 0, NULL},
	{"omp:main/4294967296000", -1, 0, 0, NULL},
	{"omp:[", -1, 0, 0, NULL},
	{"kernel:*[ab", -1, 0, 0, NULL},
	{"cuda:cuda*/00", -1, 0, 0, NULL},
	{"omp:", -1, 0, 0, NULL},
	{"omp", -1, 0, 0, NULL},
	{"API", -1, 0, 0, NULL},
	{"api/99999999999999999999", -1, 0, 0, NULL},
};

static void test_what_a_step_may_be(void **state)
{
	struct step_marker made;
	char why[512];

	(void)state;
	for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++) {
		const int rc =
			steps_parse(meanings[i].text, &made, why, sizeof(why));

		if (meanings[i].source < 0) {
			assert_int_equal(rc, -EINVAL);
			assert_non_null(strstr(why, "using auto"));
			assert_int_equal(made.source, STEP_AUTO);
			assert_int_equal(made.divisor, 1);
			continue;
		}
		assert_int_equal(rc, 0);
		assert_int_equal(made.source, meanings[i].source);
		assert_int_equal(made.divisor, meanings[i].divisor);
		assert_int_equal(made.period_ns, meanings[i].period_ns);
		assert_string_equal(made.glob, meanings[i].glob);
	}
}

#define STEPS_TEST(name)                                                       \
	cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		STEPS_TEST(test_every_small_schedule_opens_its_windows),
		STEPS_TEST(test_a_window_without_a_place_is_missed_once),
		STEPS_TEST(test_without_a_schedule_the_whole_run_is_one_window),
		STEPS_TEST(test_an_own_call_begins_the_schedule_anew),
		STEPS_TEST(test_a_run_without_steps_ends_its_window),
		STEPS_TEST(test_every_nth_mark_begins_a_step),
		STEPS_TEST(test_marks_of_another_thread_are_ignored),
		STEPS_TEST(test_slices_around_both_ends_are_noted),
		STEPS_TEST(test_a_full_ring_loses_steps_and_counts_them),
		STEPS_TEST(test_windows_by_hand),
		STEPS_TEST(test_by_hand_is_refused_while_one_records),
		STEPS_TEST(test_a_window_by_hand_without_a_place_is_missed),
		STEPS_TEST(test_a_window_by_hand_ends_the_step_in_it),
		STEPS_TEST(test_a_schedule_waits_for_a_window_by_hand),
		STEPS_TEST(test_time_begins_steps),
		STEPS_TEST(test_no_time_steps_unless_asked),
		STEPS_TEST(test_functions_by_pattern),
		cmocka_unit_test(test_what_a_step_may_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
