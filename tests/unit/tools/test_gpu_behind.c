/* SPDX-License-Identifier: MIT */
/* test_gpu_behind.c - what a GPU was busy with when a file begins. */
#include "tests/unit/cmocka_base.h"
#include "tools/model/gpu_behind.h"
#include "tools/util/memory.h"

#define MS INT64_C(1000000)

static struct timeline timeline;
static struct gpu_behind behind;

static int set_up(void **state)
{
	(void)state;
	timeline_begin(&timeline);
	key_table_number(&timeline.names, "cuda\0call", 9);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	gpu_behind_free(&behind);
	timeline_free(&timeline);
	return 0;
}

static void launch(uint32_t correlation, int64_t start_ns, int64_t dur_ns)
{
	struct timeline_lane *lane = timeline_lane(
		&timeline, key_table_number(&timeline.lanes.table, "1 1", 3));

	lane->launches =
		memory_grow(lane->launches, lane->launch_count,
			    &lane->launch_capacity, sizeof(*lane->launches));
	lane->launches[lane->launch_count++] =
		(struct launch){.start_ns = start_ns,
				.dur = (uint32_t)dur_ns,
				.correlation = correlation};
}

static void work_of(enum gpu_kind kind, int64_t stream, uint32_t correlation,
		    int64_t start_ns, int64_t dur_ns)
{
	const int64_t key[2] = {(int64_t)kind, stream};
	struct gpu_work work = {.start_ns = start_ns,
				.dur = (uint32_t)dur_ns,
				.correlation = correlation};
	struct gpu_row *row;

	work.row = key_table_number(&timeline.work_rows, key, sizeof(key));
	row = key_table_row(&timeline.work_rows, work.row);
	row->kind = kind;
	row->stream =
		key_table_number(&timeline.streams, &stream, sizeof(stream));
	timeline.work = memory_grow(timeline.work, timeline.work_count,
				    &timeline.work_capacity, sizeof(work));
	timeline.work[timeline.work_count++] = work;
}

static void work(int64_t stream, uint32_t correlation, int64_t start_ns,
		 int64_t dur_ns)
{
	work_of(GPU_KERNEL, stream, correlation, start_ns, dur_ns);
}

static void find(void)
{
	timeline_finish(&timeline);
	gpu_behind_find(&behind, &timeline);
}

static void expect_unseen(size_t at, int64_t start_ns, int64_t end_ns)
{
	assert_true(at < behind.count);
	assert_int_equal(behind.unseen[at].start_ns, start_ns);
	assert_int_equal(behind.unseen[at].end_ns, end_ns);
}

static void work_that_waits_had_other_work_before_it(void **state)
{
	(void)state;
	launch(7, 1 * MS, 1000);
	work(0, 7, 9 * MS, MS);
	find();
	assert_int_equal(behind.count, 1);
	expect_unseen(0, INT64_MIN, 9 * MS);
	assert_int_equal(behind.until_ns, 9 * MS);
	assert_int_equal(behind.kernels, 0);
}

static void work_that_begins_at_once_had_none(void **state)
{
	(void)state;
	launch(7, 1 * MS, 1000);
	work(0, 7, 1 * MS + 4000, MS);
	find();
	assert_int_equal(behind.count, 0);
	assert_true(behind.until_ns < 0);
}

/* What was launched between two windows is in the second without its call;
 * between its kernels runs what belongs to the first. */
static void work_of_before_is_behind_till_its_end(void **state)
{
	(void)state;
	launch(7, 1 * MS, 1000);
	work(0, 3, 2 * MS, MS);
	work_of(GPU_COPY, 0, 4, 3 * MS, MS);
	work(0, 6, 6 * MS, MS);
	work(0, 7, 7 * MS + 500, MS);
	find();
	assert_int_equal(behind.count, 3);
	expect_unseen(0, INT64_MIN, 2 * MS);
	expect_unseen(1, 4 * MS, 6 * MS);
	expect_unseen(2, 7 * MS, 7 * MS + 500);
	assert_int_equal(behind.until_ns, 7 * MS + 500);
	assert_int_equal(behind.kernels, 2);
	assert_int_equal(behind.kernels_ns, 2 * MS);
}

/* The host was late. */
static void work_of_before_that_is_over(void **state)
{
	(void)state;
	launch(7, 8 * MS, 1000);
	work(0, 6, 1 * MS, MS);
	work(0, 7, 8 * MS + 4000, MS);
	find();
	assert_int_equal(behind.count, 1);
	expect_unseen(0, INT64_MIN, 1 * MS);
	assert_int_equal(behind.until_ns, 2 * MS);
}

static void a_file_without_launches(void **state)
{
	(void)state;
	work(0, 5, 2 * MS, MS);
	find();
	assert_int_equal(behind.until_ns, 3 * MS);
	assert_int_equal(behind.kernels, 1);
}

/* Its launch was lost, or nobody knows it: that tells nothing. */
static void work_whose_launch_is_not_known(void **state)
{
	(void)state;
	launch(7, 1 * MS, 1000);
	launch(9, 4 * MS, 1000);
	work(0, 0, 3 * MS, 1000);
	work(0, 8, 3 * MS + 2000, 1000);
	work(0, 9, 4 * MS + 4000, MS);
	find();
	assert_int_equal(behind.count, 0);
	assert_int_equal(behind.kernels, 0);
}

static void numbers_begin_anew_after_32_bits(void **state)
{
	(void)state;
	launch(2, 1 * MS, 1000);
	launch(UINT32_MAX, MS / 2, 1000);
	work(0, UINT32_MAX - 1, 2 * MS, MS);
	work(0, UINT32_MAX, 3 * MS, MS);
	work(0, 2, 4 * MS, MS);
	find();
	assert_int_equal(behind.kernels, 1);
	assert_int_equal(behind.count, 1);
	assert_int_equal(behind.until_ns, 3 * MS);
}

/* One is behind while another begins at once; their gaps are one. */
static void streams_are_behind_by_themselves(void **state)
{
	(void)state;
	launch(7, 1 * MS, 1000);
	launch(8, 2 * MS, 1000);
	work(1, 8, 2 * MS + 4000, MS);
	work(0, 3, 4 * MS, MS);
	work(2, 4, 6 * MS, MS);
	work(0, 7, 9 * MS, MS);
	find();
	assert_int_equal(behind.count, 1);
	expect_unseen(0, INT64_MIN, 9 * MS);
	assert_int_equal(behind.until_ns, 9 * MS);
}

/* Of a stream that two threads use, say: it is known what it does. */
static void work_of_before_behind_the_windows_own(void **state)
{
	(void)state;
	launch(7, 1 * MS, 1000);
	work(0, 7, 1 * MS + 4000, 1000);
	work(0, 6, 9 * MS, MS);
	find();
	assert_int_equal(behind.count, 0);
	assert_int_equal(behind.kernels, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TEST(work_that_waits_had_other_work_before_it),
		TEST(work_that_begins_at_once_had_none),
		TEST(work_of_before_is_behind_till_its_end),
		TEST(work_of_before_that_is_over),
		TEST(a_file_without_launches),
		TEST(work_whose_launch_is_not_known),
		TEST(numbers_begin_anew_after_32_bits),
		TEST(streams_are_behind_by_themselves),
		TEST(work_of_before_behind_the_windows_own),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
