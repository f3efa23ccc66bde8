/* SPDX-License-Identifier: MIT */
/*
 * test_preload_heap.c - sizes of blocks: glibc's header read in place, and the
 * table of large ones for allocators that won't tell.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "preload/blocks.h"
#include "preload/heap.h"
#include <malloc.h>
#include <stdlib.h>

static void header_says_what_libc_says(void **state)
{
	(void)state;
	for (size_t size = 0; size < 4 << 20; size += 1 + size / 7) {
		void *volatile plain = malloc(size);
		void *volatile aligned =
			aligned_alloc(4096, 4096 + (size & ~4095ul));

		assert_int_equal(heap_size_plain(plain),
				 malloc_usable_size(plain));
		assert_int_equal(heap_size_plain(aligned),
				 malloc_usable_size(aligned));
		free(plain);
		free(aligned);
	}
}

static void *address(uint64_t number)
{
	return (void *)(uintptr_t)(0x7f0000000000 + number * 4096);
}

static struct session *make_session(void)
{
	struct options options;
	struct session *session;

	options_default(&options);
	assert_int_equal(session_create(&options, "test", &session), 0);
	return session;
}

static void table_gives_back_what_it_took(void **state)
{
	struct session *session = make_session();
	uint64_t bytes = 0;
	unsigned int kept = 0;

	(void)state;
	blocks_start(session, 1000);
	assert_false(blocks_add(address(1), 999));
	assert_false(blocks_take(address(1), &bytes));
	for (unsigned int i = 1; i <= BLOCKS_SLOTS / 2; i++)
		kept += blocks_add(address(i), 1000 + i);
	assert_in_range(kept, BLOCKS_SLOTS / 2 - 100, BLOCKS_SLOTS / 2);
	for (unsigned int i = 1; i <= BLOCKS_SLOTS / 2; i++) {
		if (!blocks_take(address(i), &bytes))
			continue;
		kept--;
		assert_int_equal(bytes, 1000 + i);
		assert_false(blocks_take(address(i), &bytes));
	}
	assert_int_equal(kept, 0);
	session_unlink(session);
}

/* A full neighbourhood refuses, and has room again after a take. */
static void full_table_refuses(void **state)
{
	struct session *session = make_session();
	uint64_t refused = 0;
	uint64_t bytes;

	(void)state;
	blocks_start(session, 1);
	for (uint64_t i = 1; i <= 4 * BLOCKS_SLOTS && !refused; i++) {
		if (!blocks_add(address(i), i))
			refused = i;
	}
	assert_int_not_equal(refused, 0);
	for (uint64_t i = 1; i < refused; i++) {
		assert_true(blocks_take(address(i), &bytes));
		assert_int_equal(bytes, i);
	}
	assert_true(blocks_add(address(refused), 5));
	session_unlink(session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(header_says_what_libc_says),
		cmocka_unit_test(table_gives_back_what_it_took),
		cmocka_unit_test(full_table_refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
