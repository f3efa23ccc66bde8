/* SPDX-License-Identifier: MIT */
/* test_module_name.c - places in code without a symbol, by module. */
#include "tests/unit/cmocka_base.h"
#include "tools/util/module_name.h"
#include <string.h>

static void assert_module(const char *text, const char *wanted)
{
	char name[16] = "";
	const size_t len = module_name(text, name, sizeof(name));

	assert_int_equal(len, strlen(wanted));
	assert_string_equal(name, wanted);
}

static void test_an_address_is_its_modules(void **state)
{
	(void)state;
	assert_module("libx.so+0x12af", "[libx.so]");
	assert_module("a+0x1b+0x2", "[a+0x1b]");
	assert_module("code at 0x7ff274009cd8", "[no module]");
}

static void test_a_function_is_none(void **state)
{
	(void)state;
	assert_module("work", "");
	assert_module("+0x12", "");
	assert_module("libx.so+0x", "");
	assert_module("x+0x12 of y", "");
	assert_module("code at 0x", "");
	assert_module("code at 0x12 of y", "");
	assert_module("a_long_library.so+0x12", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_address_is_its_modules),
		cmocka_unit_test(test_a_function_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
