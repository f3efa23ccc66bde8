/* SPDX-License-Identifier: MIT */
/*
 * test_coder.c - what any coder makes of any blocks, strung together, inflates
 * to the text, also where coders take turns.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/note_fields.h"
#include "writer/deflate/coder.h"
#include "writer/deflate/crc32.h"
#include "writer/deflate/processor.h"
#include "writer/deflate/line_match.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define TEXT_MAX (300u << 10)

static const char *const names[] = {"fast", "zlib:1", "zlib:4", "zlib:6",
				    "zlib:9"};
#define FAST  0 /* its place there */
#define NAMES (sizeof(names) / sizeof(names[0]))

static struct coder coders[NAMES];
static bool is_open[NAMES];
static char text[TEXT_MAX], back[TEXT_MAX + 1];
static char stream[2 * TEXT_MAX];
static struct fields fields;
/* What the coders are told of the text. */
static enum { NOTES_NONE, NOTES_RIGHT, NOTES_WRONG } notes;

static int open_all(void **state)
{
	(void)state;
	if (fields_open(&fields))
		return -1;
	for (size_t i = 0; i < NAMES; i++) {
		struct coder_choice choice;
		int rc;

		if (coder_parse(names[i], &choice, NULL, 0))
			return -1;
		rc = coder_open(&coders[i], &choice);
		is_open[i] = !rc;
		if (rc)
			return -1;
	}
	return 0;
}

static int close_all(void **state)
{
	(void)state;
	for (size_t i = 0; i < NAMES; i++) {
		if (is_open[i])
			coder_close(&coders[i]);
	}
	fields_close(&fields);
	return 0;
}

/* Inflates the whole stream strictly and compares it with text[0..len). */
static void inflates_to(size_t made, size_t len)
{
	z_stream in = {.next_in = (Bytef *)stream, .avail_in = (uInt)made};

	in.next_out = (Bytef *)back;
	in.avail_out = sizeof(back);
	assert_int_equal(inflateInit2(&in, -15), Z_OK);
	assert_int_equal(inflate(&in, Z_FINISH), Z_STREAM_END);
	assert_int_equal(in.avail_in, 0);
	assert_int_equal(in.total_out, len);
	inflateEnd(&in);
	assert_memory_equal(back, text, len);
}

/* Notes that have nothing to do with the text. */
static void note_anything(size_t len)
{
	size_t at = 0;

	fields_clear(&fields);
	while (at < len) {
		fields_line(&fields, at, (uint64_t)lrand48() % 3,
			    (unsigned int)lrand48() % 2);
		for (long i = lrand48() % 9; i > 0; i--) {
			fields_end(&fields, min_u64(len, at));
			if (lrand48() & 1)
				fields_recurs(&fields);
			at += (size_t)lrand48() % 40;
		}
		at += (size_t)lrand48() % 300;
	}
}

static void code_block(size_t which, const char *from, size_t len, bool last,
		       size_t used, size_t *made)
{
	const struct coder_text block = {
		.data = from,
		.len = len,
		.fields = notes == NOTES_NONE ? NULL : &fields,
		.last = last,
	};

	if (notes == NOTES_RIGHT)
		note_fields(&fields, from, len);
	if (notes == NOTES_WRONG)
		note_anything(len);
	assert_int_equal(
		coder_block(&coders[which], &block, stream + used, made), 0);
	assert_true(*made <= coder_bound(&coders[which], len));
}

/* Codes text[0..len) in blocks of `block`, with coder `first`, then the next,
 * and so on by `stride`; the last block is the final one. */
static void codes(size_t first, size_t stride, size_t len, size_t block)
{
	size_t at = 0, used = 0, made;
	size_t which = first;

	while (len - at > block) {
		code_block(which, text + at, block, false, used, &made);
		used += made;
		at += block;
		do
			which = (which + stride) % NAMES;
		while (!is_open[which]);
	}
	code_block(which, text + at, len - at, true, used, &made);
	inflates_to(used + made, len);
}

static void codes_by_all(size_t len)
{
	static const size_t blocks[] = {1u << 20, 1u << 18, 4097, 100};

	for (size_t i = 0; i < NAMES; i++) {
		for (size_t j = 0; is_open[i] && j < 4; j++) {
			if (len / blocks[j] <= 1000)
				codes(i, 0, len, blocks[j]);
		}
	}
	codes(1, 1, len, len / 50 + 1);
}

/* With right notes, and with wrong ones. */
static void codes_fast(size_t len, size_t block)
{
	for (notes = NOTES_NONE; notes <= NOTES_WRONG; notes++)
		codes(FAST, 0, len, block);
	notes = NOTES_NONE;
}

static size_t events(void)
{
	size_t used = 0;

	for (int i = 0; used < TEXT_MAX - 300; i++)
		used += (size_t)snprintf(
			text + used, TEXT_MAX - used,
			",\n{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"step "
			"%d\",\"pid\":%d,\"tid\":%d,\"ts\":%ld.%03ld,\"dur\":"
			"%d.%03d}",
			i % 13, 4711, 4711 + i % 4, 10000L + i * 7,
			mrand48() & 511, i % 100, i % 1000);
	return used;
}

