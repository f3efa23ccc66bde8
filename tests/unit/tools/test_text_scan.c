/* SPDX-License-Identifier: MIT */
/*
 * test_text_scan.c - a text is scanned alike whole, where blocks are skipped,
 * and byte by byte.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "tools/trace/text_scan.h"

#define BYTES 600u

static uint64_t seed = 7;

static unsigned int below(unsigned int count)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned int)(seed >> 33) % count;
}

/* Words that matter, and long runs of such as don't. */
static void make_text(char *text)
{
	static const char *const words[] = {
		"\"",	   "\"rank\":0", "\"rank\": 0", "{",	   "}",
		"[",	   "]",		 "\\u0041",	"\\\"",	   "\\\\",
		"\\ud83d", "\\ude00",	 "\n",		"\xc3",	   "\xc3\xa9",
		",",	   "12.5",	 "k",		"block\"", "a"};
	size_t len = 0;

	memset(text, 'x', BYTES);
	while (len + 100 < BYTES) {
		const char *word = words[below(sizeof(words) / sizeof(*words))];

		memcpy(text + len, word, strlen(word));
		len += strlen(word) + (below(2) ? 0 : below(90));
	}
}

static unsigned int flaws_of(const struct text_scan *scan)
{
	unsigned int flaws = 0;

	for (size_t at = 0; at < scan->flaw_count; at++)
		flaws |= scan->flaws[at].flaw;
	return flaws;
}

static void whole_and_in_bytes(void **state)
{
	char whole[BYTES], bytes[BYTES];

	(void)state;
	for (int turn = 0; turn < 5000; turn++) {
		struct text_scan a = {0}, b = {0};
		unsigned int flaws = 0;
		int error = 0;

		make_text(whole);
		memcpy(bytes, whole, BYTES);
		for (size_t at = 0; at < BYTES && !error; at++) {
			error = text_scan_piece(&b, bytes + at, 1);
			flaws |= flaws_of(&b);
		}
		assert_int_equal(text_scan_piece(&a, whole, BYTES), error);
		if (!error) {
			assert_memory_equal(whole, bytes, BYTES);
			assert_int_equal(flaws_of(&a), flaws);
			assert_int_equal(a.offset, b.offset);
			assert_int_equal(a.depth, b.depth);
			assert_int_equal(a.in_string, b.in_string);
		}
		text_scan_free(&a);
		text_scan_free(&b);
	}
}

/* The limits hold where blocks are skipped, too. */
static void limits(void **state)
{
	static char text[17u << 20];
	struct text_scan scan = {0};

	(void)state;
	memset(text, '[', sizeof(text));
	assert_true(text_scan_piece(&scan, text, 4096) < 0);
	assert_string_equal(scan.error, "nested more than 200 deep");
	text_scan_free(&scan);
	memset(text, 'x', sizeof(text));
	text[0] = '"';
	assert_true(text_scan_piece(&scan, text, sizeof(text)) < 0);
	assert_string_equal(scan.error, "one value is longer than 16 MiB");
	text_scan_free(&scan);
	memset(text, '1', sizeof(text));
	assert_true(text_scan_piece(&scan, text, sizeof(text)) < 0);
	text_scan_free(&scan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_and_in_bytes),
		cmocka_unit_test(limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
