/* SPDX-License-Identifier: MIT */
/*
 * test_event.c - the words for kinds, waits and schedules.
 */
#include "tests/unit/cmocka_base.h"

#include "collector/session/event.h"
#include <string.h>

static void test_each_kind_has_its_own_word(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < EVENT_KIND_COUNT; i++) {
		assert_true(event_kind_word(i)[0]);
		for (unsigned int j = 0; j < i; j++)
			assert_string_not_equal(event_kind_word(i),
						event_kind_word(j));
	}
	assert_string_equal(event_kind_word(EVENT_HEAP_ALLOC), "alloc");
	assert_string_equal(event_kind_word(EVENT_CALL), "call");
}

static void test_words_of_waits_and_schedules(void **state)
{
	(void)state;
	assert_string_equal(omp_sync_word(OMP_SYNC_BARRIER), "barrier");
	assert_string_equal(omp_sync_word(OMP_SYNC_SINGLE), "single");
	assert_string_equal(omp_schedule_word(OMP_SCHEDULE_NONE), "");
	assert_string_equal(omp_schedule_word(OMP_SCHEDULE_TEAMS), "teams");
}

static void test_numbers_out_of_range_are_unknown(void **state)
{
	(void)state;
	assert_string_equal(event_kind_word(EVENT_KIND_COUNT), "unknown");
	assert_string_equal(event_kind_word(UINT32_MAX), "unknown");
	assert_string_equal(omp_sync_word(OMP_SYNC_COUNT), "unknown");
	assert_string_equal(omp_schedule_word(0x10000), "unknown");
}

static void test_payloads_share_the_last_words(void **state)
{
	struct event event = {0};

	(void)state;
	event.heap.address = 1;
	event.words[3] = 4;
	assert_int_equal(event.words[0], 1);
	assert_int_equal(event.heap.spare_bytes, 4);
	assert_int_equal(offsetof(struct event, words), 32);
}

static void test_what_a_timed_block_has_spare(void **state)
{
	struct event event = {.heap.spare_bytes = event_timed(8, 5000)};

	(void)state;
	assert_int_equal(event_spare(&event, true), 8);
	assert_int_equal(event_dur(&event, true), 5000);
	event.heap.spare_bytes = event_timed(UINT64_MAX, UINT64_MAX);
	assert_int_equal(event_spare(&event, true), EVENT_SPARE_MAX);
	assert_int_equal(event_dur(&event, true), EVENT_DUR_MAX);
	event.heap.spare_bytes = EVENT_SPARE_MAX + 1;
	assert_int_equal(event_spare(&event, false), EVENT_SPARE_MAX + 1);
	assert_int_equal(event_dur(&event, false), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_kind_has_its_own_word),
		cmocka_unit_test(test_words_of_waits_and_schedules),
		cmocka_unit_test(test_numbers_out_of_range_are_unknown),
		cmocka_unit_test(test_payloads_share_the_last_words),
		cmocka_unit_test(test_what_a_timed_block_has_spare),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
