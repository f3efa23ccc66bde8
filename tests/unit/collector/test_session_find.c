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
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/session_group.h"

/* What session_claim() says of the session at a path, as its header now is. */
static int claim(const char *path, const struct session_header *head)
{
	const int fd = session_file(path, O_RDONLY);
	int rc;

	assert_true(fd >= 0);
	rc = session_claim(fd, head);
	close(fd);
	return rc;
}

/* A process with a session of its own, which calls run() once it has it, and
 * the path of that session. */
static pid_t start(void (*run)(void), char *path)
{
	int ends[2];
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (!child) {
		session_drop();
		session = fixture_begin(8);
		if (write(ends[1], session->path, SESSION_TEXT_BYTES) < 0)
			_exit(1);
		run();
		for (;;)
			pause();
	}
	assert_int_equal(read(ends[0], path, SESSION_TEXT_BYTES),
			 SESSION_TEXT_BYTES);
	close(ends[0]);
	close(ends[1]);
	return child;
}

static void nothing(void)
{
}

/* The header of a process's session. */
static void look_at(const char *path, struct session_header *head)
{
	const int fd = session_file(path, O_RDONLY);
	struct session looked;

	assert_true(fd >= 0);
	assert_int_equal(session_look(fd, &looked), 0);
	memcpy(head, looked.head, sizeof(*head));
	session_close(&looked);
	close(fd);
}

static void needs_a_file(void)
{
	if (session->head->place != SESSION_IN_FILE)
		skip(); /* no roomy /dev/shm here */
}

/* Whatever the process table seems to say. */
static void test_who_lives_holds_the_lock(void **state)
{
	struct session_header head;

	(void)state;
	needs_a_file();
	assert_true(session->head->lock_inode != 0);
	memcpy(&head, session->head, sizeof(head));
	assert_int_equal(claim(session->path, &head), -EBUSY);
	head.started++; /* as if the pid had been used again */
	assert_int_equal(claim(session->path, &head), -EBUSY);
	head.pid = INT32_MAX; /* /proc is hidden, or another's */
	assert_int_equal(claim(session->path, &head), -EBUSY);
	head.pid_namespace++;
	assert_int_equal(claim(session->path, &head), -EBUSY);
	head.boot_id[0] ^= 1;
	assert_int_equal(claim(session->path, &head), -EBUSY);
}

static void test_a_kill_frees_the_lock(void **state)
{
	struct session_header head;
	char path[SESSION_TEXT_BYTES];
	siginfo_t info;
	pid_t child;

	(void)state;
	needs_a_file();
	child = start(nothing, path);
	look_at(path, &head);
	assert_int_equal(head.pid, child);
	assert_int_equal(claim(path, &head), -EBUSY);
	kill(child, SIGKILL);
	waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
	assert_int_equal(claim(path, &head), 0); /* a zombie */
	waitpid(child, NULL, 0);
	assert_int_equal(claim(path, &head), 0);
	head.pid_namespace++; /* as seen from another one */
	head.pid = (int)getpid();
	assert_int_equal(claim(path, &head), 0);
	unlink(path);
}

/* One at a time finishes it. */
static void test_a_claim_is_for_one(void **state)
{
	struct session_header head;
	char path[SESSION_TEXT_BYTES];
	pid_t child;
	int fd;

	(void)state;
	needs_a_file();
	child = start(nothing, path);
	look_at(path, &head);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	fd = session_file(path, O_RDONLY);
	assert_int_equal(session_claim(fd, &head), 0);
	assert_int_equal(claim(path, &head), -EBUSY);
	close(fd);
	assert_int_equal(claim(path, &head), 0);
	unlink(path);
}

static void close_everything(void)
{
	close_range(0, ~0u, 0);
	raise(SIGSTOP);
}

static void test_closed_descriptors_keep_the_lock(void **state)
{
	struct session_header head;
	char path[SESSION_TEXT_BYTES];
	pid_t child;

	(void)state;
	needs_a_file();
	child = start(close_everything, path);
	waitpid(child, NULL, WUNTRACED);
	look_at(path, &head);
	assert_int_equal(claim(path, &head), -EBUSY);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_int_equal(claim(path, &head), 0);
	unlink(path);
}

static bool child_drops;
static int grandchild[2];

/* Stops with a child that outlives it. */
static void fork_and_stop(void)
{
	if (!fork()) {
		if (child_drops)
			session_drop();
		const pid_t self = getpid();

		if (write(grandchild[1], &self, sizeof(self)) < 0)
			_exit(1);
		for (;;)
			pause();
	}
	raise(SIGSTOP);
}

/* A forked child that took the atfork handler doesn't keep the lock; one that
 * took none, by a bare system call, does, since it has the memory. */
