/* SPDX-License-Identifier: MIT */
/*
 * test_json.c - every value that json.c makes is JSON, and the right one.
 */
#include "tests/unit/cmocka_base.h"

#include "tests/unit/json_reader.h"
#include "writer/text/json.h"
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static struct json json;

static int set_up(void **state)
{
	(void)state;
	return json_open(&json, 1);
}

static int tear_down(void **state)
{
	(void)state;
	json_close(&json);
	return 0;
}

static void made(const char *text)
{
	json_char(&json, '\0');
	assert_false(json.failed);
	assert_string_equal(json.data, text);
	json_clear(&json);
}

static void quotes(const char *text, size_t len, const char *wanted)
{
	json_string(&json, text, len);
	assert_true(json_is_whole(json.data, json.used));
	made(wanted);
}

static void escapes_what_must_be(void **state)
{
	(void)state;
	quotes("", 0, "\"\"");
	quotes("plain / text\x7f", 13, "\"plain / text\x7f\"");
	quotes("\"\\", 2, "\"\\\"\\\\\"");
	quotes("a\tb\nc\r\b\f", 8, "\"a\\tb\\nc\\r\\b\\f\"");
	quotes("\0\x1f\x01", 3, "\"\\u0000\\u001f\\u0001\"");
	json_text(&json, "no quotes", 9);
	made("no quotes");
}

static void escapes_every_control_byte(void **state)
{
	(void)state;
	for (int byte = 0; byte < 0x80; byte++) {
		const char text = (char)byte;

		json_string(&json, &text, 1);
		assert_true(json_is_whole(json.data, json.used));
		assert_int_equal(json.used == 3,
				 byte >= 0x20 && byte != '"' && byte != '\\');
		json_clear(&json);
	}
}

/* Any byte at any place among plain ones, against the byte-by-byte truth. */
static void looks_at_every_place(void **state)
{
	(void)state;
	for (int byte = 0; byte < 0x100; byte++) {
		const bool plain = byte >= 0x20 && byte < 0x80 && byte != '"' &&
				   byte != '\\';

		for (size_t place = 0; place < 19; place++) {
			char text[20] = "abc !#[]~\x7f?01234567";

			text[place] = (char)byte;
			json_text(&json, text, 19);
			assert_int_equal(json.used == 19, plain);
			assert_memory_equal(json.data, text, place);
			json_clear(&json);
			json_string(&json, text, 19);
			assert_true(json_is_whole(json.data, json.used));
			assert_memory_equal(json.data + json.used - 19 + place,
					    text + place + 1, 18 - place);
			json_clear(&json);
		}
	}
}

static void keeps_utf8_and_replaces_the_rest(void **state)
{
	(void)state;
	/* Shortest and longest character of each length, as they are. */
	quotes("\xc2\x80\xdf\xbf", 4, "\"\xc2\x80\xdf\xbf\"");
	quotes("\xe0\xa0\x80\xef\xbf\xbf", 6, "\"\xe0\xa0\x80\xef\xbf\xbf\"");
	quotes("\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", 8,
	       "\"\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\"");
	quotes("\xed\x9f\xbf\xee\x80\x80", 6, "\"\xed\x9f\xbf\xee\x80\x80\"");
#define BAD "\xef\xbf\xbd"
	quotes("a\x80z", 3, "\"a" BAD "z\"");
	quotes("\xc0\x80", 2, "\"" BAD BAD "\"");
	quotes("\xc1\xbf", 2, "\"" BAD BAD "\"");
	quotes("\xe0\x9f\xbf", 3, "\"" BAD BAD BAD "\"");
	quotes("\xed\xa0\x80", 3, "\"" BAD BAD BAD "\"");
	quotes("\xf0\x8f\xbf\xbf", 4, "\"" BAD BAD BAD BAD "\"");
	quotes("\xf4\x90\x80\x80", 4, "\"" BAD BAD BAD BAD "\"");
	quotes("\xf5\xff\xfe", 3, "\"" BAD BAD BAD "\"");
	/* Cut short, at the end and in the middle. */
	quotes("\xe2\x82\xac", 2, "\"" BAD BAD "\"");
	quotes("\xf0\x9f\x98", 3, "\"" BAD BAD BAD "\"");
	quotes("\xe2\x82\"", 3, "\"" BAD BAD "\\\"\"");
#undef BAD
}

