/* SPDX-License-Identifier: MIT */
/* test_loader.c - a fork and our calls into the loader keep apart. */
#include "tests/unit/cmocka_base.h"

#include "collector/system/loader.h"
#include <pthread.h>
#include <time.h>

static _Atomic int entered, left, forked;

static void sleep_ms(long ms)
{
	const struct timespec time = {0, ms * 1000000};

	nanosleep(&time, NULL);
}

static void *stay_inside(void *unused)
{
	(void)unused;
	if (!loader_enter())
		return NULL;
	atomic_store(&entered, 1);
	sleep_ms(30);
	atomic_store(&left, 1);
	loader_leave();
	return NULL;
}

static void *come_later(void *unused)
{
	(void)unused;
	if (!loader_enter())
		return NULL;
	atomic_store(&entered, atomic_load(&forked) ? 2 : 1);
	loader_leave();
	return NULL;
}

static void test_a_fork_waits_for_who_is_inside(void **state)
{
	pthread_t thread;

	(void)state;
	atomic_store(&entered, 0);
	pthread_create(&thread, NULL, stay_inside, NULL);
	while (!atomic_load(&entered))
		sleep_ms(1);
	loader_before_fork();
	assert_int_equal(atomic_load(&left), 1);
	loader_after_fork();
	pthread_join(thread, NULL);
}

static void test_nobody_enters_during_a_fork(void **state)
{
	pthread_t thread;

	(void)state;
	atomic_store(&entered, 0);
	loader_before_fork();
	pthread_create(&thread, NULL, come_later, NULL);
	sleep_ms(30);
	assert_int_equal(atomic_load(&entered), 0);
	atomic_store(&forked, 1);
	loader_after_fork();
	pthread_join(thread, NULL);
	assert_int_equal(atomic_load(&entered), 2);
}

static void *fork_cancelled(void *has_come_by)
{
	pthread_cancel(pthread_self());
	loader_before_fork();
	*(bool *)has_come_by = true;
	loader_after_fork();
	pthread_testcancel();
	return NULL;
}

/* fork() is no point of cancellation, and nobody could fork after one. */
static void test_a_fork_that_waits_is_not_cancelled(void **state)
{
	bool has_come_by = false;
	pthread_t thread;

	(void)state;
	assert_true(loader_enter());
	pthread_create(&thread, NULL, fork_cancelled, &has_come_by);
	sleep_ms(5);
	loader_leave();
	pthread_join(thread, NULL);
	assert_true(has_come_by);
}

static void test_a_fork_without_end_is_not_waited_for(void **state)
{
	(void)state;
	loader_before_fork();
	assert_false(loader_enter());
	/* As in its child. */
	loader_forget();
	assert_true(loader_enter());
	loader_leave();
}

static void *stay(void *unused)
{
	(void)unused;
	while (!atomic_load(&left))
		sleep_ms(1);
	return NULL;
}

static void wait_for_background(unsigned int count)
{
	while (background_count() != count)
		sleep_ms(1);
}

static void test_threads_of_ours_are_counted_while_they_live(void **state)
{
	(void)state;
	atomic_store(&left, 0);
	loader_forget();
	assert_int_equal(background_start(stay, 64 << 10), 0);
	assert_int_equal(background_start(stay, 64 << 10), 0);
	wait_for_background(2);
	atomic_store(&left, 1);
	wait_for_background(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_fork_waits_for_who_is_inside),
		cmocka_unit_test(test_nobody_enters_during_a_fork),
		cmocka_unit_test(test_a_fork_that_waits_is_not_cancelled),
		cmocka_unit_test(test_a_fork_without_end_is_not_waited_for),
		cmocka_unit_test(
			test_threads_of_ours_are_counted_while_they_live),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
