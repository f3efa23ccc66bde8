/* SPDX-License-Identifier: MIT */
/*
 * test_fresh_files.c - of the traces that processes of a run have left, which
 * one is judged.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/unit_folder.h"
#include "tools/record/record.h"

#define OWN 10

static char folder[256];
static char written[16][sizeof(folder) + 64];
static unsigned int count;
static struct fresh_files *files;

static int begin(void **state)
{
	(void)state;
	unit_template(folder, sizeof(folder), "unit");
	assert_non_null(mkdtemp(folder));
	files = fresh_files_start(folder, NULL, NULL);
	return 0;
}

static int end(void **state)
{
	(void)state;
	fresh_files_end(files);
	while (count)
		unlink(written[--count]);
	rmdir(folder);
	return 0;
}

static FILE *begin_trace(int pid, int time)
{
	char *path = written[count++];
	FILE *out;

	snprintf(path, sizeof(written[0]), "%s/host_%d.%d.pt.trace.json",
		 folder, pid, time);
	out = fopen(path, "w");
	assert_non_null(out);
	return out;
}

/* ran_us 0: without samples. */
static void trace(int pid, int events, int ran_us)
{
	FILE *out = begin_trace(pid, pid);

	fprintf(out, "{\"events\":{\"seen\":%d}", events);
	if (ran_us)
		fprintf(out, ",\"tasks\":[{\"tid\":0,\"ran_us\":%d}]", ran_us);
	fprintf(out, "}");
	fclose(out);
	fresh_files_poll(files, false);
}

static void is_judged(int pid, unsigned int of, bool is_by_work)
{
	char path[PATH_MAX], wanted[64];
	bool by_work;

	assert_int_equal(fresh_files_largest(files, OWN, path, &by_work), of);
	snprintf(wanted, sizeof(wanted), "/host_%d.", pid);
	assert_non_null(strstr(path, wanted));
	assert_int_equal(by_work, is_by_work);
}

static void test_who_has_hardly_an_event_did_little(void **state)
{
	(void)state;
	trace(OWN, 99, 0);
	trace(11, 1000, 0);
	trace(12, 10, 0);
	assert_true(fresh_files_did_little(files, OWN));
	is_judged(11, 3, false);
}

static void test_who_has_some_events_did_not(void **state)
{
	(void)state;
	trace(OWN, 101, 0);
	trace(11, 1000, 0);
	assert_false(fresh_files_did_little(files, OWN));
}

/* Of most events, for it waited often. */
static void test_who_worked_little_did_little(void **state)
{
	(void)state;
	trace(OWN, 5000, 249);
	trace(11, 400, 1000);
	trace(12, 500, 999);
	assert_true(fresh_files_did_little(files, OWN));
	is_judged(11, 3, true);
}

static void test_who_worked_did_not(void **state)
{
	(void)state;
	trace(OWN, 5000, 251);
	trace(11, 400, 1000);
	assert_false(fresh_files_did_little(files, OWN));
}

/* As one whose rest was written after its end. */
static void test_where_one_does_not_say_it_events_count(void **state)
{
	(void)state;
	trace(11, 400, 1000);
	trace(12, 500, 0);
	is_judged(12, 2, false);
}

static void test_alone_it_did_what_there_was(void **state)
{
	char path[PATH_MAX];
	bool by_work;

	(void)state;
	trace(OWN, 5, 1);
	assert_false(fresh_files_did_little(files, OWN));
	assert_int_equal(fresh_files_largest(files, OWN, path, &by_work), 0);
}

/* The newer, the larger `time`. */
static void window(int time, const char *step, int in_file)
{
	FILE *out = begin_trace(OWN, time);

	fprintf(out, "{\"events\":{\"in_file\":%d},\"step\":{%s}}", in_file,
		step);
	fclose(out);
	fresh_files_poll(files, false);
}

static void is_fullest(int time, const char *as)
{
	char path[PATH_MAX], wanted[64];
	const char *what;

	assert_true(fresh_files_fullest(files, OWN, path, &what));
	snprintf(wanted, sizeof(wanted), ".%d.", time);
	assert_non_null(strstr(path, wanted));
	if (as)
		assert_string_equal(what, as);
	else
		assert_null(what);
}

static void test_which_of_its_files_is_judged(void **state)
{
	(void)state;
	window(21, "\"drawn\":0", 5);
	is_fullest(21, NULL);
	window(22, "\"drawn\":0", 0);
	is_fullest(21, "the newest with anything in it");
	window(23, "\"drawn\":3", 9);
	window(24, "\"drawn\":2", 7);
	is_fullest(23, "the newest with the most steps");
	window(25, "\"drawn\":3", 8);
	is_fullest(25, NULL);
	window(26,
	       "\"drawn\":9,\"name\":\"step 7 took 1 s\"},"
	       "\"trigger\":{\"reason\":\"slow\"",
	       8);
	window(27, "\"drawn\":1", 8);
	is_fullest(26, "the newest with the most steps");
	window(28, "\"drawn\":0,\"name\":\"one\"", 4);
	window(29, "\"drawn\":3},\"name\":{", 8);
	window(30, "\"drawn\":0,\"name\":\"two\"", 0);
	is_fullest(28, "the fullest that was begun by hand");
}

#define FILES_TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FILES_TEST(test_who_has_hardly_an_event_did_little),
		FILES_TEST(test_who_has_some_events_did_not),
		FILES_TEST(test_who_worked_little_did_little),
		FILES_TEST(test_who_worked_did_not),
		FILES_TEST(test_where_one_does_not_say_it_events_count),
		FILES_TEST(test_alone_it_did_what_there_was),
		FILES_TEST(test_which_of_its_files_is_judged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
