/* SPDX-License-Identifier: MIT */
/*
 * test_proc.c - what the kernel tells, compared with what libc says.
 */
#include "tests/unit/cmocka_base.h"

#include "collector/system/proc.h"
#include <errno.h>
#include <stdio.h>
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void test_small_files_are_read_whole_or_cut(void **state)
{
	char text[64];

	(void)state;
	assert_true(proc_read("/proc/self/comm", text, sizeof(text)) > 1);
	assert_string_equal(text, "test_proc\n");
	assert_int_equal(proc_read("/proc/self/comm", text, 5), 4);
	assert_string_equal(text, "test");
	assert_int_equal(proc_read("/proc/self/comm", text, 1), 0);
	assert_string_equal(text, "");
	assert_int_equal(proc_read("/no/such/file", text, sizeof(text)),
			 -ENOENT);
	assert_string_equal(text, "");
	assert_true(proc_read("/proc", text, sizeof(text)) < 0);
}

/* When a process began, 0: there is none. */
static uint64_t started_of(int pid)
{
	struct proc_stat stat;

	const bool is_there = proc_stat(pid, &stat);

	assert_int_equal(is_there, stat.started > 0);
	assert_int_equal(stat.threads > 0, stat.started > 0);
	return stat.started;
}

static void test_start_time_is_of_that_process(void **state)
{
	const uint64_t started = started_of(getpid());
	pid_t child;

	(void)state;
	assert_true(started > 0);
	assert_true(started >= started_of(1));
	assert_int_equal(started_of(getpid()), started);
	child = fork();
	if (!child)
		_exit(0);
	assert_true(started_of(child) >= started);
	waitpid(child, NULL, 0);
	assert_int_equal(started_of(child), 0);
}

static void test_a_hostile_name_does_not_move_the_fields(void **state)
{
	const uint64_t started = started_of(getpid());

	(void)state;
	prctl(PR_SET_NAME, "a) Z 1 2 3 (b");
	assert_int_equal(started_of(getpid()), started);
	prctl(PR_SET_NAME, "test_proc");
}

static void test_names(void **state)
{
	char text[64];
	char host[64];

	(void)state;
	proc_program(text, sizeof(text));
	assert_string_equal(text, "test_proc");
	prctl(PR_SET_NAME, "a thread");
	proc_thread_name((uint32_t)syscall(SYS_gettid), text, sizeof(text));
	assert_string_equal(text, "a thread");
	prctl(PR_SET_NAME, "test_proc");
	proc_thread_name(0x7fffffff, text, sizeof(text));
	assert_string_equal(text, "");
	assert_int_equal(gethostname(host, sizeof(host)), 0);
	proc_host(text, sizeof(text));
	if (!strchr(host, '/'))
		assert_string_equal(text, host);
	assert_null(strchr(text, '/'));
}

static void test_boot_and_namespace(void **state)
{
	char text[40];
	struct stat status;

	(void)state;
	proc_boot_id(text, sizeof(text));
	assert_null(strchr(text, '\n'));
	assert_true(!text[0] || strlen(text) == 36);
	assert_int_equal(stat("/proc/self/ns/pid", &status), 0);
	assert_int_equal(proc_pid_namespace(), status.st_ino);
}

static void test_there_is_some_memory_left(void **state)
{
	(void)state;
	assert_true(proc_memory_left() > 1 << 20);
}

/* Has computed for 0.3 seconds when that is said, and waits then. */
static void compute(int said, int until)
{
	struct timespec used = {0, 0};
	char byte = 0;

	while (!used.tv_sec && used.tv_nsec < 300000000)
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	if (write(said, &byte, 1) == 1)
		_exit(read(until, &byte, 1) != 0);
	_exit(1);
}

static void test_what_a_childs_child_takes_is_the_programs(void **state)
{
	struct proc_machine before, after;
	int said[2], until[2];
	char byte;
	pid_t child;

	(void)state;
	assert_false(pipe(said) || pipe(until));
	assert_true(proc_machine(&before));
	child = fork();
	if (!child) {
		close(until[1]);
		if (!fork())
			compute(said[1], until[0]);
		_exit(wait(NULL) < 0);
	}
	assert_int_equal(read(said[0], &byte, 1), 1);
	assert_true(proc_machine(&after));
	close(until[1]);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_true(after.own_ns - before.own_ns >= 250000000);
	assert_true(after.busy_ns >= before.busy_ns &&
		    after.all_ns > before.all_ns);
}

struct starter {
	int said, until, unused;
};

static void *start_one(void *starter)
{
	const struct starter *with = starter;
	pid_t child = fork();

	if (!child) {
		close(with->unused);
		compute(with->said, with->until);
	}
	return waitpid(child, NULL, 0) == child ? starter : NULL;
}

static void test_what_another_threads_child_takes_is_the_programs(void **state)
{
	struct proc_machine before, after;
	int said[2], until[2];
	struct starter with;
	pthread_t thread;
	void *result;
	char byte;

	(void)state;
	assert_false(pipe(said) || pipe(until));
	with = (struct starter){said[1], until[0], until[1]};
	assert_true(proc_machine(&before));
	assert_false(pthread_create(&thread, NULL, start_one, &with));
	assert_int_equal(read(said[0], &byte, 1), 1);
	assert_true(proc_machine(&after));
	close(until[1]);
	assert_false(pthread_join(thread, &result));
	assert_ptr_equal(result, &with);
	assert_true(after.own_ns - before.own_ns >= 250000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small_files_are_read_whole_or_cut),
		cmocka_unit_test(test_start_time_is_of_that_process),
		cmocka_unit_test(test_a_hostile_name_does_not_move_the_fields),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_boot_and_namespace),
		cmocka_unit_test(test_there_is_some_memory_left),
		cmocka_unit_test(
			test_what_a_childs_child_takes_is_the_programs),
		cmocka_unit_test(
			test_what_another_threads_child_takes_is_the_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
