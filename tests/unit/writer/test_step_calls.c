/* SPDX-License-Identifier: MIT */
/*
 * test_step_calls.c - launches and their kernels become one mark, whichever
 * record comes first.
 */
#include "collector/session/names.h"
#include "writer/steps/step_calls.h"
#include <string.h>

#include "tests/unit/session_group.h"

static struct arena arena;
static struct step_calls calls;
static struct step_marks marks;

static int begin(void **state)
{
	memset(&calls, 0, sizeof(calls));
	memset(&marks, 0, sizeof(marks));
	marks.family = SEARCH_CALLS;
	step_calls_start(&calls, &arena);
	assert_non_null(calls.kernels);
	return set_up(state);
}

static int end(void **state)
{
	array_free(&marks.marks);
	arena_free(&arena);
	return tear_down(state);
}

static struct event call_of(uint64_t correlation, uint32_t launch)
{
	return (struct event){
		.kind = EVENT_GPU_API,
		.name = names_intern_string(session, "cudaLaunchKernel"),
		.start_ticks = 1000 + correlation,
		.api = {.correlation = correlation,
			.cbid = 211,
			.is_launch = launch},
	};
}

static struct event kernel_of(uint64_t correlation, const char *name)
{
	return (struct event){
		.kind = EVENT_GPU_KERNEL,
		.name = names_intern_string(session, name),
		.gpu = {.correlation = correlation},
	};
}

/* The mark of this call is the newest one. */
static size_t add(uint64_t correlation)
{
	const struct event call = call_of(correlation, GPU_LAUNCH_KERNEL);
	struct loop_mark mark;

	assert_true(step_calls_read(&calls, session, &call, &mark));
	assert_int_equal(mark.ticks, 1000 + correlation);
	return step_marks_add(&marks, &mark);
}

static void assert_described(size_t at, const char *wanted)
{
	char text[160];

	step_calls_describe(session, &step_marks(&marks)[at], text,
			    sizeof(text));
	assert_string_equal(text, wanted);
}

static void a_kernel_after_its_call(void **state)
{
	const struct event kernel = kernel_of(7, "update");
	const struct event other = kernel_of(9, "forward");

	(void)state;
	add(5);
	add(7);
	assert_described(1, "CUDA call cudaLaunchKernel");
	assert_true(step_calls_name(session, &marks, &kernel));
	assert_false(step_calls_name(session, &marks, &other));
	assert_described(1, "kernel \"update\"");
	assert_described(0, "CUDA call cudaLaunchKernel");
	assert_int_equal(step_marks(&marks)[1].id, search_kernel("update"));
	assert_int_equal(step_marks(&marks)[0].id, search_call(false, 211));
}

static void a_kernel_before_its_call(void **state)
{
	const struct event kernel = kernel_of(7, "update");

	(void)state;
	step_calls_keep(&calls, &kernel);
	add(6);
	add(7);
	assert_described(0, "CUDA call cudaLaunchKernel");
	assert_described(1, "kernel \"update\"");
}

/* Numbers that share a place, or the lower half, are not mistaken. */
static void another_calls_kernel(void **state)
{
	const struct event kernel = kernel_of(7, "update");

	(void)state;
	step_calls_keep(&calls, &kernel);
	add(7 + 65536);
	assert_described(0, "CUDA call cudaLaunchKernel");
	assert_int_equal(step_calls_find(&marks, 7), marks.count);
}

static struct event node_of(uint64_t correlation, const char *name)
{
	struct event kernel = kernel_of(correlation, name);

	kernel.gpu.graph = 7;
	return kernel;
}

static size_t add_graph(uint64_t correlation)
{
	const struct event call = call_of(correlation, GPU_LAUNCH_GRAPH);
	struct loop_mark mark;

	assert_true(step_calls_read(&calls, session, &call, &mark));
	return step_marks_add(&marks, &mark);
}

/* Told by what is in them, whichever record comes first. */
static void launches_of_graphs(void **state)
{
	const struct event first[] = {node_of(5, "a"), node_of(6, "b"),
				      node_of(7, "a"), node_of(8, "b")};
	const struct event second[] = {node_of(5, "b"), node_of(6, "a"),
				       node_of(7, "a"), node_of(8, "c")};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		step_calls_keep_graph(&calls, session, &first[i]);
		assert_int_equal(add_graph(5 + i), i);
		assert_true(step_calls_name_graph(session, &marks, &second[i]));
	}
	assert_int_not_equal(step_marks(&marks)[0].caller, 0);
	assert_int_equal(step_marks(&marks)[0].caller,
			 step_marks(&marks)[1].caller);
	assert_int_not_equal(step_marks(&marks)[0].caller,
			     step_marks(&marks)[2].caller);
	assert_int_not_equal(step_marks(&marks)[0].caller,
			     step_marks(&marks)[3].caller);
	assert_int_equal(step_marks(&marks)[0].id, step_marks(&marks)[3].id);
	assert_described(3, "CUDA call cudaLaunchKernel");
}

