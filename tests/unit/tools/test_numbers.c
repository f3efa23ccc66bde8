/* SPDX-License-Identifier: MIT */
/*
 * test_numbers.c - decimals, units, UTF-8, unions of spans, nesting.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tools/report/busy_time.h"
#include "tools/util/numbers.h"
#include "tools/util/key_table.h"
#include "tools/util/lane_spans.h"
#include "tools/util/text_buffer.h"

static void decimals(void **state)
{
	static const struct {
		const char *text;
		int status;
		int64_t ns;
	} cases[] = {
		{"0", 0, 0},
		{"1", 0, 1000},
		{"1.5", 0, 1500},
		{"1000010.001", 0, 1000010001},
		{"1791057564000000.001", 0, 1791057564000000001},
		{"0.0005", 1, 1},
		{"0.0004", 1, 0},
		{"1.0000", 1, 1000},
		{"-2.5", 0, -2500},
		{"1e3", 0, 1000000},
		{"1.5E-3", 1, 2},
		{"25e-1", 0, 2500},
		{"1e-400", 1, 0},
		{"9223372036854775.807", -ERANGE, 0},
		{"1e30", -ERANGE, 0},
		{"1e99999", -ERANGE, 0},
		{"", -EINVAL, 0},
		{"-", -EINVAL, 0},
		{".5", -EINVAL, 0},
		{"1.", -EINVAL, 0},
		{"1e", -EINVAL, 0},
		{"1x", -EINVAL, 0},
		{"inf", -EINVAL, 0},
	};

	(void)state;
	for (size_t at = 0; at < sizeof(cases) / sizeof(cases[0]); at++) {
		int64_t ns = 0;
		const int status = decimal_to_ns(cases[at].text,
						 strlen(cases[at].text), &ns);

		if (status != cases[at].status ||
		    (status >= 0 && ns != cases[at].ns))
			fail_msg("%s: %d, %lld", cases[at].text, status,
				 (long long)ns);
	}
}

static void integers(void **state)
{
	int64_t value;

	(void)state;
	assert_int_equal(decimal_to_integer("-42", 3, &value), 0);
	assert_int_equal(value, -42);
	assert_int_equal(decimal_to_integer("4.0", 3, &value), -EINVAL);
	assert_int_equal(decimal_to_integer("4e1", 3, &value), -EINVAL);
	assert_int_equal(decimal_to_integer("99999999999999999999", 20, &value),
			 -ERANGE);
}

static void units(void **state)
{
	(void)state;
	assert_string_equal(quantity_time(0).text, "0 ns");
	assert_string_equal(quantity_time(999).text, "999 ns");
	assert_string_equal(quantity_time(1000).text, "1.000 us");
	assert_string_equal(quantity_time(12345678).text, "12.35 ms");
	assert_string_equal(quantity_time(999999).text, "1.000 ms");
	assert_string_equal(quantity_bytes(1536).text, "1.500 KiB");
	assert_string_equal(quantity_share(1, 3).text, "33.3 %");
	assert_string_equal(quantity_share(1, 0).text, "-");
	assert_string_equal(quantity_rate(2000, 1000).text, "2.00 GB/s");
}

static void utf8_sequences(void **state)
{
	(void)state;
	assert_int_equal(utf8_sequence("a", 1), 1);
	assert_int_equal(utf8_sequence("\xc3\xb1", 2), 2);
	assert_int_equal(utf8_sequence("\xe2\x82\xac", 3), 3);
	assert_int_equal(utf8_sequence("\xf0\x9f\x98\x80", 4), 4);
	assert_int_equal(utf8_sequence("\xc0\x80", 2), 0);     /* overlong */
	assert_int_equal(utf8_sequence("\xed\xa0\x80", 3), 0); /* D800 */
	assert_int_equal(utf8_sequence("\xf4\x90\x80\x80", 4), 0); /* 110000 */
	assert_int_equal(utf8_sequence("\xe2\x82", 2), 0);	   /* cut */
	assert_int_equal(utf8_sequence("\x80", 1), 0);
}

