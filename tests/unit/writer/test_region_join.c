/* SPDX-License-Identifier: MIT */
/* test_region_join.c - ends of regions, kept for the waits in them. */
#include "tests/unit/cmocka_base.h"
#include "writer/state/region_join.h"
#include <sys/resource.h>

static void regions_of_many_threads_are_kept_apart(void **state)
{
	struct region_join join;
	unsigned int kept = 0;

	(void)state;
	region_join_start(&join);
	/* Half of what the table can hold at all. */
	for (uint64_t i = 1; i <= 1000; i++) {
		for (uint64_t t = 0; t < 32; t++)
			region_join_add(&join, t << 32 | i, i * 100 + t, false);
	}
	for (uint64_t i = 1; i <= 1000; i++) {
		for (uint64_t t = 0; t < 32; t++) {
			const struct region_end *end =
				region_join_find(&join, t << 32 | i);

			assert_true(!end || end->end_ticks == i * 100 + t);
			kept += end != NULL;
		}
	}
	/* Where all places of one are taken the latest ones stay. */
	assert_in_range(kept, 31000, 32000);
	for (uint64_t i = 990; i <= 1000; i++)
		assert_non_null(region_join_find(&join, i));
	region_join_end(&join);
}

/* A fault of the writer's may interrupt the program's threads. */
static void the_table_of_regions_takes_its_faults_at_once(void **state)
{
	struct region_join join;
	struct rusage before, after;

	(void)state;
#ifdef __SANITIZE_THREAD__
	skip(); /* its shadow memory has faults of its own */
#endif
	region_join_start(&join);
	assert_null(region_join_find(&join, 1));
	region_join_add(&join, 1, 100, false);
	getrusage(RUSAGE_SELF, &before);
	for (uint64_t i = 2; i <= 100000; i++) {
		assert_null(region_join_find(&join, i));
		region_join_add(&join, i, 100 + i, false);
	}
	getrusage(RUSAGE_SELF, &after);
	assert_in_range(after.ru_minflt - before.ru_minflt, 0, 5);
	region_join_end(&join);
}

static void the_drain_does_not_take_back_what_the_scan_found(void **state)
{
	struct region_join join;
	uint64_t late = 0;

	(void)state;
	region_join_start(&join);
	region_join_add(&join, 1, 100, false);
	/* Some later region has the same place. */
	for (uint64_t i = 2; !late; i++) {
		region_join_add(&join, i, 100 + i, false);
		if (!region_join_find(&join, 1))
			late = i;
	}
	region_join_add(&join, 1, 100, true);
	assert_null(region_join_find(&join, 1));
	assert_false(region_join_find(&join, late)->is_drained);
	region_join_add(&join, late, 100 + late, true);
	assert_true(region_join_find(&join, late)->is_drained);
	region_join_end(&join);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(regions_of_many_threads_are_kept_apart),
		cmocka_unit_test(the_table_of_regions_takes_its_faults_at_once),
		cmocka_unit_test(
			the_drain_does_not_take_back_what_the_scan_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