/* So many that a place is taken again; a launch whose kernels are lost. */
static void graphs_kernels_of_others(void **state)
{
	const struct event old = node_of(5, "a"), new = node_of(5 + 4096, "b");

	(void)state;
	step_calls_keep_graph(&calls, session, &old);
	step_calls_keep_graph(&calls, session, &new);
	add_graph(5);
	assert_int_equal(step_marks(&marks)[0].caller, 0);
	assert_false(step_calls_name_graph(session, &marks, &new));
	add_graph(5 + 4096);
	assert_int_not_equal(step_marks(&marks)[1].caller, 0);
}

/* What the code tells is of the kernel, at its place; a graph has none. */
static void places_of_calls(void **state)
{
	struct step_search *search = &session->head->search;
	const struct event kernel = kernel_of(5, "update");
	struct event call = call_of(5, GPU_LAUNCH_KERNEL);
	struct loop_mark mark;

	(void)state;
	call.api.place = 40 | SEARCH_TURN_NEXT << 8;
	search->loops[0] = (struct search_loops){
		.id = search_region(search_kernel("update"), 40),
		.loop = 3,
		.depth = 2};
	store_release(&search->loop_count, 1);
	assert_true(step_calls_read(&calls, session, &call, &mark));
	assert_int_equal(mark.caller, 40);
	assert_int_equal(mark.turn, SEARCH_TURN_NEXT);
	assert_int_equal(mark.depth, 0);
	step_marks_add(&marks, &mark);
	assert_true(step_calls_name(session, &marks, &kernel));
	assert_int_equal(step_marks(&marks)[0].loop, 3);
	assert_int_equal(step_marks(&marks)[0].depth, 2);

	call.api.is_launch = GPU_LAUNCH_GRAPH;
	assert_true(step_calls_read(&calls, session, &call, &mark));
	assert_true(mark.is_graph);
	assert_int_equal(mark.caller | mark.turn, 0);
}

static void what_copies(void **state)
{
	struct event call = call_of(3, GPU_LAUNCH_COPY);
	struct loop_mark mark;

	(void)state;
	call.name = names_intern_string(session, "cudaMemcpyAsync");
	assert_true(step_calls_read(&calls, session, &call, &mark));
	assert_true(mark.is_copy);
	call.name = names_intern_string(session, "cudaMemsetAsync");
	assert_true(step_calls_read(&calls, session, &call, &mark));
	assert_false(mark.is_copy);
	call = call_of(4, GPU_LAUNCH_KERNEL);
	assert_true(step_calls_read(&calls, session, &call, &mark));
	assert_false(mark.is_copy);
}

static void calls_that_are_no_mark(void **state)
{
	const struct event wait = call_of(3, 0);
	const struct step_calls none = {0};
	const struct event call = call_of(4, GPU_LAUNCH_KERNEL);
	struct loop_mark mark;

	(void)state;
	assert_false(step_calls_read(&calls, session, &wait, &mark));
	assert_false(step_calls_read(&none, session, &call, &mark));
}

/* Later calls have higher numbers, also where these begin anew. */
static void each_is_found_among_many(void **state)
{
	const uint64_t first = UINT32_MAX - 50;

	(void)state;
	for (uint64_t i = 0; i < 100; i++)
		assert_int_equal(add(first + 2 * i), i);
	for (uint64_t i = 0; i < 100; i++) {
		assert_int_equal(step_calls_find(&marks, first + 2 * i), i);
		assert_int_equal(step_calls_find(&marks, first + 2 * i + 1),
				 marks.count);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(a_kernel_after_its_call),	TEST(a_kernel_before_its_call),
		TEST(another_calls_kernel),	TEST(calls_that_are_no_mark),
		TEST(places_of_calls),		TEST(what_copies),
		TEST(launches_of_graphs),	TEST(graphs_kernels_of_others),
		TEST(each_is_found_among_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