static void terminals_are_safe(void **state)
{
	struct text_buffer text = {0};

	(void)state;
	text_buffer_add_printable(&text, "a\x1b[2J\xff\xc2\x9b\xc3\xb1", 10,
				  100);
	assert_string_equal(text.data, "a\\x1b[2J\\xff\\xc2\\x9b\xc3\xb1");
	text_buffer_cut(&text, 0);
	text_buffer_add_printable(&text, "\xe2\x80\xae\xe2\x81\xa6\xe2\x80\xa6",
				  9, 100);
	assert_string_equal(text.data,
			    "\\xe2\\x80\\xae\\xe2\\x81\\xa6\xe2\x80\xa6");
	text_buffer_cut(&text, 0);
	text_buffer_add_printable(&text, "abc\xc3\xb1", 5, 4);
	assert_string_equal(text.data, "abc...");
	text_buffer_free(&text);
}

static void busy_spans_join(void **state)
{
	struct busy_time busy = {0};

	(void)state;
	assert_int_equal(busy_time_sum(&busy), 0);
	busy_time_add(&busy, 10, 20);
	busy_time_add(&busy, 30, 40);
	assert_int_equal(busy_time_sum(&busy), 20);
	busy_time_add(&busy, 15, 32);
	assert_int_equal(busy_time_sum(&busy), 30);
	assert_int_equal(busy.count, 1);
	busy_time_add(&busy, 39, 41); /* one nanosecond shared */
	assert_int_equal(busy_time_sum(&busy), 31);
	assert_int_equal(busy.count, 1);
	busy_time_add(&busy, 0, 5);
	busy_time_add(&busy, 12, 13);
	busy_time_add(&busy, 50, 50);
	assert_int_equal(busy_time_sum(&busy), 36);
	for (int64_t at = 0; at < 5 * (int64_t)BUSY_KEPT; at++)
		busy_time_add(&busy, 100 + 3 * at, 101 + 3 * at);
	assert_int_equal(busy_time_sum(&busy), 36 + 5 * (int64_t)BUSY_KEPT);
	assert_true(busy.count <= BUSY_KEPT);
	busy_time_free(&busy);
}

static bool count_crossing(void *arg, const struct lane_span *outer,
			   struct lane_span *span)
{
	const bool crosses = outer && outer->end_ns < span->end_ns;

	*(int *)arg += crosses;
	return !crosses;
}

static int crossings(const int64_t (*spans)[2], size_t count)
{
	struct lane_spans lane = {0};
	int found = 0;

	for (size_t at = 0; at < count; at++)
		lane_spans_add(&lane,
			       (struct lane_span){spans[at][0], spans[at][1], 0,
						  0, false});
	lane_spans_walk(&lane, count_crossing, &found);
	lane_spans_free(&lane);
	return found;
}

static void spans_lie_in_each_other(void **state)
{
	static const int64_t touching[][2] = {
		{0, 10}, {10, 20}, {20, 20}, {20, 30}, {0, 30},
	};
	static const int64_t equal[][2] = {
		{5, 9}, {5, 9}, {5, 5}, {9, 9}, {5, 7}, {7, 9},
	};
	static const int64_t crossed[][2] = {
		{0, 10}, {9, 11}, {3, 4}, {5, 12}, {11, 12},
	};

	(void)state;
	assert_int_equal(crossings(touching, 5), 0);
	assert_int_equal(crossings(equal, 6), 0);
	assert_int_equal(crossings(crossed, 5), 2);
}

static void keys_keep_their_rows(void **state)
{
	struct key_table names = {.row_bytes = sizeof(int)};
	char text[16];

	(void)state;
	for (int round = 0; round < 2; round++)
		for (uint32_t at = 0; at < 5000; at++) {
			const int len = snprintf(text, sizeof(text), "n%u", at);

			assert_int_equal(
				key_table_number(&names, text, (size_t)len),
				at);
			++*(int *)key_table_row(&names, at);
		}
	assert_string_equal(key_table_key(&names, 4321, NULL), "n4321");
	assert_int_equal(*(int *)key_table_row(&names, 4321), 2);
	key_table_free(&names);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(decimals),
		cmocka_unit_test(integers),
		cmocka_unit_test(units),
		cmocka_unit_test(utf8_sequences),
		cmocka_unit_test(terminals_are_safe),
		cmocka_unit_test(busy_spans_join),
		cmocka_unit_test(spans_lie_in_each_other),
		cmocka_unit_test(keys_keep_their_rows),
	};

	return cmocka_run_group_tests_name("tools_numbers", tests, NULL, NULL);
}