static void codes_events(void **state)
{
	const size_t len = events();

	(void)state;

	codes_by_all(len);
	codes_fast(len, 1u << 18);
	codes_fast(len, 4097);
}

static void codes_nothing_and_little(void **state)
{
	(void)state;
	memcpy(text, "\n]}xyz", 6);
	for (size_t len = 0; len < 7; len++) {
		for (size_t i = 0; i < NAMES; i++) {
			if (is_open[i])
				codes(i, 0, len, 2);
		}
	}
}

static void codes_noise(void **state)
{
	(void)state;
	srand48(1);
	for (size_t i = 0; i < TEXT_MAX; i++)
		text[i] = (char)(mrand48() >> 8);
	codes_by_all(TEXT_MAX);
	codes_fast(TEXT_MAX, TEXT_MAX);
}

static void codes_one_byte_repeated(void **state)
{
	(void)state;
	memset(text, 0, TEXT_MAX);
	codes_by_all(TEXT_MAX);
	memset(text, 'a', TEXT_MAX);
	codes_by_all(TEXT_MAX - 1);
	codes_fast(TEXT_MAX, 1u << 18);
}

/* Text that a coder takes for compressible until it isn't, and matches at the
 * window's far edge. */
static void codes_hostile_mixtures(void **state)
{
	(void)state;
	for (unsigned int seed = 0; seed < 6; seed++) {
		size_t used = 0;

		srand48(seed);
		while (used < TEXT_MAX / 4) {
			const size_t run = (size_t)lrand48() % 40000 + 1;
			const long kind = lrand48() % 4;
			const size_t distance = kind == 2 ? 32768 : 32769;

			for (size_t i = 0; i < run; i++, used++) {
				if (kind == 0)
					text[used] = (char)(mrand48() >> 8);
				else if (kind == 1)
					text[used] = "01"[lrand48() & 1];
				else
					text[used] =
						used < distance
							? 'x'
							: text[used - distance];
			}
		}
		codes_by_all(used);
		codes_fast(used, 1u << 18);
	}
}

/* One event of a kind; names, numbers and what is there at all vary. */
static size_t event(char *out, size_t room)
{
	static const char *const cats[] = {"cpu_op", "kernel", "gpu_memcpy",
					   "cpu_instant_event"};
	static long ts = 4343383704226469, total = 100000;
	const long kind = lrand48() % 6, name = lrand48() % 9;
	const int width = (int)(lrand48() % 20);
	int used;

	ts += lrand48() % 3000;
	total += lrand48() % 2000 - 1000;
	if (kind == 0)
		return (size_t)snprintf(
			out, room,
			",\n{\"ph\":\"%c\",\"id\":%ld,\"pid\":%ld,\"tid\":7,"
			"\"ts\":%ld.%03ld,\"cat\":\"ac2g\"}",
			lrand48() & 1 ? 's' : 'f', lrand48() % 900, name,
			ts / 1000, ts % 1000);
	used = snprintf(
		out, room,
		",\n{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%.*s%ld\","
		"\"pid\":47,\"tid\":%ld,\"ts\":%ld.%03ld,\"dur\":%ld.%03ld,"
		"\"args\":{\"Total\":%ld,\"Same\":%ld,\"Addr\":%ld",
		cats[kind % 4], width, "void at::native::fill", name,
		4711 + lrand48() % 3, ts / 1000, ts % 1000, lrand48() % 99,
		lrand48() % 1000, total, total,
		94400493000000 + lrand48() % 64 * 48);
	if (kind == 5)
		used += snprintf(out + used, room - (size_t)used,
				 ",\"finished\":\"false\"");
	used += snprintf(out + used, room - (size_t)used, "}}");
	/* Some are no JSON at all. */
	for (long hurt = lrand48() % 40; hurt < 3; hurt++)
		out[lrand48() % used] = (char)mrand48();
	return (size_t)used;
}

/* Every coder gives the same text back, of some 200,000 events, each with right
 * notes, wrong ones and none.  CODER_SEEDS=N: a thousand events for each. */
static void codes_hostile_events(void **state)
{
	const char *wish = getenv("CODER_SEEDS");
	const unsigned int seeds = wish ? (unsigned int)atoi(wish) : 200;

	(void)state;
	for (unsigned int seed = 0; seed < seeds; seed++) {
		const size_t blocks[] = {1u << 20, 65536, 777};
		size_t used = 0;

		srand48(seed);
		while (used < TEXT_MAX - 1024)
			used += event(text + used, TEXT_MAX - used);
		used -= seed % 50;
		codes_fast(used, blocks[seed % 3]);
		if (seed % 20 == 0)
			codes_by_all(used);
	}
}

