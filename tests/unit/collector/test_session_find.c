/* SPDX-License-Identifier: MIT */
/*
 * test_session_find.c - who still runs, what is found, what is swept away.
 */
#include "collector/system/proc.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/session_group.h"

static void test_alive_and_dead(void **state)
{
	struct session_header head;
	pid_t child;

	(void)state;
	memcpy(&head, session->head, sizeof(head));
	assert_true(session_is_alive(&head));
	head.started++; /* the pid was used again */
	assert_false(session_is_alive(&head));
	head.started--;
	head.boot_id[0] ^= 1; /* another boot, or another machine */
	assert_false(session_is_alive(&head));
	head.boot_id[0] ^= 1;
	head.pid_namespace++; /* can't be known */
	assert_true(session_is_alive(&head));
	head.pid_namespace--;
	head.pid = -1;
	assert_false(session_is_alive(&head));

	child = fork();
	if (!child)
		_exit(0);
	siginfo_t info;

	waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
	head.pid = child; /* a zombie */
	head.started = proc_started(child);
	assert_false(session_is_alive(&head));
	waitpid(child, NULL, 0);
	assert_false(session_is_alive(&head));
}

static void *stay(void *arg)
{
	pause();
	return arg;
}

/* The first thread has ended, as pthread_exit() in main() lets it, and looks
 * like a zombie; the others go on. */
static void test_alive_without_its_first_thread(void **state)
{
	struct session_header head;
	siginfo_t info;
	char stat[64];
	char text[512];
	pid_t child;

	(void)state;
	memcpy(&head, session->head, sizeof(head));
	child = fork();
	if (!child) {
		pthread_t thread;

		pthread_create(&thread, NULL, stay, NULL);
		syscall(SYS_exit, 0);
	}
	snprintf(stat, sizeof(stat), "/proc/%d/stat", (int)child);
	do {
		usleep(1000);
		assert_true(proc_read(stat, text, sizeof(text)) > 0);
	} while (!strstr(text, ") Z "));
	head.pid = child;
	head.started = proc_started(child);
	assert_true(session_is_alive(&head));
	kill(child, SIGKILL);
	waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
	assert_false(session_is_alive(&head));
	waitpid(child, NULL, 0);
}

static int find_own(const char *found, void *arg)
{
	*(bool *)arg |= !strcmp(found, session->path);
	return 0;
}

static int stop_at_once(const char *found, void *arg)
{
	(void)found;
	++*(int *)arg;
	return 7;
}

static void test_sessions_are_found(void **state)
{
	bool seen = false;
	int visits = 0;

	(void)state;
	if (session->head->place != SESSION_IN_FILE)
		skip(); /* no roomy /dev/shm here */
	assert_int_equal(session_find(find_own, &seen), 0);
	assert_true(seen);
	assert_int_equal(session_find(stop_at_once, &visits), 7);
	assert_int_equal(visits, 1);
	session_unlink(session);
	seen = false;
	session_find(find_own, &seen);
	assert_false(seen);
}

/* A session that was never finished, of a process that is gone. */
static void test_an_unmade_session_is_swept(void **state)
{
	const struct timespec old[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
	char unmade[64];
	int fd;

	(void)state;
	snprintf(unmade, sizeof(unmade), "/tmp/traceprof-0-%d-77.session",
		 INT32_MAX);
	fd = open(unmade, O_RDWR | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	session_sweep(unmade); /* young: it may be in the making */
	assert_int_equal(access(unmade, F_OK), 0);
	assert_int_equal(futimens(fd, old), 0);
	session_sweep(unmade);
	assert_int_equal(access(unmade, F_OK), -1);
	close(fd);
	session_sweep(session->path);
	assert_int_equal(access(session->path, F_OK), 0);
}

#define FIND_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIND_TEST(test_alive_and_dead),
		FIND_TEST(test_alive_without_its_first_thread),
		FIND_TEST(test_sessions_are_found),
		FIND_TEST(test_an_unmade_session_is_swept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
