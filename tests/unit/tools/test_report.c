/* SPDX-License-Identifier: MIT */
/*
 * test_report.c - the numbers of a report, against a trace whose numbers
 * are known.
 *
 * Runs from the top of the repository, where tests/fixtures/ lies.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "tools/report/report.h"

#define CPU "tests/fixtures/openmp_4242.1791057570000000000.pt.trace.json"
#define GPU "tests/fixtures/gpu_4242.1791057570000000000.pt.trace.json"

static void regions_are_weighed(void **state)
{
	const struct report_choice choice = {0};
	struct report report;

	(void)state;
	assert_int_equal(report_read(&report, CPU, &choice), 0);
	assert_int_equal(report.region_count, 2);

	/* Three threads work 1 ms, one 3 ms, each after 50 us at a lock, and
	 * 2 us go by until the team is together and apart again. */
	assert_string_equal(report.region_list[0].name,
			    "forward [omp parallel #1]");
	assert_int_equal(report.region_list[0].calls, 3);
	assert_int_equal(report.region_list[0].team_max, 4);
	assert_int_equal(report.region_list[0].elapsed_ns, 3 * 3002000);
	assert_int_equal(report.region_list[0].work_ns,
			 3 * (6000000 - 4 * 50000));
	assert_int_equal(report.region_list[0].wait_ns,
			 3 * (3 * 2000000 + 4 * 50000 + 4 * 2000));
	assert_true(report.region_list[0].imbalance > 2.034 &&
		    report.region_list[0].imbalance < 2.035);

	assert_int_equal(report.region_list[1].wait_ns, 3 * 4 * 2000);
	assert_true(report.region_list[1].imbalance == 1);
	report_free(&report);
}

/* Part [0,100) with a barrier [40,80) that ran a task [50,70), which itself
 * waited [55,65) while it ran another, [56,60); after the part the end's wait
 * [100,150) with a task [110,140), which waited [120,130). */
static void waits_and_tasks_lie_in_each_other(void **state)
{
	struct omp_work_wait member = {0};
	int64_t wait = 0;

	(void)state;
	omp_work_wait_task(&member, 56, 4);
	wait += omp_work_wait_wait(&member, true, 55, 10);
	assert_int_equal(wait, 6);
	omp_work_wait_task(&member, 50, 20);
	wait += omp_work_wait_wait(&member, true, 40, 40);
	assert_int_equal(wait, 6 + 20);
	omp_work_wait_part(&member, 0, 100);
	assert_int_equal(member.work_ns, 100 - 26);
	wait += omp_work_wait_wait(&member, true, 120, 10);
	omp_work_wait_task(&member, 110, 30);
	wait += omp_work_wait_wait(&member, true, 100, 50);
	assert_int_equal(wait, 26 + 10 + 20);
	assert_int_equal(member.work_ns, 100 - 26 + 20);
	assert_int_equal(member.work_ns + wait, 150);

	/* A task in a wait that is itself in a task is counted once. */
	omp_work_wait_part(&member, 0, 0);
	member.work_ns = 0;
	omp_work_wait_task(&member, 220, 5);
	omp_work_wait_wait(&member, true, 215, 15);
	omp_work_wait_task(&member, 210, 30);
	omp_work_wait_wait(&member, true, 200, 50);
	assert_int_equal(member.work_ns, 20);
	for (int64_t at = 0; at < 3 * (int64_t)MEMBER_LOOSE_MAX; at++)
		omp_work_wait_task(&member, 300 + at, 1);
	assert_true(member.count <= MEMBER_LOOSE_MAX);
	omp_work_wait_free(&member);
}

/* However many tasks lie in a wait, it knows them all; and next to all if
 * something lies before it. */
static void a_wait_with_many_tasks(void **state)
{
	const int64_t tasks = 100 * (int64_t)MEMBER_LOOSE_MAX;
	struct omp_work_wait member = {0};

	(void)state;
	for (int64_t at = 0; at < tasks; at++)
		omp_work_wait_task(&member, 300 + at, 1);
	assert_true(member.count <= MEMBER_LOOSE_MAX);
	assert_int_equal(omp_work_wait_wait(&member, true, 300, 2 * tasks),
			 tasks);
	for (int64_t at = 0; at < tasks; at++)
		omp_work_wait_task(&member, 400 + 2 * tasks + at, 1);
	assert_int_equal(
		omp_work_wait_wait(&member, true, 400 + 2 * tasks, 2 * tasks) /
			(tasks / 100),
		100);
	omp_work_wait_free(&member);
}

/* The same where the part comes last, as a master's does. */
static void a_part_that_comes_last(void **state)
{
	struct omp_work_wait member = {0};
	int64_t wait = 0;

	(void)state;
	wait += omp_work_wait_wait(&member, true, 40, 40);
	wait += omp_work_wait_wait(&member, true, 120, 10);
	omp_work_wait_task(&member, 110, 30);
	wait += omp_work_wait_wait(&member, true, 100, 50);
	omp_work_wait_part(&member, 0, 100);
	assert_int_equal(wait, 40 + 10 + 20);
	assert_int_equal(member.work_ns, 60 + 20);
	omp_work_wait_free(&member);

	wait = omp_work_wait_wait(&member, false, 40, 40);
	wait += omp_work_wait_wait(&member, false, 100, 50);
	omp_work_wait_part(&member, 0, 100);
	assert_int_equal(wait, 90);
	assert_int_equal(member.work_ns, 60);
	omp_work_wait_free(&member);
}

