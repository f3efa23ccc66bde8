/* SPDX-License-Identifier: MIT */
/*
 * test_names.c - one text, one id: from many threads, with hostile texts, in a
 * table that is full, and in a session that is damaged.
 */
#include "collector/session/names.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/session_group.h"

#define THREADS	     8
#define SHARED_TEXTS 3000

static void test_same_text_same_id(void **state)
{
	const uint32_t one = names_intern_string(session, "one");
	const uint32_t two = names_intern_string(session, "two");
	size_t len;

	(void)state;
	assert_int_not_equal(one, 0);
	assert_int_not_equal(one, two);
	assert_int_equal(names_intern(session, "one more", 3), one);
	assert_string_equal(names_text(session, two, &len), "two");
	assert_int_equal(len, 3);
	assert_int_equal(load_relaxed(&session->head->name_count), 2);
}

static void test_special_ids(void **state)
{
	size_t len;

	(void)state;
	assert_string_equal(names_text(session, 0, &len), "");
	assert_int_equal(len, 0);
	assert_string_equal(names_text(session, NAME_REFUSED, &len),
			    "(name table full)");
	assert_int_equal(len, 17);
	assert_string_equal(names_text(session, 1, NULL), "(unknown name)");
}

static void test_bytes_of_any_kind(void **state)
{
	const char text[] = "a\0b\"\\\xff\n";
	const uint32_t id = names_intern(session, text, sizeof(text) - 1);
	const uint32_t empty = names_intern(session, "", 0);
	size_t len;

	(void)state;
	assert_memory_equal(names_text(session, id, &len), text, sizeof(text));
	assert_int_equal(len, sizeof(text) - 1);
	assert_int_not_equal(names_intern_string(session, text), id);
	assert_int_not_equal(empty, 0);
	assert_string_equal(names_text(session, empty, &len), "");
}

static void test_long_texts_are_cut_at_a_character(void **state)
{
	char text[5000];
	size_t len;

	(void)state;
	memset(text, 'x', sizeof(text));
	names_text(session, names_intern(session, text, NAME_BYTES_MAX), &len);
	assert_int_equal(len, NAME_BYTES_MAX);
	names_text(session, names_intern(session, text, sizeof(text)), &len);
	assert_int_equal(len, NAME_BYTES_MAX);
	/* A character of three bytes across the cut goes as a whole. */
	memcpy(text + NAME_BYTES_MAX - 1, "\xe2\x82\xac", 3);
	names_text(session, names_intern(session, text, sizeof(text)), &len);
	assert_int_equal(len, NAME_BYTES_MAX - 1);
	/* What is no UTF-8 loses a few bytes, not all of them. */
	memset(text, 0x80, sizeof(text));
	names_text(session, names_intern(session, text, sizeof(text)), &len);
	assert_in_range(len, NAME_BYTES_MAX - 3, NAME_BYTES_MAX);
}

static void test_a_text_without_end_is_not_read_further(void **state)
{
	char text[NAME_BYTES_MAX + 8];
	size_t len;

	(void)state;
	memset(text, 'y', sizeof(text));
	names_text(session, names_intern_string(session, text), &len);
	assert_int_equal(len, NAME_BYTES_MAX);
}

static void test_symbols_are_kept_longer(void **state)
{
	char text[2 * NAME_SYMBOL_MAX];
	size_t len;
	uint32_t id;

	(void)state;
	memset(text, 's', sizeof(text));
	text[NAME_SYMBOL_MAX] = '\0';
	id = names_intern_symbol(session, text);
	assert_string_equal(names_text(session, id, &len), text);
	assert_int_equal(len, NAME_SYMBOL_MAX);
	text[NAME_SYMBOL_MAX] = 's';
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(names_intern_symbol(session, text), id);
	assert_int_not_equal(names_intern_string(session, text), id);
}

/* Each thread interns all the texts, beginning elsewhere. */
struct worker {
	pthread_t id;
	unsigned int first;
	uint32_t ids[SHARED_TEXTS];
};

static void *intern_all(void *arg)
{
	struct worker *worker = arg;
	char text[32];

	for (unsigned int i = 0; i < SHARED_TEXTS; i++) {
		const unsigned int n = (worker->first + i) % SHARED_TEXTS;

		snprintf(text, sizeof(text), "shared %u", n);
		worker->ids[n] = names_intern_string(session, text);
	}
	return NULL;
}

