/* SPDX-License-Identifier: MIT */
/*
 * test_pool.c - chunks are handed out once, last freed first, and never past
 * the ceiling.
 */
#include "collector/session/pool.h"
#include <pthread.h>
#include <string.h>

#include "tests/unit/session_group.h"

#define TAKERS 4
#define ROUNDS 20000

static void test_last_freed_is_first_reused(void **state)
{
	const uint64_t a = pool_take(session);
	const uint64_t b = pool_take(session);
	const uint64_t c = pool_take(session);

	(void)state;
	assert_true(a && b && c && a != b && b != c);
	assert_int_equal(a % CACHE_LINE, 0);
	pool_give(session, a);
	pool_give(session, c);
	pool_give(session, b);
	assert_int_equal(load_relaxed(&session->head->free_chunk_count), 3);
	assert_int_equal(pool_take(session), b);
	assert_int_equal(pool_take(session), c);
	assert_int_equal(pool_take(session), a);
	assert_int_equal(load_relaxed(&session->head->free_chunk_count), 0);
	assert_int_equal(load_relaxed(&session->head->chunk_count), 3);
}

static void test_the_tag_moves_with_each_give_and_take(void **state)
{
	const uint64_t at = pool_take(session);
	uint64_t before;

	(void)state;
	pool_give(session, at);
	before = load_relaxed(&session->head->free_chunks);
	pool_give(session, pool_take(session));
	/* The same chunk on top, yet not the same word. */
	assert_int_not_equal(load_relaxed(&session->head->free_chunks), before);
	assert_int_equal(load_relaxed(&session->head->free_chunks) << 24,
			 before << 24);
}

static void test_a_given_chunk_has_no_owner(void **state)
{
	const uint64_t at = pool_take(session);
	struct chunk *chunk = session_at(session, at);

	(void)state;
	chunk->owner = 4096;
	pool_give(session, at);
	assert_int_equal(chunk->owner, 0);
}

static void test_the_ceiling_holds(void **state)
{
	const unsigned int room = pool_room(session);
	unsigned int taken = 0;

	(void)state;
	for (uint64_t at; (at = pool_take(session)); taken++)
		assert_true(at + CHUNK_BYTES <= session->bytes);
	assert_int_equal(taken, room);
	assert_int_equal(pool_room(session), 0);
	assert_int_equal(pool_take(session), 0);
}

static void test_a_reserve_is_made_as_far_as_the_ceiling_allows(void **state)
{
	unsigned int room;

	(void)state;
	pool_reserve(session, 3);
	assert_int_equal(load_relaxed(&session->head->free_chunk_count), 3);
	pool_reserve(session, 2);
	assert_int_equal(load_relaxed(&session->head->free_chunk_count), 3);
	room = pool_room(session);
	pool_reserve(session, 100000);
	assert_int_equal(load_relaxed(&session->head->free_chunk_count), room);
	assert_int_equal(pool_room(session), room);
}

/* Takers mark what they hold; nobody else may hold it at that time. */
static _Atomic uint32_t held[1024];
static _Atomic uint32_t faults;

static void *take_and_give(void *arg)
{
	(void)arg;
	for (int i = 0; i < ROUNDS; i++) {
		const uint64_t at = pool_take(session);

		/* Counted before it is pushed: never fewer than there are. */
		if (load_relaxed(&session->head->free_chunk_count) > 1000)
			add_relaxed(&faults, 1);
		if (!at)
			continue;
		if (add_relaxed(&held[at / CHUNK_BYTES], 1))
			add_relaxed(&faults, 1);
		atomic_fetch_sub_explicit(&held[at / CHUNK_BYTES], 1,
					  memory_order_relaxed);
		pool_give(session, at);
	}
	return NULL;
}

static void test_no_chunk_is_handed_out_twice(void **state)
{
	pthread_t ids[TAKERS];

	(void)state;
	pool_reserve(session, 3);
	for (int i = 0; i < TAKERS; i++)
		pthread_create(&ids[i], NULL, take_and_give, NULL);
	for (int i = 0; i < TAKERS; i++)
		pthread_join(ids[i], NULL);
	assert_int_equal(load_relaxed(&faults), 0);
	assert_int_equal(load_relaxed(&session->head->free_chunk_count),
			 load_relaxed(&session->head->chunk_count));
}

#define POOL_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		POOL_TEST(test_last_freed_is_first_reused),
		POOL_TEST(test_the_tag_moves_with_each_give_and_take),
		POOL_TEST(test_a_given_chunk_has_no_owner),
		POOL_TEST(test_the_ceiling_holds),
		POOL_TEST(test_a_reserve_is_made_as_far_as_the_ceiling_allows),
		POOL_TEST(test_no_chunk_is_handed_out_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