/* A file has its end in three rounded numbers, the wait behind it in one. */
static void a_wait_that_begins_a_nanosecond_early(void **state)
{
	(void)state;
	for (int may_lie_in_task = 0; may_lie_in_task < 2; may_lie_in_task++) {
		struct omp_work_wait member = {0};

		omp_work_wait_wait(&member, may_lie_in_task, 40000, 40000);
		omp_work_wait_wait(&member, may_lie_in_task, 99998, 50000);
		omp_work_wait_part(&member, 0, 100000);
		assert_int_equal(member.work_ns, 60000);
		omp_work_wait_free(&member);
	}
}

static void totals_count_a_region_once(void **state)
{
	const struct report_choice choice = {0};
	struct report report;
	struct total *rows;
	size_t count;

	(void)state;
	assert_int_equal(report_read(&report, CPU, &choice), 0);
	rows = tally_list(&report.tally, "cpu_op", ORDER_TOTAL, &count);
	assert_int_equal(count, 2);
	assert_string_equal(rows[0].name, "forward [omp parallel #1]");
	assert_int_equal(rows[0].calls, 3);
	assert_int_equal(rows[0].total_ns, 3 * 3002000);
	assert_int_equal(rows[1].min_ns, 502000);
	free(rows);
	rows = tally_list(&report.tally, REPORT_MEMBERS, ORDER_NAME, &count);
	assert_int_equal(count, 2);
	assert_int_equal(rows[0].calls, 12);
	free(rows);
	report_free(&report);
}

static void steps_heap_and_losses(void **state)
{
	const struct report_choice choice = {0};
	struct report report;
	(void)state;
	assert_int_equal(report_read(&report, CPU, &choice), 0);
	assert_int_equal(report_wall_ns(&report), 30000000);
	assert_int_equal(report.steps.count, 3);
	assert_int_equal(report.steps.min_ns, 9000000);
	assert_int_equal(report.steps.slowest, 2);
	assert_int_equal(report.metadata.heap_peak_bytes, 3000000);
	assert_int_equal(report.heap_events.allocs, 3);
	assert_int_equal(report.heap_events.free_bytes, 3 * 1048576);
	assert_int_equal(report.heap_events.peak_bytes, 3000000);
	assert_int_equal(report.metadata.dropped, 2);
	report_free(&report);
}

static void tree_merges_paths(void **state)
{
	const struct report_choice choice = {.tree = true};
	const struct scope_node *node;
	struct report report;

	(void)state;
	assert_int_equal(report_read(&report, CPU, &choice), 0);
	assert_int_equal(report.tree.printed[0]->depth, 0);
	node = report.tree.printed[1];
	assert_string_equal(key_table_key(&report.tree.names, node->name, NULL),
			    "ProfilerStep#*");
	assert_int_equal(node->calls, 3);
	assert_int_equal(node->total_ns, 28500000);
	assert_int_equal(node->self_ns, 28500000 - 3 * (3502000 + 502000));
	assert_int_equal(report.tree.printed[2]->depth, 2);
	assert_int_equal(report.tree.printed[3]->depth, 3);
	report_free(&report);
}

static void gpu_time(void **state)
{
	const struct report_choice choice = {0};
	struct report report;
	struct total *rows;
	size_t count;

	(void)state;
	assert_int_equal(report_read(&report, GPU, &choice), 0);
	assert_int_equal(report_gpu_ns(&report), 1000000);
	assert_int_equal(busy_time_sum(&report.devices[0].busy), 1000000);
	rows = tally_list(&report.tally, "gpu_memcpy", ORDER_TOTAL, &count);
	assert_int_equal(count, 1);
	assert_int_equal(rows[0].bytes, 8388608);
	free(rows);
	report_free(&report);
}

static void output_is_complete(void **state)
{
	const struct report_choice choice = {.tree = true};
	struct report report;
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	assert_int_equal(report_read(&report, CPU, &choice), 0);
	report_print_text(&report, out);
	report_print_json(&report, out);
	fclose(out);
	assert_non_null(strstr(text, "Steps: 3, mean 9.500 ms"));
	assert_non_null(strstr(text, "thread 4243 (train)"));
	assert_non_null(strstr(text, "\"peak_bytes\": 3000000"));
	assert_non_null(strstr(text, "forward pass \xc3\xb1"));
	free(text);
	report_free(&report);
}

static void unreadable_is_said(void **state)
{
	const struct report_choice choice = {0};
	struct report report;

	(void)state;
	assert_int_not_equal(report_read(&report, "/dev/null", &choice), 0);
	assert_string_equal(report.facts.error, "the file is empty");
	report_free(&report);
	assert_int_not_equal(report_read(&report, "/no/such", &choice), 0);
	report_free(&report);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(regions_are_weighed),
		cmocka_unit_test(waits_and_tasks_lie_in_each_other),
		cmocka_unit_test(a_wait_with_many_tasks),
		cmocka_unit_test(a_part_that_comes_last),
		cmocka_unit_test(a_wait_that_begins_a_nanosecond_early),
		cmocka_unit_test(totals_count_a_region_once),
		cmocka_unit_test(steps_heap_and_losses),
		cmocka_unit_test(tree_merges_paths),
		cmocka_unit_test(gpu_time),
		cmocka_unit_test(output_is_complete),
		cmocka_unit_test(unreadable_is_said),
	};

	return cmocka_run_group_tests_name("tools_report", tests, NULL, NULL);
}
