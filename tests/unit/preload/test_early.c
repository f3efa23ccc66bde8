/* SPDX-License-Identifier: MIT */
/* test_early.c - the static heap for the time before malloc. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "preload/heap/early.h"
#include "preload/heap/heap.h"
#include <errno.h>
#include <malloc.h>
#include <string.h>

static void blocks_are_aligned_zeroed_and_apart(void **state)
{
	char *last_end = early_heap;

	(void)state;
	for (size_t size = 0; size < 40; size++) {
		char *block = early_alloc(0, size);

		assert_non_null(block);
		assert_int_equal((uintptr_t)block % 16, 0);
		assert_true(early_owns(block));
		assert_true(block >= last_end + 16);
		assert_int_equal(early_size(block), size);
		for (size_t i = 0; i < size; i++)
			assert_int_equal(block[i], 0);
		memset(block, 0xff, size);
		last_end = block + size;
	}
	assert_true(early_is_used());
}

static void alignment_is_kept(void **state)
{
	(void)state;
	for (size_t alignment = 8; alignment <= 1024; alignment *= 2) {
		void *block = early_alloc(alignment, 3);

		assert_non_null(block);
		assert_int_equal((uintptr_t)block % alignment, 0);
		assert_int_equal(early_size(block), 3);
	}
}

/* A program may ask libc for the size of such a block.  Since 2.43 that is 8
 * more: the block's own, too. */
static void libc_reads_the_size(void **state)
{
	(void)state;
	for (size_t size = 0; size < 60; size++) {
		char *block = early_alloc(0, size);
		char *next = early_alloc(0, 1);

		assert_in_range(malloc_usable_size(block), size, size + 23);
		for (real_mapped_head = 0; real_mapped_head <= 8;
		     real_mapped_head += 8) {
			const uint64_t bytes = heap_size_plain(block);

			assert_in_range(bytes, size, size + 23);
			assert_true(block + bytes <= next - 16);
			memset(block, 0xff, bytes);
		}
		assert_int_equal(early_size(next), 1);
	}
	real_mapped_head = (uint64_t)real_ask_head(malloc_usable_size);
	assert_int_equal(heap_size_plain(early_alloc(0, 100)),
			 malloc_usable_size(early_alloc(0, 100)));
}

static void others_are_not_owned(void **state)
{
	int local;

	(void)state;
	assert_false(early_owns(NULL));
	assert_false(early_owns(&local));
	assert_false(early_owns(early_heap - 1));
	assert_false(early_owns(early_heap + EARLY_BYTES));
	assert_true(early_owns(early_heap + EARLY_BYTES - 1));
}

static void full_is_enomem(void **state)
{
	(void)state;
	errno = 0;
	assert_null(early_alloc(0, EARLY_BYTES));
	assert_int_equal(errno, ENOMEM);
	assert_null(early_alloc(0, SIZE_MAX));
	assert_null(early_alloc(SIZE_MAX / 2 + 1, 1));
	while (early_alloc(0, 1000))
		;
	while (early_alloc(0, 1))
		;
	errno = 0;
	assert_null(early_alloc(0, 0));
	assert_int_equal(errno, ENOMEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_are_aligned_zeroed_and_apart),
		cmocka_unit_test(alignment_is_kept),
		cmocka_unit_test(libc_reads_the_size),
		cmocka_unit_test(others_are_not_owned),
		cmocka_unit_test(full_is_enomem),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