static void test_children_that_outlive_it(void **state)
{
	struct session_header head;
	char path[SESSION_TEXT_BYTES];
	pid_t child, second;
	int rc;

	(void)state;
	needs_a_file();
	for (int i = 0; i < 2; i++) {
		child_drops = i;
		assert_int_equal(pipe(grandchild), 0);
		child = start(fork_and_stop, path);
		assert_int_equal(read(grandchild[0], &second, sizeof(second)),
				 sizeof(second));
		look_at(path, &head);
		assert_int_equal(claim(path, &head), -EBUSY);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		rc = claim(path, &head);
		kill(second, SIGKILL);
		unlink(path);
		assert_int_equal(rc, child_drops ? 0 : -EBUSY);
		close(grandchild[0]);
		close(grandchild[1]);
	}
}

static void *stay(void *arg)
{
	pause();
	return arg;
}

static void lose_first_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, stay, NULL);
	syscall(SYS_exit, 0);
}

/* The first thread has ended, as pthread_exit() in main() lets it, and looks
 * like a zombie; the others go on. */
static void test_alive_without_its_first_thread(void **state)
{
	struct session_header head;
	char path[SESSION_TEXT_BYTES];
	char stat[64];
	char text[512];
	pid_t child;

	(void)state;
	needs_a_file();
	child = start(lose_first_thread, path);
	snprintf(stat, sizeof(stat), "/proc/%d/stat", (int)child);
	do {
		usleep(1000);
		assert_true(proc_read(stat, text, sizeof(text)) > 0);
	} while (!strstr(text, ") Z "));
	look_at(path, &head);
	assert_int_equal(claim(path, &head), -EBUSY);
	head.lock_inode = 0; /* without a lock the process table says so */
	assert_int_equal(claim(path, &head), -EBUSY);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_int_equal(claim(path, &head), 0);
	unlink(path);
}

/* A copy, or a file on a file system without locks: nobody holds its lock. */
static void test_without_a_lock_the_process_table_says(void **state)
{
	struct session_header head;
	char path[64];
	pid_t child;
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "/tmp/traceprof-copy-%d", (int)getpid());
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	memcpy(&head, session->head, sizeof(head));
	assert_int_equal(claim(path, &head), -EBUSY); /* the table says so */
	head.lock_inode = 0;
	assert_int_equal(claim(path, &head), -EBUSY);
	head.pid_namespace++; /* another table */
	assert_int_equal(claim(path, &head), -ENOLCK);
	head.pid_namespace = 0; /* not known when it was made */
	assert_int_equal(claim(path, &head), -ENOLCK);
	head.pid_namespace = session->head->pid_namespace;
	head.boot_id[0] ^= 1; /* another boot, or another machine */
	assert_int_equal(claim(path, &head), -ENOLCK);
	head.boot_id[0] ^= 1;
	head.started = 0;
	assert_int_equal(claim(path, &head), -ENOLCK);
	head.started = session->head->started + 1; /* the pid was used again */
	assert_int_equal(claim(path, &head), 0);
	child = fork();
	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
	head.pid = child;
	assert_int_equal(claim(path, &head), 0);
	head.pid = -1;
	assert_int_equal(claim(path, &head), -ENOLCK);
	close(fd);
	unlink(path);
}

/* This very file, under this very kernel. */
static void test_a_lock_is_believed_on_its_own_file_alone(void **state)
{
	struct session_header head;
	struct stat status;
	char path[64];
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "/tmp/traceprof-copy-%d", (int)getpid());
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	assert_int_equal(fstat(fd, &status), 0);
	memcpy(&head, session->head, sizeof(head));
	head.pid_namespace = 0;
	head.lock_inode = status.st_ino;
	head.lock_device = status.st_dev;
	assert_int_equal(claim(path, &head), 0);
	head.lock_device++;
	assert_int_equal(claim(path, &head), -ENOLCK);
	head.lock_device--;
	head.boot_id[0] ^= 1;
	assert_int_equal(claim(path, &head), -ENOLCK);
	close(fd);
	unlink(path);
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
	/* It isn't old in the making, but stopped. */
	assert_int_equal(flock(fd, LOCK_EX), 0);
	session_sweep(unmade);
	assert_int_equal(access(unmade, F_OK), 0);
	assert_int_equal(flock(fd, LOCK_UN), 0);
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
		FIND_TEST(test_who_lives_holds_the_lock),
		FIND_TEST(test_a_kill_frees_the_lock),
		FIND_TEST(test_a_claim_is_for_one),
		FIND_TEST(test_closed_descriptors_keep_the_lock),
		FIND_TEST(test_children_that_outlive_it),
		FIND_TEST(test_alive_without_its_first_thread),
		FIND_TEST(test_without_a_lock_the_process_table_says),
		FIND_TEST(test_a_lock_is_believed_on_its_own_file_alone),
		FIND_TEST(test_sessions_are_found),
		FIND_TEST(test_an_unmade_session_is_swept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
