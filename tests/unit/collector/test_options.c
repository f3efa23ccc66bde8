/* SPDX-License-Identifier: MIT */
/*
 * test_options.c - every type of setting, its edges, and what is said of a
 * wrong one; and that none of it allocates.
 */
#include "tests/unit/cmocka_base.h"

#include "collector/control/options.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct options options;
static char why[1024];
static char lines[8][1024];
static int line_count;

static void complain(const char *line)
{
	assert_in_range(line_count, 0, 7);
	strcpy(lines[line_count++], line);
}

static int set_up(void **state)
{
	(void)state;
	options_default(&options);
	line_count = 0;
	why[0] = '\0';
	return 0;
}

static int set(const char *name, const char *value)
{
	return options_set(&options, name, value, why, sizeof(why));
}

static void test_defaults(void **state)
{
	(void)state;
	assert_string_equal(options.dir, "./traceprof");
	assert_string_equal(options.step, "auto");
	assert_string_equal(options.gzip, "auto");
	assert_int_equal(options.malloc, MALLOC_LARGE);
	assert_int_equal(options.malloc_min, 64 << 10);
	assert_int_equal(options.openmp, 1);
	assert_int_equal(options.active, 0);
	assert_int_equal(options.buffer_mb, 128);
	assert_int_equal(options.on_full, ON_FULL_DROP);
	assert_int_equal(options.exit_ms, 5000);
	assert_int_equal(options.quiet, 0);
	assert_int_equal(options.set, 0);
}

static void test_whole_numbers(void **state)
{
	static const char *const bad[] = {"",
					  "-1",
					  "-",
					  "+",
					  "five",
					  "5 ",
					  " 5",
					  "5x",
					  "1.",
					  "1e3",
					  "0x10",
					  "2147483648",
					  "--1",
					  "5,0",
					  "K",
					  "\xff",
					  "999999999999999999999999"};

	(void)state;
	assert_int_equal(set("WAIT", "0"), 0);
	assert_int_equal(set("WAIT", "+12"), 0);
	assert_int_equal(options.wait, 12);
	assert_int_equal(set("WAIT", "2147483647"), 0);
	assert_int_equal(options.wait, INT32_MAX);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(set("WAIT", bad[i]), -EINVAL);
		assert_int_equal(options.wait, INT32_MAX);
		assert_non_null(strstr(why, "TRACEPROF_WAIT="));
		assert_non_null(strstr(why, "from 0 to 2147483647"));
	}
	assert_int_equal(set("BUFFER_MB", "3"), -EINVAL);
	assert_int_equal(set("BUFFER_MB", "4"), 0);
	assert_int_equal(set("BUFFER_MB", "4096"), 0);
	assert_int_equal(set("BUFFER_MB", "4097"), -EINVAL);
	assert_int_equal(options.buffer_mb, 4096);
}

static void test_active_0_is_refused(void **state)
{
	(void)state;
	assert_int_equal(set("ACTIVE", "0"), -EINVAL);
	assert_string_equal(why, "TRACEPROF_ACTIVE=0 is not valid: it takes a "
				 "whole number from 1 to 2147483647; using "
				 "none");
	assert_false(options_have_schedule(&options));
	assert_int_equal(set("ACTIVE", "1"), 0);
	assert_true(options_is_set(&options, OPTION_AT_active));
	assert_true(options_have_schedule(&options));
}

static void test_sizes(void **state)
{
	static const struct {
		const char *text;
		int64_t bytes;
	} good[] = {
		{"1", 1},
		{"4096", 4096},
		{"64K", 64 << 10},
		{"64k", 64 << 10},
		{"64KB", 64 << 10},
		{"64KiB", 64 << 10},
		{"1M", 1 << 20},
		{"2G", INT64_C(2) << 30},
		{"8191G", INT64_C(8191) << 30},
	};
	static const char *const bad[] = {
		"",	"0",	"K",	"-1K", "-5",	 "1T",
		"64Kx", "64 K", "1.5M", "64B", "64KiBB", "9000000000G"};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(set("MALLOC_MIN", good[i].text), 0);
		assert_int_equal(options.malloc_min, good[i].bytes);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(set("MALLOC_MIN", bad[i]), -EINVAL);
		assert_int_equal(options.malloc_min, INT64_C(8191) << 30);
	}
}

static void test_flags(void **state)
{
	(void)state;
	assert_int_equal(set("QUIET", "on"), 0);
	assert_int_equal(options.quiet, 1);
	assert_int_equal(set("QUIET", "no"), 0);
	assert_int_equal(options.quiet, 0);
	assert_int_equal(set("QUIET", "true"), 0);
	assert_int_equal(options.quiet, 1);
	assert_int_equal(set("QUIET", "0"), 0);
	assert_int_equal(options.quiet, 0);
	assert_int_equal(set("QUIET", "2"), -EINVAL);
	assert_int_equal(set("QUIET", ""), -EINVAL);
	assert_int_equal(set("QUIET", "offf"), -EINVAL);
	assert_non_null(strstr(why, "it takes 0 or 1; using 0"));
}

static void test_choices(void **state)
{
	static const char *const bad[] = {"",	  "|",	     "of",
					  "offs", "off|all", "LARGE"};
	char text[32];

	(void)state;
	assert_int_equal(set("MALLOC", "all"), 0);
	assert_int_equal(options.malloc, MALLOC_ALL);
	options_text(&options, OPTION_AT_malloc, text, sizeof(text));
	assert_string_equal(text, "all");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(set("MALLOC", bad[i]), -EINVAL);
	assert_int_equal(options.malloc, MALLOC_ALL);
	assert_non_null(strstr(why, "one of off|counters|large|all"));
	assert_int_equal(set("MALLOC", "off"), 0);
	assert_int_equal(options.malloc, MALLOC_OFF);
}

