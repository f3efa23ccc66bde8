/* SPDX-License-Identifier: MIT */
/* test_task_counts.c - how often the writer looks at the program's threads. */
#include "tests/unit/cmocka_base.h"

#include "preload/sample/task_counts.h"
#include "tests/unit/session_fixture.h"
#include <unistd.h>

/* The writer waits for a processor in the midst of a round: the next one comes
 * nevertheless, where threads may have ended else. */
static void a_round_that_waits_takes_no_time(void **state)
{
	struct session *session = fixture_begin(4);
	bool begun = false;

	(void)state;
	assert_true(task_counts_begin(session, true));
	usleep(300000);
	task_counts_end();
	for (int i = 0; i < 200 && !begun; i++) {
		usleep(100000);
		begun = task_counts_begin(session, true);
	}
	assert_true(begun);
	task_counts_end();
	task_counts_forget();
	fixture_end(session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_round_that_waits_takes_no_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