static void writes_whole_numbers(void **state)
{
	uint64_t value = 1;
	char text[32];

	(void)state;
	for (int i = 0; i < 64; i++, value *= 2) {
		for (int64_t near = -1; near <= 1; near++) {
			const uint64_t number = value + (uint64_t)near;

			json_u64(&json, number);
			snprintf(text, sizeof(text), "%ju", (uintmax_t)number);
			made(text);
			json_i64(&json, (int64_t)number);
			snprintf(text, sizeof(text), "%jd",
				 (intmax_t)(int64_t)number);
			made(text);
		}
	}
	for (value = 0; value < 20000; value++) {
		json_u64(&json, value);
		snprintf(text, sizeof(text), "%ju", (uintmax_t)value);
		made(text);
	}
	for (int i = 0; i < 20000; i++) {
		value = ((uint64_t)mrand48() << 32 ^ (uint64_t)mrand48()) >>
			lrand48() % 64;
		json_u64(&json, value);
		snprintf(text, sizeof(text), "%ju", (uintmax_t)value);
		made(text);
	}
	json_u64(&json, UINT64_MAX);
	made("18446744073709551615");
	json_i64(&json, INT64_MIN);
	made("-9223372036854775808");
}

static void writes_time(int64_t ns)
{
	char text[32];

	json_micros(&json, ns);
	snprintf(text, sizeof(text), "%jd.%03jd", (intmax_t)(ns / 1000),
		 (intmax_t)(ns % 1000));
	made(text);
}

static void writes_microseconds(void **state)
{
	(void)state;
	json_micros(&json, 0);
	made("0.000");
	json_micros(&json, -1);
	made("0.000");
	json_micros(&json, INT64_MIN);
	made("0.000");
	json_micros(&json, INT64_MAX);
	made("9223372036854775.807");
	for (int64_t ns = 1; ns < 3000000; ns += ns < 12000 ? 1 : 997)
		writes_time(ns);
	/* Sixteen digits are written in another way. */
	for (int64_t ns = 1; ns < INT64_MAX / 10; ns *= 10) {
		for (int64_t off = -3; off <= 3; off++)
			writes_time(ns + off > 0 ? ns + off : 1);
	}
	srand48(5);
	for (int i = 0; i < 200000; i++)
		writes_time((mrand48() & INT64_C(0x7fffffff)) << 22 |
			    (mrand48() & 0x3fffff));
}

static void writes_double(double value, const char *wanted)
{
	json_double(&json, value);
	assert_true(json_is_whole(json.data, json.used));
	made(wanted);
}

static void writes_doubles(void **state)
{
	(void)state;
	writes_double(0, "0");
	writes_double(-3, "-3");
	writes_double(0.1, "0.1");
	writes_double(1.0 / 3, "0.3333333333333333");
	writes_double(1e300, "1e+300");
	writes_double(5e-324, "4.94065645841247e-324");
	writes_double(-1.5e-7, "-1.5e-07");
	writes_double(9007199254740992.0, "9007199254740992");
	writes_double(0.1 + 0.2, "0.30000000000000004");
	writes_double(NAN, "0");
	writes_double(-INFINITY, "0");
	srand48(7);
	for (int i = 0; i < 5000; i++) {
		const double value = ldexp(drand48() - 0.5, i % 600 - 300);

		json_double(&json, value);
		assert_true(json_is_whole(json.data, json.used));
		json_char(&json, '\0');
		assert_true(strtod(json.data, NULL) == value);
		json_clear(&json);
	}
}

/* One with a comma, made for the test: few machines have any but C. */
static void ignores_the_locale(void **state)
{
	char folder[] = "/tmp/traceprof-locale-XXXXXX";
	char command[256];

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(command, sizeof(command),
		 "localedef -i de_DE -f UTF-8 %s/comma.UTF-8 2>/dev/null",
		 folder);
	if (system(command) != 0) {
		rmdir(folder);
		print_message("no localedef or its sources   "
			      "(apt-get install locales)\n");
		skip();
	}
	setenv("LOCPATH", folder, 1);
	assert_non_null(setlocale(LC_NUMERIC, "comma.UTF-8"));
	snprintf(command, sizeof(command), "%.2f", 0.25);
	assert_string_equal(command, "0,25");
	writes_double(0.25, "0.25");
	writes_double(1.25e-9, "1.25e-09");
	setlocale(LC_NUMERIC, "C");
	unsetenv("LOCPATH");
	snprintf(command, sizeof(command), "rm -r %s", folder);
	assert_int_equal(system(command), 0);
}