/* What each kind of processor makes of a text is the same. */
static void matches_alike_everywhere(void **state)
{
	enum { MADE = TEXT_MAX / LINE_MATCH_MIN + 2 * LINE_MATCH_ROOM };
	static struct line_sequence made[4][MADE];
	struct line_match *lines;
	size_t count[4], used = 0;

	(void)state;
	srand48(7);
	while (used < TEXT_MAX - 1024)
		used += event(text + used, TEXT_MAX - used);
	note_fields(&fields, text, used);
	for (int level = 0; level < 4; level++) {
		const size_t bytes = align_up(line_match_bytes(), CACHE_LINE);

		lines = aligned_alloc(CACHE_LINE, bytes);
		memset(lines, 0, bytes);
		line_match_start(lines, level);
		line_match_begin(lines, text, used, &fields);
		count[level] = line_match_next(lines, made[level], MADE);
		assert_int_equal(count[level], count[0]);
		assert_memory_equal(made[level], made[0],
				    count[0] * sizeof(made[0][0]));
		free(lines);
	}
}

static void sums_without_multiplying(void **state)
{
	const unsigned int skills = processor_skills();

	(void)state;
	srand48(3);
	for (size_t i = 0; i < 8192; i++)
		text[i] = (char)mrand48();
	for (size_t len = 0; len < 8000; len += len < 600 ? 1 : 61) {
		const char *from = text + len % 61;
		const uint32_t right =
			(uint32_t)crc32_z(len, (const Bytef *)from, len);

		assert_int_equal(crc32_text(0, len, from, len), right);
		assert_int_equal(crc32_text(skills, len, from, len), right);
	}
}

static void agrees_on_the_crc(void **state)
{
	const size_t len = events();
	const uint32_t all = (uint32_t)crc32_z(0, (const Bytef *)text, len);

	(void)state;
	for (size_t i = 0; i < NAMES; i++) {
		uint32_t crc = 0;

		if (!is_open[i])
			continue;
		assert_int_equal(coder_crc32(&coders[i], 0, text, len), all);
		assert_int_equal(coder_crc32(&coders[i], 0x1234, text, 0),
				 0x1234);
		for (size_t at = 0; at < len; at += 1000)
			crc = coder_crc32(&coders[i], crc, text + at,
					  len - at < 1000 ? len - at : 1000);
		assert_int_equal(crc, all);
	}
}

static void plain_is_the_text(void **state)
{
	const struct coder_text abcd = {.data = "abcd", .len = 4, .last = true};
	struct coder_choice choice;
	struct coder coder;
	size_t made;

	(void)state;
	assert_int_equal(coder_parse("off", &choice, NULL, 0), 0);
	assert_int_equal(coder_open(&coder, &choice), 0);
	assert_int_equal(coder.kind, CODER_PLAIN);
	assert_int_equal(coder_bound(&coder, 4), 4);
	assert_int_equal(coder_block(&coder, &abcd, back, &made), 0);
	assert_int_equal(made, 4);
	assert_memory_equal(back, "abcd", 4);
	coder_close(&coder);
}

static void reads_the_option(void **state)
{
	static const char *const wrong[] = {
		"zlib",	  "zlib:", "zlib:0",  "zlib:10", "zlib:a",
		"ZLIB:1", "on",	   "none",    "6",	 "gzip",
		"auto ",  " off",  "zlib:1x", "isa-l",	 "%s%n",
	};
	struct coder_choice choice;
	char why[256];

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		memset(why, 0, sizeof(why));
		assert_int_equal(
			coder_parse(wrong[i], &choice, why, sizeof(why)),
			-EINVAL);
		assert_int_equal(choice.kind, CODER_AUTO);
		assert_non_null(strstr(why, wrong[i]));
		assert_non_null(strstr(why, "zlib:1 to zlib:9"));
		assert_null(strchr(why, '\n'));
		assert_int_equal(coder_parse(wrong[i], &choice, NULL, 0),
				 -EINVAL);
	}
	assert_int_equal(coder_parse(NULL, &choice, NULL, 0), 0);
	assert_int_equal(choice.kind, CODER_AUTO);
	assert_int_equal(coder_parse("", &choice, NULL, 0), 0);
	assert_int_equal(coder_parse("auto", &choice, NULL, 0), 0);
	assert_int_equal(choice.kind, CODER_AUTO);
	assert_int_equal(coder_parse("zlib:7", &choice, NULL, 0), 0);
	assert_int_equal(choice.kind, CODER_ZLIB);
	assert_int_equal(choice.level, 7);
}

static void auto_takes_our_own(void **state)
{
	struct coder_choice choice = {CODER_AUTO, 0};
	struct coder coder;

	(void)state;
	assert_int_equal(coder_open(&coder, &choice), 0);
	assert_int_equal(coder.kind, CODER_FAST);
	coder_close(&coder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(codes_events),
		cmocka_unit_test(codes_nothing_and_little),
		cmocka_unit_test(codes_noise),
		cmocka_unit_test(codes_one_byte_repeated),
		cmocka_unit_test(codes_hostile_mixtures),
		cmocka_unit_test(codes_hostile_events),
		cmocka_unit_test(matches_alike_everywhere),
		cmocka_unit_test(sums_without_multiplying),
		cmocka_unit_test(agrees_on_the_crc),
		cmocka_unit_test(plain_is_the_text),
		cmocka_unit_test(reads_the_option),
		cmocka_unit_test(auto_takes_our_own),
	};

	return cmocka_run_group_tests(tests, open_all, close_all);
}
