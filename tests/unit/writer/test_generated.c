/* SPDX-License-Identifier: MIT */
/* test_generated.c - names of functions that torch.compile wrote. */
#include "tests/unit/trace_fixture.h"
#include "writer/state/generated.h"

#define SOURCE                                                                 \
	"\n#include <x>\nextern \"C\" void kernel(float *a)\n{\n  a[%d];\n}\n"

static void write_file(const char *name, const char *begin, int number,
		       const char *end)
{
	FILE *to = make_file(name);

	fputs(begin, to);
	fprintf(to, SOURCE, number);
	fputs(end, to);
	fclose(to);
}

static const char *ask(struct generated *generated, const char *name,
		       const char *symbol)
{
	char at[512];

	snprintf(at, sizeof(at), "%s/%s", folder, name);
	return generated_name(generated, at, symbol, strlen(symbol));
}

static void the_source_names_it(void **state)
{
	struct generated generated = {0};

	(void)state;
	write_file("ab/cabc.main.cpp", "", 1, "// Python bindings\n");
	write_file("ab/cabd.cpp", "", 2, "");
	assert_null(ask(&generated, "ab/cabc.main.so", "kernel"));
	write_file("xy/cold.py",
		   "cpp_fused_mul_0 = async_compile.cpp_pybinding(['a'], r'''",
		   1, "''')\n");
	write_file("xz/cnew.py",
		   "import x\ncpp_fused_add_1 = async_compile.cpp('''", 2,
		   "''')\n");
	assert_string_equal(ask(&generated, "ab/cabc.main.so", "kernel"),
			    "cpp_fused_mul_0");
	assert_string_equal(ask(&generated, "ab/cabd.so", "kernel"),
			    "cpp_fused_add_1");
	assert_null(ask(&generated, "ab/cabd.so", "other"));
	assert_null(ask(&generated, "lib/libkernel.so", "kernel"));
	assert_null(ask(&generated, "ab/cnone.so", "kernel"));
	generated_end(&generated);
}

/* A file that is cut, and one whose quotes hold nothing. */
static void what_cannot_be_read_names_nothing(void **state)
{
	struct generated generated = {0};

	(void)state;
	write_file("ef/cefg.cpp", "", 3, "");
	write_file("gh/ccut.py", "cut_0 = async_compile.cpp('''", 3, "");
	write_file("gh/cempty.py", "empty_0 = async_compile.cpp('''''')\n'''",
		   3, "'''");
	assert_null(ask(&generated, "ef/cefg.so", "kernel"));
	generated_end(&generated);
}

/* Of a cache of years what is newest is read, up to a bound that is told. */
static void a_large_cache_has_a_bound(void **state)
{
	static const struct timespec long_ago[2] = {{1000, 0}, {1000, 0}};
	static const struct timespec later[2] = {{4000000000, 0},
						 {4000000000, 0}};
	struct generated generated = {.cache.limits = {100, 2000, UINT64_MAX}};
	struct generated few = {.cache.limits = {3, 100000, UINT64_MAX}};
	char at[512];

	(void)state;
	write_file("ab/cold.cpp", "", 5, "");
	write_file("ab/cnew.cpp", "", 6, "");
	write_file("xy/cold.py", "old_0 = async_compile.cpp('''", 5, "''')\n");
	for (int i = 10; i < 90; i++) {
		snprintf(at, sizeof(at), "c%c/c%d.py", 'a' + i % 20, i);
		write_file(at, "some_0 = async_compile.cpp('''", i, "''')\n");
	}
	write_file("xz/cnew.py", "new_1 = async_compile.cpp('''", 6, "''')\n");
	snprintf(at, sizeof(at), "%s/xy/cold.py", folder);
	assert_int_equal(utimensat(AT_FDCWD, at, long_ago, 0), 0);
	snprintf(at, sizeof(at), "%s/xz/cnew.py", folder);
	assert_int_equal(utimensat(AT_FDCWD, at, later, 0), 0);
	assert_string_equal(ask(&generated, "ab/cnew.so", "kernel"), "new_1");
	assert_false(generated.cache.is_cut);
	assert_int_equal(generated.cache.listed, 82);
	assert_null(ask(&generated, "ab/cold.so", "kernel"));
	assert_true(generated.cache.is_cut);
	assert_in_range(generated.cache.read_bytes, 2000, 2400);
	assert_string_equal(ask(&generated, "ab/cnew.so", "kernel"), "new_1");
	generated_end(&generated);
	ask(&few, "ab/cold.so", "kernel");
	assert_true(few.cache.is_cut);
	assert_int_equal(few.cache.listed, 3);
	generated_end(&few);
}

/* A file is listed once, however many libraries are asked for, and what comes
 * later is found. */
static void what_comes_later_is_found(void **state)
{
	struct generated generated = {0};

	(void)state;
	write_file("ab/cabc.cpp", "", 7, "");
	write_file("ab/cabd.cpp", "", 8, "");
	write_file("xy/cabc.py", "first_0 = async_compile.cpp('''", 7,
		   "''')\n");
	assert_string_equal(ask(&generated, "ab/cabc.so", "kernel"), "first_0");
	assert_null(ask(&generated, "ab/cabd.so", "kernel"));
	assert_null(ask(&generated, "ab/cabd.so", "kernel"));
	assert_int_equal(generated.cache.listed, 1);
	write_file("xy/cabd.py", "second_0 = async_compile.cpp('''", 8,
		   "''')\n");
	assert_string_equal(ask(&generated, "ab/cabd.so", "kernel"),
			    "second_0");
	assert_int_equal(generated.cache.listed, 2);
	assert_false(generated.cache.is_cut);
	generated_end(&generated);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_source_names_it, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			what_cannot_be_read_names_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_large_cache_has_a_bound,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_comes_later_is_found,
						set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
