/* SPDX-License-Identifier: MIT */
/* test_folder.c - each name once, without those that begin with a dot. */
#include "collector/system/folder.h"
#include "tests/unit/cmocka_base.h"
#include "tests/unit/unit_folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* More than the kernel gives at once. */
#define FILES 400

struct seen {
	unsigned int count[FILES];
	unsigned int others, left;
};

static bool see(const char *name, void *arg)
{
	struct seen *seen = arg;
	unsigned int number;

	if (sscanf(name, "a-file-%u", &number) == 1 && number < FILES)
		seen->count[number]++;
	else
		seen->others++;
	return --seen->left > 0;
}

static struct seen read_until(int fd, unsigned int left)
{
	struct seen seen = {.left = left};

	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	folder_read(fd, see, &seen);
	return seen;
}

static void each_name_comes_once(void **state)
{
	char folder[4096], path[8192];
	struct seen seen;
	int fd;

	(void)state;
	unit_template(folder, sizeof(folder), "folder");
	assert_non_null(mkdtemp(folder));
	for (int i = -1; i < FILES; i++) {
		snprintf(path, sizeof(path),
			 i < 0 ? "%s/.hidden" : "%s/a-file-%d", folder, i);
		fd = open(path, O_CREAT | O_WRONLY, 0600);
		assert_true(fd >= 0);
		close(fd);
	}
	fd = open(folder, O_RDONLY | O_DIRECTORY);
	assert_true(fd >= 0);
	seen = read_until(fd, FILES + 1);
	for (int i = 0; i < FILES; i++)
		assert_int_equal(seen.count[i], 1);
	assert_int_equal(seen.others, 0);
	assert_int_equal(seen.left, 1);
	seen = read_until(fd, 7);
	assert_int_equal(seen.left, 0);
	close(fd);
	for (int i = -1; i < FILES; i++) {
		snprintf(path, sizeof(path),
			 i < 0 ? "%s/.hidden" : "%s/a-file-%d", folder, i);
		assert_int_equal(unlink(path), 0);
	}
	assert_int_equal(rmdir(folder), 0);
}

static void no_folder_has_no_names(void **state)
{
	struct seen seen = {.left = 1};

	(void)state;
	folder_read(-1, see, &seen);
	assert_int_equal(seen.left, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_name_comes_once),
		cmocka_unit_test(no_folder_has_no_names),
	};

	return cmocka_run_group_tests_name("folder", tests, NULL, NULL);
}
