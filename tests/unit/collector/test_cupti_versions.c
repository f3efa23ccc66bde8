/* SPDX-License-Identifier: MIT */
/*
 * test_cupti_versions.c - which release of CUPTI has which defect, and what
 * people call it.
 */
#include "tests/unit/cmocka_base.h"

#include "collector/system/cupti_versions.h"
#include <string.h>

/* As NVIDIA's release notes have them: each number that cuptiGetVersion() has
 * given around a change.  OLD_NAMES was seen in 13.0, and OTHER_WINDOWS from
 * 13.1 U1 on: they are in no notes. */
static const struct {
	uint32_t version;
	char name[12];
	uint32_t defects;
} releases[] = {
#define HAS(name)  (1u << CUPTI_DEFECT_##name)
#define UP_TO_13_3 (HAS(STALE_NAMES) | HAS(OLD_NAMES) | HAS(LATE_ATTACH))
#define TO_NOW	   (HAS(OLD_NAMES) | HAS(OTHER_WINDOWS))
#define UP_TO_13_4 (UP_TO_13_3 | HAS(GRAPH_IDS) | HAS(DISABLING))
#define UP_TO_12_8 (UP_TO_13_4 | HAS(NULL_BUFFER))
	{19, "12.0", UP_TO_12_8},
	{20, "12.2", UP_TO_12_8},
	{21, "12.3", UP_TO_12_8 | HAS(THREAD_BUFFERS)},
	{22, "12.4", UP_TO_12_8 | HAS(THREAD_BUFFERS) | HAS(NO_KERNELS)},
	{23, "12.5", UP_TO_12_8 | HAS(THREAD_BUFFERS)},
	{24, "12.6", UP_TO_12_8 | HAS(THREAD_BUFFERS) | HAS(CLOCK_CALLBACK)},
	{25, "12.6 U2", UP_TO_12_8 | HAS(CLOCK_CALLBACK)},
	{26, "12.8", UP_TO_12_8 | HAS(CLOCK_CALLBACK)},
	{27, "12.9", UP_TO_13_4 | HAS(CLOCK_CALLBACK)},
	{28, "12.9 U1", UP_TO_13_4 | HAS(CLOCK_CALLBACK)},
	{130000, "13.0", UP_TO_13_4 | HAS(CLOCK_CALLBACK)},
	{130001, "13.0 U1",
	 (UP_TO_13_4 | HAS(CLOCK_CALLBACK)) & ~HAS(DISABLING)},
	{130100, "13.1", UP_TO_13_4 & ~HAS(DISABLING)},
	{130101, "13.1 U1", UP_TO_13_3 | HAS(OTHER_WINDOWS)},
	{130200, "13.2", UP_TO_13_3 | HAS(OTHER_WINDOWS)},
	{130299, "13.2 U99", UP_TO_13_3 | HAS(OTHER_WINDOWS)},
	{130300, "13.3", TO_NOW | HAS(STALE_NAMES)},
	{130400, "13.4", TO_NOW | HAS(STALE_NAMES)},
	{130401, "13.4 U1", TO_NOW},
	{140000, "14.0", TO_NOW},
};

static void each_release_has_its_defects(void **state)
{
	char text[160];

	(void)state;
	for (size_t i = 0; i < sizeof(releases) / sizeof(releases[0]); i++) {
		const uint32_t version = releases[i].version;

		cupti_versions_start(version);
		for (int row = 0; row < CUPTI_DEFECT_COUNT; row++) {
			const bool has = releases[i].defects >> row & 1;

			if (cupti_has((enum cupti_defect)row) != has)
				fail_msg("row %d of %s", row, releases[i].name);
			assert_int_equal(
				cupti_versions_row(version,
						   (enum cupti_defect)row, text,
						   sizeof(text)) > 0,
				has);
		}
		cupti_versions_name(version, text, sizeof(text));
		assert_string_equal(text, releases[i].name);
	}
	cupti_versions_start(0);
}

/* Each row says what is wrong and what is done, and is not cut. */
static void rows_are_whole(void **state)
{
	char text[160];

	(void)state;
	for (int row = 0; row < CUPTI_DEFECT_COUNT; row++) {
		size_t bytes = 0;

		for (size_t i = 0;
		     !bytes && i < sizeof(releases) / sizeof(releases[0]); i++)
			bytes = cupti_versions_row(releases[i].version,
						   (enum cupti_defect)row, text,
						   sizeof(text));
		assert_true(bytes > 0 && bytes < sizeof(text) - 1);
		assert_non_null(strstr(text, ": "));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_release_has_its_defects),
		cmocka_unit_test(rows_are_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
