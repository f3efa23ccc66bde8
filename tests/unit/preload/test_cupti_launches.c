/* SPDX-License-Identifier: MIT */
/*
 * test_cupti_launches.c - when a launch has all of its work: what is known by
 * then, and nothing is waited for in vain.
 */
#include "tests/unit/session_fixture.h"

#include "preload/cuda/cupti_source.h"

#ifdef HAVE_CUPTI

enum { GRAPH = 5, KERNELS = 2, WORK = 3 };

static struct session *begin(void)
{
	struct session *session = fixture_begin(4);
	struct gpu_graph *graph = &session->head->gpu.graph[GRAPH];

	cupti_launches_forget();
	session->head->options.gpu_wait_ms = 30000;
	store_relaxed(&graph->id, GRAPH);
	store_relaxed(&graph->kernels, KERNELS);
	store_relaxed(&graph->work, WORK);
	return session;
}

static void end(struct session *session)
{
	cupti_launches_forget();
	fixture_end(session);
}

static void work(struct session *session, uint16_t kind, uint64_t correlation)
{
	const struct event event = {
		.kind = kind,
		.start_ticks = clock_ticks(),
		.end_ticks = clock_ticks(),
		.gpu = {.correlation = correlation, .graph = GRAPH},
	};

	cupti_launches_work(session, &event, false);
}

static void call(struct session *session, uint64_t correlation)
{
	const struct event event = {
		.kind = EVENT_GPU_API,
		.start_ticks = clock_ticks(),
		.end_ticks = clock_ticks(),
		.api = {.correlation = correlation,
			.is_launch = GPU_LAUNCH_GRAPH},
	};

	cupti_launches_call(session, &event);
}

static bool is_awaited(struct session *session)
{
	return cupti_launches_oldest(session, clock_ticks()) != UINT64_MAX;
}

/* CUPTI writes the records of a launch's work before that of its call. */
static void a_call_that_comes_last_completes_its_graph(void **state)
{
	struct session *session = begin();

	(void)state;
	work(session, EVENT_GPU_KERNEL, 1);
	work(session, EVENT_GPU_FILL, 1);
	work(session, EVENT_GPU_KERNEL, 1);
	call(session, 1);
	assert_false(is_awaited(session));
	assert_false(cupti_launches_are_under_way(session, UINT64_MAX));
	end(session);
}

static void a_call_that_comes_first_waits_for_all(void **state)
{
	struct session *session = begin();

	(void)state;
	call(session, 1);
	assert_true(is_awaited(session));
	work(session, EVENT_GPU_KERNEL, 1);
	work(session, EVENT_GPU_KERNEL, 1);
	assert_true(is_awaited(session));
	work(session, EVENT_GPU_FILL, 1);
	assert_false(is_awaited(session));
	end(session);
}

static void a_part_is_not_all(void **state)
{
	struct session *session = begin();

	(void)state;
	work(session, EVENT_GPU_KERNEL, 1);
	call(session, 1);
	assert_true(is_awaited(session));
	assert_true(cupti_launches_are_under_way(session, UINT64_MAX));
	end(session);
}

/* With TRACEPROF_GRAPHS=graph a launch has one record. */
static void a_record_of_the_whole_is_all(void **state)
{
	struct session *session = begin();

	(void)state;
	work(session, EVENT_GPU_GRAPH, 1);
	call(session, 1);
	assert_false(is_awaited(session));
	call(session, 2);
	assert_true(is_awaited(session));
	work(session, EVENT_GPU_GRAPH, 2);
	assert_false(is_awaited(session));
	assert_false(cupti_launches_are_under_way(session, UINT64_MAX));
	end(session);
}

/* A kernel that a forced flush cut short is a loss in a window alone. */
static void what_has_no_time_counts_in_windows(void **state)
{
	struct session *session = begin();
	struct window_state *windows = &session->head->windows;
	struct event event = {.kind = EVENT_GPU_KERNEL};
	uint64_t start;

	(void)state;
	for (uint64_t i = 1; i <= 2; i++) {
		event.gpu.correlation = i;
		call(session, i);
		cupti_launches_work(session, &event, true);
	}
	assert_int_equal(session->head->gpu.without_time, 0);
	start = clock_ticks();
	windows->window[0].start_ticks = start;
	store_relaxed(&windows->opened, 1);
	event.gpu.correlation = 3;
	call(session, 3);
	cupti_launches_work(session, &event, true);
	assert_int_equal(session->head->gpu.without_time, 1);
	/* The call's record comes last, as CUPTI has it. */
	event.gpu.correlation = 4;
	cupti_launches_work(session, &event, true);
	assert_int_equal(session->head->gpu.without_time, 1);
	call(session, 4);
	assert_int_equal(session->head->gpu.without_time, 2);
	assert_int_equal(session->head->gpu.unfinished, 0);
	call(session, 6);
	/* CUPTI has to give back what isn't done. */
	store_relaxed(&session->head->gpu.hurried_ticks, clock_ticks());
	call(session, 7);
	for (event.gpu.correlation = 6; event.gpu.correlation < 8;
	     event.gpu.correlation++)
		cupti_launches_work(session, &event, true);
	assert_int_equal(session->head->gpu.without_time, 4);
	assert_int_equal(session->head->gpu.unfinished, 1);
	store_relaxed(&windows->window[0].end_ticks, clock_ticks());
	event.gpu.correlation = 8;
	cupti_launches_work(session, &event, true);
	call(session, 8);
	assert_int_equal(session->head->gpu.without_time, 4);
	end(session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_that_comes_last_completes_its_graph),
		cmocka_unit_test(a_call_that_comes_first_waits_for_all),
		cmocka_unit_test(a_part_is_not_all),
		cmocka_unit_test(a_record_of_the_whole_is_all),
		cmocka_unit_test(what_has_no_time_counts_in_windows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	return cmocka_skip_all("no records without CUDA's headers");
}

#endif
