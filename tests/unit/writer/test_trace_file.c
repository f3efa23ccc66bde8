/* SPDX-License-Identifier: MIT */
/*
 * test_trace_file.c - what was put into a trace comes out, also when another
 * process goes on with it.
 */
#include "tests/unit/trace_fixture.h"

static void is_whole_from_the_start(void **state)
{
	struct stat stat_now;

	(void)state;
	create("zlib:1");
	holds(TRACE_FILE_SHORT_TAIL);
	assert_int_equal(stat(path, &stat_now), 0);
	assert_int_equal(stat_now.st_mode & 07777, 0600);
	assert_true(stat_now.st_size > 4096);
	assert_int_equal(finish(), 0);
	holds(tail_text);
	assert_true(size_of(path) > 4096);
}

/* Who wants to know what coding takes. */
static void codes_what_waits(void **state)
{
	(void)state;
	create("zlib:1");
	assert_int_equal(append_events(1, 150), 0);
	assert_true(file.text_used > 0);
	assert_int_equal(trace_file_code(&file), 0);
	assert_int_equal(file.text_used, 0);
	assert_int_equal(append_events(2, 150), 0);
	assert_int_equal(finish(), 0);
	holds(tail_text);
}

static void keeps_every_event_with_every_coder(void **state)
{
	static const char *const coders[] = {"auto", "zlib:1", "zlib:6", "off"};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		const bool plain = !strcmp(coders[i], "off");

		wanted_len = 0;
		create(coders[i]);
		for (int j = 0; j < 12; j++) {
			assert_int_equal(append_events(j * 60, 150), 0);
			if (j % 3 == 0)
				assert_int_equal(append_events(1, 700000), 0);
			if (j & 1)
				continue;
			assert_int_equal(checkpoint(), 0);
			holds_at(path, wanted_len, tail_text, plain);
			assert_int_equal(trace_file_size(&file), size_of(path));
		}
		assert_int_equal(trace_file_text_bytes(&file), wanted_len);
		assert_int_equal(append_events(9000, 120), 0);
		assert_int_equal(finish(), 0);
		holds_at(path, wanted_len, tail_text, plain);
		assert_int_equal(unlink(path), 0);
	}
}

static void takes_tails_of_any_length(void **state)
{
	static char tail[200000];

	(void)state;
	create("zlib:1");
	for (size_t len = 60; len < sizeof(tail); len = len * 4 / 3) {
		size_t used = (size_t)sprintf(tail, "\n],\"t\":\"");

		while (used < len)
			tail[used++] = (char)('A' + lrand48() % 16);
		strcpy(tail + used, "\"}");
		assert_int_equal(append_events(3, 50), 0);
		assert_int_equal(
			trace_file_checkpoint(&file, tail, strlen(tail)), 0);
		holds(tail);
	}
	assert_int_equal(append_events(10, 50), 0);
	assert_int_equal(finish(), 0);
	holds(tail_text);
}

static void does_not_grow_when_nothing_happens(void **state)
{
	uint64_t size;

	(void)state;
	create("zlib:1");
	assert_int_equal(append_events(3, 50), 0);
	assert_int_equal(checkpoint(), 0);
	size = size_of(path);
	for (int i = 0; i < 5; i++)
		assert_int_equal(checkpoint(), 0);
	assert_int_equal(size_of(path), size);
	assert_int_equal(finish(), 0);
	assert_int_equal(size_of(path), size);
	holds(tail_text);
}

static void plain_takes_shorter_tails(void **state)
{
	(void)state;
	create("off");
	for (int i = 0; i < 3; i++) {
		assert_int_equal(checkpoint(), 0);
		holds_at(path, wanted_len, tail_text, true);
		assert_int_equal(trace_file_checkpoint(&file, "\n]}", 3), 0);
		holds_at(path, wanted_len, "\n]}", true);
		assert_int_equal(append_events(1, 3), 0);
	}
	assert_int_equal(finish(), 0);
	holds_at(path, wanted_len, tail_text, true);
}

/* What the session keeps, at the last checkpoint. */
static uint64_t tail_at, text_bytes;
static uint32_t crc;

