/* SPDX-License-Identifier: MIT */
/*
 * test_output.c - the file is made as promised, found again when its descriptor
 * is lost, and nothing else is ever touched.
 */
#include "tests/unit/trace_fixture.h"
#include <sys/resource.h>
#include <sys/syscall.h>

/* File systems without nameless files, machines without /proc. */
static bool without_nameless, without_proc;

int open(const char *name, int flags, ...)
{
	va_list args;
	int mode;

	va_start(args, flags);
	mode = va_arg(args, int);
	va_end(args);
	if (without_nameless && (flags & O_TMPFILE) == O_TMPFILE) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return (int)syscall(SYS_openat, AT_FDCWD, name, flags, mode);
}

int linkat(int from, const char *old_name, int to, const char *name, int flags)
{
	if (without_proc) {
		errno = ENOENT;
		return -1;
	}
	return (int)syscall(SYS_linkat, from, old_name, to, name, flags);
}

static void finds_its_file_again(void **state)
{
	char other[sizeof(folder) + 16];
	size_t len;
	char *bytes;
	int fd;

	(void)state;
	snprintf(other, sizeof(other), "%s/other", folder);
	create("zlib:1");
	assert_true(file.output.fd >= 100);
	assert_true(fcntl(file.output.fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(append_events(10, 100), 0);
	/* The program closes everything and opens a file of its own. */
	fd = open(other, O_RDWR | O_CREAT | O_EXCL, 0600);
	assert_int_equal(write(fd, "THEIRS", 6), 6);
	assert_int_equal(dup2(fd, file.output.fd), file.output.fd);
	assert_int_equal(checkpoint(), 0);
	holds(tail_text);
	/* And only closes it. */
	close(file.output.fd);
	assert_int_equal(append_events(10, 100), 0);
	assert_int_equal(checkpoint(), 0);
	holds(tail_text);
	/* Theirs is neither written nor closed when we end. */
	assert_int_equal(dup2(fd, file.output.fd), file.output.fd);
	trace_file_abandon(&file);
	bytes = strict_read_file(other, &len);
	assert_int_equal(len, 6);
	assert_memory_equal(bytes, "THEIRS", 6);
	free(bytes);
	holds(tail_text);
}

static void refuses_what_is_not_its_file(void **state)
{
	size_t len;
	char *bytes;
	int fd;

	(void)state;
	create("zlib:1");
	assert_int_equal(append_events(10, 100), 0);
	close(file.output.fd);
	assert_int_equal(rename(path, new_path), 0);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	assert_int_equal(write(fd, "THEIRS", 6), 6);
	close(fd);
	assert_int_equal(checkpoint(), -ESTALE);
	trace_file_abandon(&file);
	bytes = strict_read_file(path, &len);
	assert_int_equal(len, 6);
	free(bytes);
	assert_int_equal(unlink(path), 0);

	/* A link, even to it. */
	wanted_len = 0;
	create("zlib:1");
	close(file.output.fd);
	assert_int_equal(rename(path, new_path), 0);
	assert_int_equal(symlink(new_path, path), 0);
	assert_int_equal(checkpoint(), -ESTALE);
	trace_file_abandon(&file);
	assert_int_equal(unlink(path), 0);

	/* A pipe. */
	wanted_len = 0;
	create("zlib:1");
	close(file.output.fd);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(checkpoint(), -ESTALE);
	trace_file_abandon(&file);
	assert_int_equal(unlink(path), 0);

	/* Deleted, with and without our descriptor. */
	for (int i = 0; i < 2; i++) {
		wanted_len = 0;
		create("zlib:1");
		assert_int_equal(unlink(path), 0);
		if (i)
			close(file.output.fd);
		assert_int_equal(checkpoint(), -ENOENT);
		trace_file_abandon(&file);
	}
}

static int create_at(const char *name)
{
	return trace_file_create(&file, name, "zlib:1", head_text,
				 strlen(head_text), NULL, 0);
}

static void makes_the_folder_and_nothing_else(void **state)
{
	char name[1024], part[sizeof(folder) + 16];
	struct stat stat_now;

	(void)state;
	snprintf(name, sizeof(name), "%s/x/y/z/f.json.gz", folder);
	assert_int_equal(create_at(name), 0);
	trace_file_abandon(&file);
	snprintf(part, sizeof(part), "%s/x/y", folder);
	assert_int_equal(stat(part, &stat_now), 0);
	assert_int_equal(stat_now.st_mode & 07777, 0700);

	/* Taken: by a file, by a link to nowhere. */
	assert_int_equal(create_at(name), -EEXIST);
	assert_int_equal(symlink("/nowhere/at/all", path), 0);
	assert_int_equal(create_at(path), -EEXIST);

	snprintf(name, sizeof(name), "%s/x/y/z/f.json.gz/g", folder);
	assert_int_equal(create_at(name), -ENOTDIR);
	assert_int_equal(create_at("relative"), -EINVAL);
	assert_int_equal(create_at("/proc/1/no/such"), -ENOENT);
	memset(name, 'n', sizeof(name) - 1);
	name[0] = '/';
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(create_at(name), -ENAMETOOLONG);
	assert_int_equal(trace_file_create(&file, new_path, "zlib:0", head_text,
					   1, NULL, 0),
			 -EINVAL);
	assert_int_not_equal(access(new_path, F_OK), 0);
}

/* The same file comes out, by other ways. */
static void makes_do_with_less(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		const size_t head_len = strlen(head_text);
		struct stat stat_now;

		wanted_len = 0;
		without_nameless = i & 1;
		without_proc = i & 2;
		create("off");
		assert_int_equal(append_events(400, 100), 0);
		assert_int_equal(checkpoint(), 0);
		holds_at(path, wanted_len, tail_text, true);
		assert_int_equal(stat(path, &stat_now), 0);
		assert_int_equal(stat_now.st_mode & 07777, 0600);
		/* Lost and found. */
		close(file.output.fd);
		assert_int_equal(append_events(400, 100), 0);
		assert_int_equal(finish(), 0);
		holds_at(path, wanted_len, tail_text, true);
		assert_int_equal(create_at(path), -EEXIST);
		assert_int_equal(unlink(path), 0);
		/* More than a page before it has a name. */
		assert_int_equal(trace_file_create(&file, path, "off", wanted,
						   wanted_len, NULL, 0),
				 0);
		trace_file_abandon(&file);
		holds_at(path, wanted_len, TRACE_FILE_SHORT_TAIL, true);
		assert_true(wanted_len > head_len + 2 * PAGE_BYTES);
		assert_int_equal(unlink(path), 0);
	}
	without_nameless = without_proc = false;
}

static void makes_do_with_few_descriptors(void **state)
{
	struct rlimit few, before;

	(void)state;
	getrlimit(RLIMIT_NOFILE, &before);
	few = before;
	few.rlim_cur = 64;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	create("zlib:1");
	setrlimit(RLIMIT_NOFILE, &before);
	assert_true(file.output.fd >= 32 && file.output.fd < 64);
	assert_int_equal(finish(), 0);
	holds(tail_text);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(finds_its_file_again),
		TEST(refuses_what_is_not_its_file),
		TEST(makes_the_folder_and_nothing_else),
		TEST(makes_do_with_less),
		TEST(makes_do_with_few_descriptors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
