/* SPDX-License-Identifier: MIT */
/* test_generated.c - names of functions that torch.compile wrote. */
#include "tests/unit/trace_fixture.h"
#include "writer/state/generated.h"

#define SOURCE                                                                 \
	"\n#include <x>\nextern \"C\" void kernel(float *a)\n{\n  a[%d];\n}\n"

static void write_file(const char *name, const char *begin, int number,
		       const char *end)
{
	char at[512];
	FILE *to;

	snprintf(at, sizeof(at), "%s/%s", folder, name);
	*strrchr(at, '/') = '\0';
	mkdir(at, 0700);
	at[strlen(at)] = '/';
	to = fopen(at, "w");
	assert_non_null(to);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_source_names_it, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			what_cannot_be_read_names_nothing, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
