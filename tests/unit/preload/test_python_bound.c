/* SPDX-License-Identifier: MIT */
/* test_python_bound.c - a call's price follows what hooks take. */
#include "tests/unit/session_fixture.h"

#include "preload/python/python_bound.h"

#define BATCH  64u
#define FIRST  64u /* batches of which all hooks are timed */
#define RECENT 8u

static void batch(struct session *session, uint64_t ticks)
{
	for (unsigned int at = 0; at < BATCH; at++)
		python_bound_time(session, ticks);
}

static void batches(struct session *session, unsigned int count, uint64_t ticks)
{
	while (count--)
		batch(session, ticks);
}

static void test_the_price_follows(void **state)
{
	struct session *session = fixture_begin(4);
	const uint32_t *price = &session->head->cost.python_ps;
	uint32_t quick;

	(void)state;
	python_bound_start(5);
	batches(session, FIRST, 100);
	quick = *price;
	assert_true(quick > 0);
	/* A loop of calls, and then a program that empties the caches. */
	batches(session, RECENT - 1, 1000);
	assert_int_equal(*price, quick);
	batch(session, 1000);
	assert_in_range(*price, 9 * quick, 11 * quick);
	/* Others had the processor, but for one batch. */
	batches(session, RECENT - 1, 5000);
	batch(session, 1000);
	assert_in_range(*price, 9 * quick, 11 * quick);
	batches(session, RECENT, 100);
	assert_int_equal(*price, quick);
	fixture_end(session);
}

static void test_few_hooks_are_timed_later(void **state)
{
	struct session *session = fixture_begin(4);
	unsigned int timed = 0;

	(void)state;
	python_bound_start(5);
	for (unsigned int hook = 0; hook < FIRST * BATCH; hook++) {
		const uint64_t begun = python_bound_begin();

		timed += begun != 0;
		python_bound_end(session, begun);
	}
	assert_int_equal(timed, FIRST * BATCH);
	timed = 0;
	for (unsigned int hook = 0; hook < 3200; hook++) {
		const uint64_t begun = python_bound_begin();

		timed += begun != 0;
		python_bound_end(session, begun);
	}
	assert_int_equal(timed, 100);
	fixture_end(session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_price_follows),
		cmocka_unit_test(test_few_hooks_are_timed_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
