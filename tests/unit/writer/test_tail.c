/* SPDX-License-Identifier: MIT */
/*
 * test_tail.c - a trace is whole at every moment, whatever happens to the
 * program and the disk.
 *
 * pwrite() and ftruncate() are ours here: they write page by page, look at the
 * file after each page as a kill would leave it, and fail on demand.
 */
#include "tests/unit/trace_fixture.h"
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#define KILLS_VARIABLE "TRACEPROF_TEST_KILLS"
#define KILLS	       40

/* The system calls, watched. */
static bool watching; /* look at the file after each page */
static long looks;
static long fail_at; /* the write that fails, counted from 1; 0 none */
static int fail_with;
static bool fail_halfway; /* after its first page */
static const char *broken;

static void look(void)
{
	const char *fault;
	size_t len;
	char *text = strict_read_gzip(path, &len, &fault);

	looks++;
	if (!text && !broken)
		broken = fault;
	free(text);
}

static bool fails_now(void)
{
	return fail_at && !--fail_at;
}

ssize_t pwrite(int fd, const void *bytes, size_t len, off_t at)
{
	const char *const begin = bytes;
	size_t done = 0;

	if (fails_now()) {
		if (!fail_halfway) {
			errno = fail_with;
			return -1;
		}
		fail_halfway = false;
		fail_at = 1;
		len = min_u64(len, PAGE_BYTES - (size_t)at % PAGE_BYTES);
	}
	while (done < len) {
		const size_t left =
			PAGE_BYTES - ((size_t)at + done) % PAGE_BYTES;
		const size_t piece = min_u64(left, len - done);
		const long rc = syscall(SYS_pwrite64, fd, begin + done, piece,
					at + (off_t)done);

		if (rc <= 0)
			return done ? (ssize_t)done : (ssize_t)rc;
		done += (size_t)rc;
		if (watching)
			look();
	}
	return (ssize_t)done;
}

int ftruncate(int fd, off_t bytes)
{
	long rc;

	if (fails_now()) {
		errno = fail_with;
		return -1;
	}
	rc = syscall(SYS_ftruncate, fd, bytes);
	if (watching)
		look();
	return (int)rc;
}

static int set_up_calls(void **state)
{
	watching = fail_halfway = false;
	broken = NULL;
	looks = fail_at = 0;
	return set_up(state);
}

/* The heart: whatever a kill between two pages of a write leaves is whole. */
static void is_whole_after_each_page_written(void **state)
{
	(void)state;
	create("zlib:1");
	watching = true;
	for (int i = 0; i < 150 && !broken; i++) {
		assert_int_equal(append_events((int)(lrand48() % 40),
					       (size_t)lrand48() % 300),
				 0);
		assert_int_equal(checkpoint(), 0);
	}
	for (int i = 0; i < 4 && !broken; i++)
		assert_int_equal(append_events(2000, 100), 0);
	letters = 2;
	assert_int_equal(append_events(1, 400000), 0);
	letters = 16;
	assert_int_equal(finish(), 0);
	watching = false;
	if (broken)
		fail_msg("look %ld: %s", looks, broken);
	assert_true(looks > 700);
	holds(tail_text);
}

/* Each write of a renewal in turn fails: the file is as it was. */
static void is_whole_after_each_failure(void **state)
{
	static const int errors[] = {ENOSPC, EDQUOT, EFBIG, EIO};
	int failures = 0;

	(void)state;
	for (int round = 0; round < 14; round++) {
		uint64_t size;
		size_t before;
		int rc;

		wanted_len = 0;
		create("zlib:1");
		assert_int_equal(append_events(500, 100), 0);
		assert_int_equal(checkpoint(), 0);
		before = wanted_len;
		size = size_of(path);
		assert_int_equal(append_events(900, 100), 0);
		fail_at = round / 2 + 1;
		fail_halfway = round & 1;
		fail_with = errors[round % 4];
		rc = checkpoint();
		fail_at = 0;
		if (rc) {
			assert_int_equal(rc, -fail_with);
			failures++;
			/* Sticky, and nothing more happens to the file. */
			assert_int_equal(checkpoint(), rc);
			assert_int_equal(append_events(1, 10), rc);
			assert_int_equal(finish(), rc);
			if (round / 2 < 4) {
				holds_at(path, before, tail_text, false);
				assert_int_equal(size_of(path), size);
			}
		} else {
			assert_int_equal(finish(), 0);
			holds(tail_text);
		}
		assert_int_equal(unlink(path), 0);
	}
	assert_true(failures >= 10);
}