static void grows_and_takes_back(void **state)
{
	static char long_text[9000000];
	size_t mark;

	(void)state;
	for (int i = 0; i < 100000; i++)
		json_raw(&json, "\"abc\",");
	assert_false(json.failed);
	assert_int_equal(json.used, 600000);
	assert_memory_equal(json.data + json.used - 6, "\"abc\",", 6);
	json_clear(&json);
	json_bytes(&json, long_text, sizeof(long_text));
	assert_false(json.failed);
	assert_memory_equal(json.data, long_text, sizeof(long_text));
	mark = json_mark(&json);
	json_raw(&json, "half of an event");
	json_back(&json, mark);
	assert_int_equal(json.used, sizeof(long_text));
}

static void says_when_it_cannot_grow(void **state)
{
	const struct rlimit none = {1, RLIM_INFINITY};
	struct rlimit before;
	size_t mark;

	(void)state;
	if (UNDER_SANITIZER)
		skip();
	json_raw(&json, "kept");
	mark = json_mark(&json);
	assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
	assert_int_equal(setrlimit(RLIMIT_AS, &none), 0);
	for (int i = 0; i < 100000; i++)
		json_raw(&json, "0123456789");
	json_string(&json, "\n", (size_t)1 << 61);
	setrlimit(RLIMIT_AS, &before);
	assert_true(json.failed);
	assert_true(json.used <= json.room);
	json_back(&json, mark);
	made("kept");
}

static void ends_at(const struct fields *fields, uint32_t index,
		    const char *text_before)
{
	assert_true(index < fields->ends);
	assert_int_equal(fields->end[index] & FIELD_END, strlen(text_before));
}

static void notes_lines_and_fields(void **state)
{
	struct fields fields;
	size_t mark;

	(void)state;
	assert_int_equal(fields_open(&fields), 0);
	json.fields = &fields;
	json_line(&json, 7, 3);
	json_raw(&json, "{\"n\":\"");
	json_text(&json, "12", 2);
	json_field(&json);
	json_raw(&json, "\",\"u\":");
	json_u64(&json, 1234567890123);
	json_recurs(&json);
	json_raw(&json, ",\"i\":");
	json_i64(&json, -5);
	json_raw(&json, "}");
	mark = json_mark(&json);
	json_line(&json, 7, 3);
	json_micros(&json, 1234567);
	json_back(&json, mark);
	json_line(&json, 8, 3);
	json_micros(&json, 4358846257309505);
	json_double(&json, 0.25);
	assert_int_equal(fields.lines, 2);
	assert_int_equal(fields.line[0].begin, 0);
	assert_int_equal(fields.line[0].first, 0);
	assert_int_equal(fields.line[1].begin, mark);
	assert_int_equal(fields.line[1].first, 3);
	assert_int_not_equal(fields.line[0].like, fields.line[1].like);
	assert_int_equal(fields.line[0].kind, fields.line[1].kind);
	assert_int_equal(fields.ends, 5);
	ends_at(&fields, 0, "{\"n\":\"12");
	ends_at(&fields, 1, "{\"n\":\"12\",\"u\":1234567890123");
	ends_at(&fields, 2, "{\"n\":\"12\",\"u\":1234567890123,\"i\":-5");
	assert_int_equal(fields.end[0] & FIELD_RECURS, 0);
	assert_int_equal(fields.end[1] & FIELD_RECURS, FIELD_RECURS);
	made("{\"n\":\"12\",\"u\":1234567890123,\"i\":-5}"
	     "4358846257309.5050.25");
	assert_int_equal(fields.lines, 0);
	json.fields = NULL;
	fields_close(&fields);
}

static void notes_no_more_than_there_is_room_for(void **state)
{
	struct fields fields;

	(void)state;
	assert_int_equal(fields_open(&fields), 0);
	for (uint32_t at = 0; at < 200000; at++) {
		fields_line(&fields, at, at, at);
		fields_end(&fields, at);
		fields_end(&fields, at ? at - 1 : 0); /* goes back: left out */
	}
	assert_int_equal(fields.lines, fields.line_room);
	assert_int_equal(fields.ends, fields.end_room);
	for (uint32_t i = 1; i < fields.ends; i++)
		assert_true(fields.end[i] >= fields.end[i - 1]);
	fields_close(&fields);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(escapes_what_must_be),
		TEST(escapes_every_control_byte),
		TEST(looks_at_every_place),
		TEST(keeps_utf8_and_replaces_the_rest),
		TEST(writes_whole_numbers),
		TEST(writes_microseconds),
		TEST(writes_doubles),
		TEST(ignores_the_locale),
		TEST(grows_and_takes_back),
		TEST(says_when_it_cannot_grow),
		TEST(notes_lines_and_fields),
		TEST(notes_no_more_than_there_is_room_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
