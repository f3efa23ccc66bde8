/* SPDX-License-Identifier: MIT */
/* early.c - the static heap for the time before the real malloc is known. */
#include "preload/heap/early.h"

#include <errno.h>

/* What stands before a block.  The second word looks like the size of a
 * mapped chunk of glibc's: 2 says so, and 16 bytes of it are the head's; from
 * 2.43 on 8, so each block has 8 more than it was asked for. */
struct early_head {
	size_t size;  /* that was asked for */
	size_t chunk; /* (usable size + 16) | 2 */
};

#define MAPPED_CHUNK 2u
#define MORE_BYTES   8u

char early_heap[EARLY_BYTES] __attribute__((aligned(16)));
static START_DATA _Atomic size_t early_used;

void *early_alloc(size_t alignment, size_t size)
{
	const size_t start = (size_t)(uintptr_t)early_heap;
	size_t used = load_relaxed(&early_used);
	size_t at, end;

	if (alignment < sizeof(struct early_head))
		alignment = sizeof(struct early_head);
	do {
		if (size > EARLY_BYTES || alignment > EARLY_BYTES)
			goto full;
		at = align_up(start + used + sizeof(struct early_head),
			      alignment) -
		     start;
		end = at + align_up(size + MORE_BYTES, 16);
		if (end > EARLY_BYTES)
			goto full;
	} while (!atomic_compare_exchange_weak_explicit(&early_used, &used, end,
							memory_order_relaxed,
							memory_order_relaxed));
	struct early_head *head = (struct early_head *)&early_heap[at] - 1;

	head->size = size;
	head->chunk = (end - at - MORE_BYTES + sizeof(*head)) | MAPPED_CHUNK;
	return &early_heap[at];
full:
	errno = ENOMEM;
	return NULL;
}

COLD bool early_is_used(void)
{
	return load_relaxed(&early_used) != 0;
}

size_t early_size(const void *ptr)
{
	return ((const struct early_head *)ptr - 1)->size;
}
