/* SPDX-License-Identifier: MIT */
/*
 * test_chunk_prefault.c - chunks lie ready, their pages mapped, before a ring
 * takes them.
 */
#include "tests/unit/session_fixture.h"

#include "collector/session/pool.h"
#include "writer/state/chunk_prefault.h"
#include <sys/resource.h>

#define BUFFER_MB    16
#define PAGES	     (CHUNK_BYTES / PAGE_BYTES)
#define STOCK_CHUNKS 4

static struct session *begin_with(int mode, int buffer_mb)
{
	struct options options;

	options_default(&options);
	options.buffer_mb = buffer_mb;
	options.malloc = mode;
	return fixture_with(&options);
}

static struct session *begin(int mode)
{
	return begin_with(mode, BUFFER_MB);
}

static long faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_minflt;
}

/* Takes a chunk and writes to each of its pages: the faults that it took. */
static long faults_of_a_chunk(struct session *session)
{
	const uint64_t at = pool_take(session);
	volatile char *bytes = session_at(session, at);
	const long before = faults();

	assert_int_not_equal(at, 0);
	for (size_t i = 0; i < CHUNK_BYTES; i += PAGE_BYTES)
		bytes[i] = 1;
	return faults() - before;
}

static unsigned int free_chunks(const struct session *session)
{
	return load_relaxed(&session->head->free_chunk_count);
}

static void test_a_chunk_from_the_stock_takes_no_fault(void **state)
{
	struct session *session = begin(MALLOC_LARGE);
	struct chunk_prefault prefault = {0};

	(void)state;
	chunk_prefault_refill(&prefault, session);
	assert_int_equal(faults_of_a_chunk(session), 0);
	fixture_end(session);
}

static void test_without_a_stock_each_page_takes_one(void **state)
{
	struct session *session = begin(MALLOC_LARGE);

	(void)state;
	assert_in_range(faults_of_a_chunk(session), PAGES / 2, PAGES);
	fixture_end(session);
}

static void test_the_stock_follows_what_the_rings_take(void **state)
{
	struct session *session = begin(MALLOC_LARGE);
	struct chunk_prefault prefault = {0};
	unsigned int least, after;

	(void)state;
	chunk_prefault_refill(&prefault, session);
	least = free_chunks(session);
	chunk_prefault_refill(&prefault, session);
	assert_int_equal(free_chunks(session), least);
	for (unsigned int i = 0; i < 10; i++)
		assert_int_not_equal(pool_take(session), 0);
	chunk_prefault_refill(&prefault, session);
	after = free_chunks(session);
	assert_int_equal(after, least + 20);
	chunk_prefault_refill(&prefault, session);
	assert_int_equal(free_chunks(session), after);
	fixture_end(session);
}

static void prepares(int mode, unsigned int part)
{
	struct session *session = begin(mode);
	struct chunk_prefault prefault = {0};
	const unsigned int chunks = (BUFFER_MB << 20) / CHUNK_BYTES / part;

	while (chunk_prefault_extend(&prefault, session))
		;
	/* The stock that is always there may be more. */
	assert_in_range(free_chunks(session), chunks,
			chunks + chunks / 2 + STOCK_CHUNKS);
	assert_int_equal(faults_of_a_chunk(session), 0);
	fixture_end(session);
}

static void test_a_part_of_the_buffer_is_prepared_at_first(void **state)
{
	(void)state;
	prepares(MALLOC_LARGE, 64);
	prepares(MALLOC_ALL, 4);
}

/* Names and records of new threads need room that isn't in chunks. */
static void test_a_small_buffer_is_not_prepared_whole(void **state)
{
	struct session *session = begin_with(MALLOC_ALL, 4);
	struct chunk_prefault prefault = {0};
	unsigned int chunks;

	(void)state;
	while (chunk_prefault_extend(&prefault, session))
		;
	chunks = free_chunks(session);
	assert_in_range(chunks, 1, pool_room(session) * 3 / 4);
	for (unsigned int i = 0; i < chunks; i++)
		assert_int_equal(faults_of_a_chunk(session), 0);
	fixture_end(session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_chunk_from_the_stock_takes_no_fault),
		cmocka_unit_test(test_without_a_stock_each_page_takes_one),
		cmocka_unit_test(test_the_stock_follows_what_the_rings_take),
		cmocka_unit_test(
			test_a_part_of_the_buffer_is_prepared_at_first),
		cmocka_unit_test(test_a_small_buffer_is_not_prepared_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
