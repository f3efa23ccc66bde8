/* SPDX-License-Identifier: MIT */
/* test_file_locks.c - locks that the kernel tells of, and those it doesn't. */
#include "tests/unit/cmocka_base.h"

#include "collector/system/file_locks.h"
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES 40 /* more lines than are read at once */

static bool change(int fd, short type)
{
	struct flock lock = {.l_type = type, .l_whence = SEEK_SET};

	return !fcntl(fd, F_SETLK, &lock);
}

static uint64_t number_of(int fd)
{
	struct stat status;

	assert_int_equal(fstat(fd, &status), 0);
	return status.st_ino;
}

static void finds_each_lock(void **state)
{
	int fd[FILES];

	(void)state;
	for (int i = 0; i < FILES; i++) {
		char path[] = "/tmp/traceprof-locks-XXXXXX";

		fd[i] = mkstemp(path);
		assert_true(fd[i] >= 0);
		unlink(path);
		assert_false(file_locks_has(number_of(fd[i])));
		assert_true(change(fd[i], F_WRLCK));
	}
	for (int i = 0; i < FILES; i++) {
		assert_true(file_locks_has(number_of(fd[i])));
		assert_true(change(fd[i], F_UNLCK));
		assert_false(file_locks_has(number_of(fd[i])));
	}
	/* That of flock() is the description's. */
	assert_int_equal(flock(fd[0], LOCK_EX), 0);
	assert_false(file_locks_has(number_of(fd[0])));
	for (int i = 0; i < FILES; i++)
		close(fd[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_each_lock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
