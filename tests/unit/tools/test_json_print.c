/* SPDX-License-Identifier: MIT */
/* test_json_print.c - what a trace names its functions is JSON all the same. */
#include "tests/unit/cmocka_base.h"

#ifdef HAVE_YAJL

#include <string.h>

#include "tools/util/json_print.h"

static void expect_text(const char *text, const char *wanted)
{
	char *printed, line[64];
	size_t len;
	FILE *out = open_memstream(&printed, &len);
	yajl_gen gen = json_print_begin(out, false);

	json_print_text(gen, "a", text);
	json_print_end(gen);
	assert_int_equal(fclose(out), 0);
	snprintf(line, sizeof(line), "{\"a\":\"%s\"}", wanted);
	assert_string_equal(printed, line);
	free(printed);
}

static void text_that_is_sound_stays(void **state)
{
	(void)state;
	expect_text("", "");
	expect_text("gemm<\"a\">", "gemm<\\\"a\\\">");
	expect_text("\xc3\xa4\n", "\xc3\xa4\\n");
}

static void bytes_that_are_wrong_are_shown(void **state)
{
	(void)state;
	expect_text("\xff", "?");
	expect_text("a\xc3", "a?");
	expect_text("\xc3\xa4\x80\xfe"
		    "b\xe2\x82",
		    "\xc3\xa4??b??");
}

static void numbers_that_json_has_not(void **state)
{
	char *printed;
	size_t len;
	FILE *out = open_memstream(&printed, &len);
	yajl_gen gen = json_print_begin(out, false);

	(void)state;
	json_print_number(gen, "a", 0.0 / 0.0);
	json_print_integer(gen, "b", INT64_MIN);
	json_print_end(gen);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(printed, "{\"a\":0.0,\"b\":-9223372036854775808}");
	free(printed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_that_is_sound_stays),
		cmocka_unit_test(bytes_that_are_wrong_are_shown),
		cmocka_unit_test(numbers_that_json_has_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	return cmocka_skip_all("no yajl");
}

#endif
