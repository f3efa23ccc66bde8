/* SPDX-License-Identifier: MIT */
/*
 * test_gpu_launch.c - what is counted of launches is counted for each file by
 * itself; the tables are tested in test_gpu.c.
 */
#include "tests/unit/cmocka_base.h"

#include "writer/gpu/gpu_launch.h"

#define PLACES 131072u

static struct gpu_launch *called(struct gpu_launches *launches,
				 uint64_t correlation, uint64_t file)
{
	const struct event call = {.kind = EVENT_GPU_API,
				   .extra = 1,
				   .start_ticks = correlation,
				   .end_ticks = correlation + 1,
				   .api = {.correlation = correlation}};
	struct gpu_launch *launch = gpu_launches_add(launches, &call);

	gpu_launches_await(launches, launch, file);
	return launch;
}

static void expect(const struct gpu_launches *launches, uint64_t launched,
		   uint64_t missing, uint64_t partial, uint64_t unsized)
{
	assert_int_equal(launches->launched, launched);
	assert_int_equal(launches->missing, missing);
	assert_int_equal(launches->partial, partial);
	assert_int_equal(launches->unsized, unsized);
}

/* One of each kind, and one whose place another takes. */
static void each_file_counts_its_own(void **state)
{
	struct gpu_launches launches;
	struct gpu_launch *graph;

	(void)state;
	assert_int_equal(gpu_launches_start(&launches), 0);
	called(&launches, 2, 1);
	gpu_launches_arrive(&launches, called(&launches, 1, 1), 1, 1);
	graph = called(&launches, 3, 1);
	gpu_launches_arrive(&launches, graph, 2, 1);
	gpu_launches_arrive(&launches, called(&launches, 4, 1), 0, 1);
	/* The last of them takes the first one's place. */
	for (uint64_t i = 5; i <= 1 + PLACES; i++)
		gpu_launches_arrive(&launches, called(&launches, i, 1), 1, 1);
	expect(&launches, 1 + PLACES, 2, 1, 1);
	assert_int_equal(launches.forgotten, 1);

	called(&launches, 2 * PLACES, 2);
	expect(&launches, 1, 1, 0, 0);
	assert_int_equal(launches.forgotten, 0);
	/* What comes for the first file is none of this one's. */
	gpu_launches_arrive(&launches, graph, 2, 2);
	gpu_launches_stray(&launches, 2);
	gpu_launches_stray(&launches, 1);
	expect(&launches, 1, 1, 0, 0);
	gpu_launches_end(&launches);
}

/* It is known by now that the graph has no kernel. */
static void what_launches_none_counts_no_more(void **state)
{
	struct gpu_launches launches;
	struct gpu_launch *before, *late;

	(void)state;
	assert_int_equal(gpu_launches_start(&launches), 0);
	before = called(&launches, 1, 1);
	late = called(&launches, 2, 2);
	expect(&launches, 1, 1, 0, 0);
	/* The first one's file is written. */
	gpu_launches_excuse(&launches, before, 2);
	expect(&launches, 1, 1, 0, 0);
	gpu_launches_excuse(&launches, late, 2);
	gpu_launches_excuse(&launches, late, 2);
	expect(&launches, 0, 0, 0, 0);
	gpu_launches_await(&launches, late, 2);
	expect(&launches, 0, 0, 0, 0);
	gpu_launches_end(&launches);
}

/* As with more threads than are followed: a call of the driver is shown beside
 * that of the runtime which made it. */
static void two_calls_are_one_launch(void **state)
{
	struct gpu_launches launches;
	struct gpu_launch *launch;

	(void)state;
	assert_int_equal(gpu_launches_start(&launches), 0);
	launch = called(&launches, 1, 1);
	assert_ptr_equal(called(&launches, 1, 1), launch);
	expect(&launches, 1, 1, 0, 0);
	gpu_launches_arrive(&launches, launch, 1, 1);
	expect(&launches, 1, 0, 0, 0);
	called(&launches, 1, 1);
	expect(&launches, 1, 0, 0, 0);
	gpu_launches_end(&launches);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_file_counts_its_own),
		cmocka_unit_test(what_launches_none_counts_no_more),
		cmocka_unit_test(two_calls_are_one_launch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
