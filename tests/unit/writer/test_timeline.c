/* SPDX-License-Identifier: MIT */
/* test_timeline.c - ticks become time of the file. */
#include "tests/unit/sample_session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void time_is_unix_time_from_a_quarters_start(void **state)
{
	struct sample sample;
	struct timeline line;
	uint64_t last = 0;

	(void)state;
	sample_begin(&sample);
	sample_session(&sample);
	timeline_start(&line, sample.session);
	assert_int_equal(line.base_ns % INT64_C(7889238000000000), 0);
	for (uint64_t i = 0; i < 100; i++) {
		const uint64_t ns = timeline_ns(&line, sample.zero + i);

		assert_true(ns >= last);
		last = ns;
	}
	assert_in_range(timeline_unix_ns(&line, sample.zero + SAMPLE_PAST) /
				1000000000,
			time(NULL) - 5, time(NULL) + 5);
	sample_end(&sample);
}

/* A run of weeks that is killed: recovery goes on in a file whose base is that
 * of the start, whatever the segments still hold. */
static void a_long_run_keeps_its_base(void **state)
{
	struct sample sample;
	struct timeline line;
	struct clock_segments *clock;
	int64_t base_ns;

	(void)state;
	sample_begin(&sample);
	sample_session(&sample);
	timeline_start(&line, sample.session);
	base_ns = line.base_ns;
	clock = &sample.session->head->clock;
	clock->segment[0].from_ns += INT64_C(7889238000000000);
	timeline_start(&line, sample.session);
	assert_int_equal(line.base_ns, base_ns);
	sample_end(&sample);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_is_unix_time_from_a_quarters_start),
		cmocka_unit_test(a_long_run_keeps_its_base),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
