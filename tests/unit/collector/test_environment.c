/* SPDX-License-Identifier: MIT */
/*
 * test_environment.c - variables as they are now, and lists of them that can't
 * be read.
 */
#include "tests/unit/cmocka_base.h"

#include "collector/system/environment.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define NAME "TEST_OF_VARIABLES"

static char *const *saved;

static int set_up(void **state)
{
	(void)state;
	saved = environ;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	environ = (char **)saved;
	return unsetenv(NAME);
}

static void test_it_is_as_it_is_now(void **state)
{
	char value[64];

	(void)state;
	assert_false(environment_copy(NAME, value, sizeof(value)));
	assert_string_equal(value, "");
	assert_int_equal(setenv(NAME, "one", 1), 0);
	assert_true(environment_copy(NAME, value, sizeof(value)));
	assert_string_equal(value, "one");
	assert_int_equal(setenv(NAME, "", 1), 0);
	assert_true(environment_copy(NAME, value, sizeof(value)));
	assert_string_equal(value, "");
	assert_false(environment_copy("TEST_OF_VARIABLE", value, 64));
	assert_false(environment_copy(NAME "S", value, sizeof(value)));
}

static void test_what_is_too_long_is_left_out(void **state)
{
	char text[200], value[201];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(setenv(NAME, text, 1), 0);
	assert_true(environment_copy(NAME, value, sizeof(value)));
	assert_string_equal(value, text);
	assert_true(environment_copy(NAME, value, sizeof(text)));
	assert_false(environment_copy(NAME, value, sizeof(text) - 1));
	assert_string_equal(value, "");
}

/* As many as three batches of them, ours last. */
static void test_the_last_of_many_is_found(void **state)
{
	char *list[200] = {NULL}, value[16];

	(void)state;
	for (int i = 0; i < 150; i++)
		list[i] = (char *)"A=b";
	list[150] = (char *)NAME "=here";
	environ = list;
	assert_true(environment_copy(NAME, value, sizeof(value)));
	assert_string_equal(value, "here");
	list[100] = NULL;
	assert_false(environment_copy(NAME, value, sizeof(value)));
}

/* The list and the texts end with a page, behind which there is nothing; one
 * text and one list lead nowhere. */
static void test_what_is_not_there_is_not_read(void **state)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char **list = (char **)(void *)(pages + page) - 4;
	char *text = pages + 100, value[16];

	(void)state;
	assert_ptr_not_equal(pages, MAP_FAILED);
	assert_int_equal(munmap(pages + page, page), 0);
	list[0] = (char *)16;
	list[1] = memcpy(pages, "T=1", 4);
	list[2] = memcpy(text, NAME "=here", sizeof(NAME "=here"));
	list[3] = NULL;
	environ = list;
	assert_true(environment_copy(NAME, value, sizeof(value)));
	assert_string_equal(value, "here");
	/* A short one at the end of the page, and one that doesn't end. */
	list[1] = (char *)(list + 3) + 8 - 3;
	assert_true(environment_copy(NAME, value, sizeof(value)));
	list[3] = (char *)1;
	assert_false(environment_copy("OTHER", value, sizeof(value)));
	/* The last text of the page is ours. */
	text = pages + page - sizeof(NAME "=here");
	list = (char **)(void *)pages;
	list[0] = memcpy(text, NAME "=here", sizeof(NAME "=here"));
	list[1] = NULL;
	environ = list;
	assert_true(environment_copy(NAME, value, sizeof(value)));
	assert_string_equal(value, "here");
	environ = (char **)16;
	assert_false(environment_copy(NAME, value, sizeof(value)));
	environ = NULL;
	assert_false(environment_copy(NAME, value, sizeof(value)));
	munmap(pages, page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_it_is_as_it_is_now, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			test_what_is_too_long_is_left_out, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_the_last_of_many_is_found,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			test_what_is_not_there_is_not_read, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
