/* SPDX-License-Identifier: MIT */
/* test_gpu_runs.c - work of a graph without an id: of which launch it is. */
#include "tests/unit/cmocka_base.h"

#include "writer/gpu/gpu_runs.h"

static struct gpu_runs runs;
static struct gpu_launches launches;

static int set_up(void **state)
{
	(void)state;
	runs = (struct gpu_runs){0};
	return gpu_launches_start(&launches);
}

static int tear_down(void **state)
{
	(void)state;
	gpu_runs_free(&runs);
	gpu_launches_end(&launches);
	return 0;
}

static struct event kernel(uint32_t graph, uint64_t correlation, uint64_t start)
{
	return (struct event){
		.kind = EVENT_GPU_KERNEL,
		.start_ticks = start,
		.end_ticks = start + 5,
		.gpu = {.graph = graph, .correlation = correlation},
	};
}

static void called(uint64_t correlation, uint64_t start)
{
	const struct event call = {
		.kind = EVENT_GPU_API,
		.start_ticks = start,
		.api = {.correlation = correlation},
	};

	gpu_launches_add(&launches, &call);
}

static void known(uint32_t graph, uint64_t correlation, uint64_t start)
{
	const struct event event = kernel(graph, correlation, start);

	assert_false(gpu_runs_wants(&event));
	gpu_runs_note(&runs, &event);
}

static uint64_t launch_of(uint32_t graph, uint64_t start)
{
	const struct event event = kernel(graph, 0, start);

	assert_true(gpu_runs_wants(&event));
	/* It tells nothing of itself. */
	gpu_runs_note(&runs, &event);
	return gpu_runs_find(&runs, &launches, &event);
}

static void between_work_of_one_launch(void **state)
{
	(void)state;
	called(8, 90);
	called(9, 95);
	/* Records come in any order. */
	known(3, 9, 210);
	known(3, 8, 150);
	known(3, 8, 100);
	known(3, 9, 250);
	assert_int_equal(launch_of(3, 120), 8);
	assert_int_equal(launch_of(3, 230), 9);
	/* A table's chain is shared with others. */
	assert_int_equal(launch_of(3 + GPU_RUNS_CHAINS, 120), 0);
	assert_int_equal(launch_of(4, 120), 0);
}

static void behind_it_until_the_next_is_called(void **state)
{
	(void)state;
	called(8, 90);
	called(9, 190);
	known(3, 8, 100);
	known(3, 9, 210);
	assert_int_equal(launch_of(3, 180), 8);
	/* It may be the end of one or the begin of the other. */
	assert_int_equal(launch_of(3, 195), 0);
	/* The last launch has no next. */
	assert_int_equal(launch_of(3, 900), 9);
}

static void before_all_that_is_known(void **state)
{
	(void)state;
	assert_int_equal(launch_of(3, 50), 0);
	called(8, 90);
	known(3, 8, 100);
	assert_int_equal(launch_of(3, 95), 0);
}

static void more_launches_than_are_kept(void **state)
{
	(void)state;
	for (uint64_t i = 1; i <= GPU_RUNS_KEPT + 100; i++) {
		called(i, 100 * i);
		known(3, i, 100 * i + 10);
	}
	assert_int_equal(launch_of(3, 100 * GPU_RUNS_KEPT + 50), GPU_RUNS_KEPT);
	/* Too long ago, and not the oldest that is left. */
	assert_int_equal(launch_of(3, 150), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(between_work_of_one_launch,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			behind_it_until_the_next_is_called, set_up, tear_down),
		cmocka_unit_test_setup_teardown(before_all_that_is_known,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(more_launches_than_are_kept,
						set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