static void test_texts(void **state)
{
	char text[OPTION_TEXT_BYTES + 1];

	(void)state;
	memset(text, 'd', sizeof(text));
	text[OPTION_TEXT_BYTES] = '\0';
	assert_int_equal(set("DIR", text), -EINVAL);
	assert_string_equal(options.dir, "./traceprof");
	text[OPTION_TEXT_BYTES - 1] = '\0';
	assert_int_equal(set("DIR", text), 0);
	assert_string_equal(options.dir, text);
	assert_int_equal(set("DIR", ""), -EINVAL);
	assert_non_null(strstr(why, "1 to 255 bytes"));
}

static void test_unknown_names_get_the_nearest(void **state)
{
	(void)state;
	assert_int_equal(set("WARM_UP", "1"), -ENOENT);
	assert_string_equal(why, "unknown setting TRACEPROF_WARM_UP: did you "
				 "mean TRACEPROF_WARMUP?");
	assert_int_equal(set("", "1"), -ENOENT);
	assert_int_equal(set("dir", "1"), -ENOENT);
	assert_string_equal(options_nearest("BUFER_MB"), "BUFFER_MB");
	assert_string_equal(options_nearest("SKIPFIRST"), "SKIP_FIRST");
	assert_string_equal(options_nearest("ACTIV"), "ACTIVE");
	assert_string_equal(options_nearest("ALLOC"), "MALLOC");
	assert_int_equal(options.set, 0);
}

static void test_an_environment_is_read(void **state)
{
	char long_name[300];
	char *environment[] = {"PATH=/bin",
			       "TRACEPROF=1",
			       "TRACEPROF_WAIT=3",
			       "TRACEPROF_ACTIVE=-2",
			       "TRACEPROF_RECORD_PID=77",
			       "TRACEPROF_NONSENSE",
			       "TRACEPROF_=",
			       "TRACEPROF_DIR=/tmp/a=b",
			       long_name,
			       "XTRACEPROF_WAIT=9",
			       NULL};

	(void)state;
	memset(long_name, 'N', sizeof(long_name));
	memcpy(long_name, "TRACEPROF_", 10);
	strcpy(long_name + sizeof(long_name) - 3, "=1");
	options_read(&options, environment, complain);
	assert_int_equal(options.wait, 3);
	assert_int_equal(options.active, 0);
	assert_string_equal(options.dir, "/tmp/a=b");
	assert_int_equal(line_count, 3);
	assert_non_null(strstr(lines[0], "TRACEPROF_ACTIVE=-2 is not valid"));
	assert_non_null(strstr(lines[1], "unknown setting TRACEPROF_:"));
	assert_non_null(strstr(lines[2], "unknown setting TRACEPROF_NNN"));
	options_read(&options, NULL, complain);
	assert_int_equal(line_count, 3);
}

static void test_every_row_takes_its_own_text_back(void **state)
{
	struct options again;
	char text[OPTION_TEXT_BYTES];

	(void)state;
	options_default(&again);
	for (unsigned int i = 0; i < option_row_count; i++) {
		const struct option_row *row = &option_rows[i];

		options_text(&options, i, text, sizeof(text));
		if (i == OPTION_AT_active) {
			assert_string_equal(text, "0");
			continue;
		}
		assert_int_equal(
			options_set(&again, row->name, text, why, sizeof(why)),
			0);
		assert_true(options_is_set(&again, (enum option_index)i));
	}
	again.set = 0;
	assert_memory_equal(&again, &options, sizeof(options));
}

static void test_text_of_a_damaged_choice_stays_inside(void **state)
{
	char text[64];

	(void)state;
	for (int64_t value = -2; value < 1000; value++) {
		options.clock = value;
		options_text(&options, OPTION_AT_clock, text, sizeof(text));
		if (value < 0 || value > 1)
			assert_string_equal(text, "unknown");
	}
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static void test_nothing_is_allocated(void **state)
{
	(void)state;
	skip(); /* the sanitizer's malloc is in the way */
}
#else
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);

static long allocations;

void *malloc(size_t size)
{
	allocations++;
	return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	allocations++;
	return __libc_calloc(count, size);
}

static void ignore(const char *line)
{
	(void)line;
}

static void test_nothing_is_allocated(void **state)
{
	char *environment[] = {
		"TRACEPROF_WAITT=1",	   "TRACEPROF_WAIT=x",
		"TRACEPROF_MALLOC=all",	   "TRACEPROF_STEP=omp:a*",
		"TRACEPROF_MALLOC_MIN=1M", NULL};
	void *(*volatile allocate)(size_t) = malloc;
	long before;

	(void)state;
	before = allocations;
	free(allocate(1)); /* they are counted */
	assert_int_equal(allocations, before + 1);
	options_default(&options);
	options_read(&options, environment, ignore);
	assert_int_equal(allocations, before + 1);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_defaults, set_up),
		cmocka_unit_test_setup(test_whole_numbers, set_up),
		cmocka_unit_test_setup(test_active_0_is_refused, set_up),
		cmocka_unit_test_setup(test_sizes, set_up),
		cmocka_unit_test_setup(test_flags, set_up),
		cmocka_unit_test_setup(test_choices, set_up),
		cmocka_unit_test_setup(test_texts, set_up),
		cmocka_unit_test_setup(test_unknown_names_get_the_nearest,
				       set_up),
		cmocka_unit_test_setup(test_an_environment_is_read, set_up),
		cmocka_unit_test_setup(test_every_row_takes_its_own_text_back,
				       set_up),
		cmocka_unit_test_setup(
			test_text_of_a_damaged_choice_stays_inside, set_up),
		cmocka_unit_test_setup(test_nothing_is_allocated, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