static void plain_takes_back_what_did_not_fit(void **state)
{
	size_t before;

	(void)state;
	create("off");
	assert_int_equal(append_events(100, 100), 0);
	assert_int_equal(checkpoint(), 0);
	before = wanted_len;
	assert_int_equal(append_events(300, 100), 0);
	fail_at = 1;
	fail_halfway = true;
	fail_with = ENOSPC;
	assert_int_equal(checkpoint(), -ENOSPC);
	trace_file_abandon(&file);
	holds_at(path, before, tail_text, true);
}

static void leaves_no_file_where_none_fits(void **state)
{
	(void)state;
	fail_at = 1;
	fail_with = ENOSPC;
	assert_int_equal(trace_file_create(&file, path, "zlib:1", head_text,
					   strlen(head_text), NULL, 0),
			 -ENOSPC);
	assert_int_not_equal(access(path, F_OK), 0);
}

static void obeys_the_limit_of_file_size(void **state)
{
	const struct rlimit small = {12000, RLIM_INFINITY};
	struct rlimit before;
	sigset_t set, old;
	int rc = 0;

	(void)state;
	sigemptyset(&set);
	sigaddset(&set, SIGXFSZ);
	sigprocmask(SIG_BLOCK, &set, &old);
	getrlimit(RLIMIT_FSIZE, &before);
	create("zlib:1");
	setrlimit(RLIMIT_FSIZE, &small);
	for (int i = 0; i < 1000 && !rc; i++) {
		wanted_len = i ? wanted_len : strlen(head_text);
		rc = append_events(20, 100);
		if (!rc)
			rc = checkpoint();
	}
	trace_file_abandon(&file);
	setrlimit(RLIMIT_FSIZE, &before);
	signal(SIGXFSZ, SIG_IGN);
	sigprocmask(SIG_SETMASK, &old, NULL);
	signal(SIGXFSZ, SIG_DFL);
	assert_int_equal(rc, -EFBIG);
	watching = true;
	look();
	assert_null(broken);
	assert_true(size_of(path) <= 12000);
}

/* In a child: traces until it is killed. */
static void trace_for_ever(void)
{
	for (int i = 0;; i++) {
		if (append_events(i % 7 ? (int)(lrand48() % 50) : 3000, 100))
			_exit(1);
		if (checkpoint())
			_exit(1);
		wanted_len = 0;
	}
}

static void survives_kill(void **state)
{
	const char *text = getenv(KILLS_VARIABLE);
	const int kills = text ? atoi(text) : KILLS;

	(void)state;
	srand48((long)getpid());
	for (int i = 0; i < kills; i++) {
		struct timespec wait = {0, 500000 + lrand48() % 15000000};
		int status;
		pid_t pid;

		wanted_len = 0;
		create(i & 1 ? "auto" : "zlib:1");
		pid = fork();
		assert_true(pid >= 0);
		if (!pid) {
			srand48(i);
			trace_for_ever();
		}
		nanosleep(&wait, NULL);
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status));
		trace_file_abandon(&file);
		look();
		if (broken)
			fail_msg("kill %d: %s; see %s", i, broken, path);
		assert_int_equal(unlink(path), 0);
	}
}

int main(void)
{
#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, set_up_calls, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(is_whole_after_each_page_written),
		TEST(is_whole_after_each_failure),
		TEST(plain_takes_back_what_did_not_fit),
		TEST(leaves_no_file_where_none_fits),
		TEST(obeys_the_limit_of_file_size),
		TEST(survives_kill),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