static _Atomic bool is_stopped;

static int resume(const char *coder)
{
	return trace_file_resume(&file, path, new_path, tail_at, text_bytes,
				 crc, coder, &is_stopped);
}

static void goes_on_after_a_crash(void **state)
{
	static const char *const first[] = {"zlib:1", "auto", "off"};
	static const char *const second[] = {"zlib:6", "zlib:1", "off"};

	(void)state;
	for (int i = 0; i < 3; i++) {
		const bool plain = !strcmp(first[i], "off");
		size_t kept;

		wanted_len = 0;
		create(first[i]);
		for (int j = 0; j < 5; j++) {
			assert_int_equal(append_events(1000, 100), 0);
			assert_int_equal(checkpoint(), 0);
		}
		trace_file_position(&file, &tail_at, &text_bytes, &crc);
		assert_int_equal(text_bytes, wanted_len);
		kept = wanted_len;
		/* The file has got further than the session says. */
		assert_int_equal(append_events(20000, 100), 0);
		trace_file_abandon(&file);

		wanted_len = kept;
		assert_int_equal(resume(second[i]), 0);
		holds_at(new_path, wanted_len, TRACE_FILE_SHORT_TAIL, plain);
		assert_int_equal(append_events(3000, 100), 0);
		assert_int_equal(checkpoint(), 0);
		assert_int_equal(append_events(3, 100), 0);
		assert_int_equal(finish(), 0);
		holds_at(new_path, wanted_len, tail_text, plain);
		assert_int_equal(unlink(path), 0);
		assert_int_equal(unlink(new_path), 0);
	}
}

/* resume() refuses, and leaves nothing on disk. */
static void refuses(int rc, const char *coder)
{
	assert_int_equal(resume(coder), rc);
	assert_int_not_equal(access(new_path, F_OK), 0);
}

static void does_not_trust_the_session(void **state)
{
	uint64_t true_at;

	(void)state;
	create("zlib:1");
	assert_int_equal(append_events(3000, 100), 0);
	assert_int_equal(checkpoint(), 0);
	trace_file_position(&file, &tail_at, &text_bytes, &crc);
	trace_file_abandon(&file);
	true_at = tail_at;

	store_relaxed(&is_stopped, true);
	refuses(-ECANCELED, "zlib:1");
	store_relaxed(&is_stopped, false);
	crc ^= 1;
	refuses(-EBADMSG, "zlib:1");
	crc ^= 1;
	text_bytes++;
	refuses(-EBADMSG, "zlib:1");
	text_bytes--;
	/* In the middle of a block, of a flush, after the end. */
	for (tail_at = true_at - 40; tail_at < size_of(path) + 4; tail_at++) {
		if (tail_at != true_at)
			refuses(-EBADMSG, "zlib:1");
	}
	tail_at = 0;
	refuses(-EBADMSG, "zlib:1");
	tail_at = UINT64_MAX;
	refuses(-EBADMSG, "zlib:1");
	tail_at = true_at;
	refuses(-EBADMSG, "off");
	assert_int_equal(resume("zlib:1"), 0);
	trace_file_abandon(&file);
	assert_int_equal(resume("zlib:1"), -EEXIST);
	assert_int_equal(unlink(new_path), 0);

	/* Another file, none, a link, a pipe. */
	assert_int_equal(truncate(path, 5000), 0);
	refuses(-EBADMSG, "zlib:1");
	assert_int_equal(truncate(path, 0), 0);
	refuses(-EBADMSG, "zlib:1");
	assert_int_equal(unlink(path), 0);
	refuses(-ENOENT, "zlib:1");
	assert_int_equal(symlink("/etc/passwd", path), 0);
	refuses(-EBADMSG, "zlib:1");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	refuses(-EBADMSG, "zlib:1");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(is_whole_from_the_start),
		TEST(codes_what_waits),
		TEST(keeps_every_event_with_every_coder),
		TEST(takes_tails_of_any_length),
		TEST(does_not_grow_when_nothing_happens),
		TEST(plain_takes_shorter_tails),
		TEST(goes_on_after_a_crash),
		TEST(does_not_trust_the_session),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