static void test_eight_threads_get_the_same_ids(void **state)
{
	static struct worker workers[THREADS];
	char text[32];

	(void)state;
	for (unsigned int i = 0; i < THREADS; i++) {
		workers[i].first = i / 2 * 700;
		pthread_create(&workers[i].id, NULL, intern_all, &workers[i]);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(workers[i].id, NULL);
	for (unsigned int n = 0; n < SHARED_TEXTS; n++) {
		snprintf(text, sizeof(text), "shared %u", n);
		for (int i = 0; i < THREADS; i++)
			assert_int_equal(workers[i].ids[n], workers[0].ids[n]);
		assert_string_equal(
			names_text(session, workers[0].ids[n], NULL), text);
	}
	assert_int_equal(load_relaxed(&session->head->name_count),
			 SHARED_TEXTS);
}

static void test_a_full_table_refuses_and_counts(void **state)
{
	const uint32_t texts = SESSION_NAMES_MAX + 2000;
	uint32_t *ids = calloc(texts, sizeof(*ids));
	uint32_t refused = 0;
	char text[32];

	(void)state;
	assert_non_null(ids);
	for (uint32_t i = 0; i < texts; i++) {
		snprintf(text, sizeof(text), "n%u", i);
		ids[i] = names_intern_string(session, text);
		refused += ids[i] == NAME_REFUSED;
	}
	assert_in_range(refused, 2000, 6000);
	assert_int_equal(load_relaxed(&session->head->names_refused), refused);
	assert_int_equal(load_relaxed(&session->head->name_count),
			 texts - refused);
	for (uint32_t i = 0; i < texts; i++) {
		snprintf(text, sizeof(text), "n%u", i);
		if (ids[i] == NAME_REFUSED)
			continue;
		assert_string_equal(names_text(session, ids[i], NULL), text);
		if (i % 97 == 0)
			assert_int_equal(names_intern_string(session, text),
					 ids[i]);
	}
	free(ids);
}

static void test_many_texts_leave_room_for_the_others(void **state)
{
	uint32_t first, taken = 0;
	char text[32];

	(void)state;
	first = names_intern_spare(session, "s0", 2);
	for (uint32_t i = 0; i < SESSION_NAMES_MAX; i++) {
		snprintf(text, sizeof(text), "s%u", i);
		taken += names_intern_spare(session, text, strlen(text)) !=
			 NAME_REFUSED;
	}
	assert_int_equal(taken, SESSION_NAMES_MAX / 4 * 3);
	assert_int_equal(load_relaxed(&session->head->names_refused),
			 SESSION_NAMES_MAX - taken);
	assert_int_equal(names_intern_spare(session, "s0", 2), first);
	assert_int_not_equal(names_intern_string(session, "step"),
			     NAME_REFUSED);
}

static void test_a_full_session_refuses(void **state)
{
	char text[NAME_BYTES_MAX];

	(void)state;
	while (session_alloc(session, 4096))
		;
	memset(text, 'z', sizeof(text));
	/* The present block, if any, may still take some. */
	for (unsigned int i = 0; i < 64; i++) {
		memcpy(text, &i, sizeof(i));
		names_intern(session, text, sizeof(text));
	}
	memcpy(text, "last", 4);
	assert_int_equal(names_intern(session, text, sizeof(text)),
			 NAME_REFUSED);
	assert_true(load_relaxed(&session->head->names_refused) > 0);
}

static void fill_with_noise(void)
{
	uint32_t *words = session_at(session, sizeof(*session->head));
	const uint64_t count =
		(SESSION_FIRST_BYTES - sizeof(*session->head)) / 4;

	srand(7);
	for (uint64_t i = 0; i < count; i++)
		words[i] = rand() % 3 ? (uint32_t)rand() % 2000 : 0;
}

static void test_a_damaged_session_gives_texts_that_end(void **state)
{
	unsigned int known = 0;

	(void)state;
	fill_with_noise();
	for (uint64_t id = 0; id < session->bytes / 8 + 1000; id++) {
		size_t len;
		const char *text = names_text(session, (uint32_t)id, &len);

		assert_true(len <= NAME_SYMBOL_MAX);
		assert_int_equal(text[len], '\0');
		known += text[0] != '(';
	}
	assert_true(known > 0);
}

static void test_a_damaged_table_is_not_followed(void **state)
{
	(void)state;
	srand(11);
	for (uint32_t i = 0; i < SESSION_NAMES_MAX; i++)
		store_relaxed(&session->head->names[i],
			      (uint64_t)rand() << (rand() % 34));
	for (unsigned int i = 0; i < 200; i++) {
		char text[32];

		snprintf(text, sizeof(text), "after damage %u", i);
		names_intern_string(session, text);
	}
}

#define NAMES_TEST(name)                                                       \
	cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		NAMES_TEST(test_same_text_same_id),
		NAMES_TEST(test_special_ids),
		NAMES_TEST(test_bytes_of_any_kind),
		NAMES_TEST(test_long_texts_are_cut_at_a_character),
		NAMES_TEST(test_a_text_without_end_is_not_read_further),
		NAMES_TEST(test_symbols_are_kept_longer),
		NAMES_TEST(test_eight_threads_get_the_same_ids),
		NAMES_TEST(test_a_full_table_refuses_and_counts),
		NAMES_TEST(test_many_texts_leave_room_for_the_others),
		NAMES_TEST(test_a_full_session_refuses),
		NAMES_TEST(test_a_damaged_session_gives_texts_that_end),
		NAMES_TEST(test_a_damaged_table_is_not_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
