/* SPDX-License-Identifier: MIT */
/* test_gomp_alone.c - the answers of a team of one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "preload/gomp/gomp_alone.h"
#include <string.h>

static struct gomp_library library;

static void count(void *data)
{
	++*(int *)data;
}

static void every_entry_is_filled(void **state)
{
	void *entries[sizeof(library) / sizeof(void *)];
	const size_t named = offsetof(struct gomp_library, base);

	(void)state;
	memcpy(entries, &library, named);
	for (size_t i = 0; i < named / sizeof(void *); i++)
		assert_non_null(entries[i]);
}

static void what_is_there_stays(void **state)
{
	struct gomp_library own = {.barrier = library.taskwait};

	(void)state;
	own.barrier = (void (*)(void))count;
	gomp_alone_complete(&own);
	assert_ptr_equal(own.barrier, (void (*)(void))count);
}

static void regions_run_once(void **state)
{
	int runs = 0;

	(void)state;
	library.parallel(count, &runs, 4, 0);
	assert_int_equal(runs, 1);
	assert_int_equal(library.parallel_reductions(count, &runs, 4, 0), 1);
	assert_int_equal(runs, 2);
	library.parallel_loop_static(count, &runs, 4, 0, 9, 1, 2, 0);
	library.parallel_sections(count, &runs, 4, 3, 0);
	library.teams_reg(count, &runs, 2, 2, 0);
	assert_int_equal(runs, 5);
	assert_int_equal(library.omp_get_num_threads(), 1);
	assert_int_equal(library.omp_get_thread_num(), 0);
	assert_true(library.single_start());
	assert_null(library.single_copy_start());
	assert_false(library.barrier_cancel());
}

struct __attribute__((aligned(64))) wide {
	int *runs;
	long value;
};

static void count_wide(void *data)
{
	struct wide *wide = data;

	assert_int_equal((uintptr_t)wide % 64, 0);
	*wide->runs += (int)wide->value;
}

static void copy_wide(void *to, void *from)
{
	*(struct wide *)to = *(struct wide *)from;
	((struct wide *)to)->value++;
}

static void tasks_run_at_once(void **state)
{
	int runs = 0;
	struct wide wide = {&runs, 1};

	(void)state;
	library.task(count, &runs, NULL, 0, 1, true, 0, NULL, 0, NULL);
	assert_int_equal(runs, 1);
	library.task(count_wide, &wide, copy_wide, sizeof(wide), 64, true, 0,
		     NULL, 0, NULL);
	assert_int_equal(runs, 3);
	assert_int_equal(wide.value, 1);
}

struct loop {
	long start, end;
	long *sum;
};

static void add_up(void *data)
{
	struct loop *loop = data;

	for (long i = loop->start; i < loop->end; i++)
		*loop->sum += i;
}

static void loops_are_one_task(void **state)
{
	long sum = 0;
	struct loop loop = {0, 0, &sum};

	(void)state;
	library.taskloop(add_up, &loop, NULL, sizeof(loop), 8, 0, 7, 0, 10, 20,
			 1);
	assert_int_equal(sum, 145);
	library.taskloop_ull(add_up, &loop, NULL, sizeof(loop), 8, 0, 7, 0, 0,
			     3, 1);
	assert_int_equal(sum, 148);
	assert_int_equal(loop.end, 0);
}

static int complete(void **state)
{
	(void)state;
	gomp_alone_complete(&library);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_entry_is_filled),
		cmocka_unit_test(what_is_there_stays),
		cmocka_unit_test(regions_run_once),
		cmocka_unit_test(tasks_run_at_once),
		cmocka_unit_test(loops_are_one_task),
	};

	return cmocka_run_group_tests(tests, complete, NULL);
}
