/* SPDX-License-Identifier: MIT */
/* arena.c - arenas and growing arrays over mmap; see arena.h. */
#include "writer/state/arena.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define BLOCK_BYTES (256u << 10)

struct arena_block {
	struct arena_block *older;
	size_t bytes;
	char pad[CACHE_LINE - sizeof(void *) - sizeof(size_t)];
};

_Static_assert(sizeof(struct arena_block) == CACHE_LINE,
	       "pieces of an arena are aligned to a cache line");

static void *map(size_t bytes)
{
	void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return base == MAP_FAILED ? NULL : base;
}

void *arena_alloc(struct arena *arena, size_t bytes)
{
	const size_t need = align_up(bytes, CACHE_LINE);

	if (need > arena->left) {
		const size_t size = align_up(
			max_u64(need + sizeof(struct arena_block), BLOCK_BYTES),
			PAGE_BYTES);
		struct arena_block *block = map(size);

		if (!block)
			return NULL;
		block->older = arena->newest;
		block->bytes = size;
		arena->newest = block;
		arena->left = size - sizeof(*block);
	}
	arena->left -= need;
	return (char *)arena->newest + arena->newest->bytes - arena->left -
	       need;
}

const char *arena_text(struct arena *arena, const char *text, size_t len)
{
	char *copy = arena_alloc(arena, len + 1);

	if (copy)
		memcpy(copy, text, len);
	return copy;
}

void arena_free(struct arena *arena)
{
	while (arena->newest) {
		struct arena_block *block = arena->newest;

		arena->newest = block->older;
		munmap(block, block->bytes);
	}
	arena->left = 0;
}

int array_reserve(struct array *array, size_t bytes)
{
	size_t room = max_u64(array->room_bytes, BLOCK_BYTES / 16);
	void *base;

	if (bytes <= array->room_bytes)
		return 0;
	while (room < bytes)
		room *= 2;
	if (array->base)
		base = mremap(array->base, array->room_bytes, room,
			      MREMAP_MAYMOVE);
	else
		base = map(room);
	if (!base || base == MAP_FAILED)
		return -ENOMEM;
	array->base = base;
	array->room_bytes = room;
	return 0;
}

int array_reserve_touched(struct array *array, size_t bytes)
{
	size_t at = array->room_bytes;
	const int rc = array_reserve(array, bytes);

	for (; at < array->room_bytes; at += PAGE_BYTES)
		((volatile char *)array->base)[at] = 0;
	return rc;
}

void array_free(struct array *array)
{
	if (array->base)
		munmap(array->base, array->room_bytes);
	*array = (struct array){0};
}

/* The rest of what array_sort() was told. */
struct heap {
	char *base;
	size_t bytes;
	bool (*after)(const void *a, const void *b, const void *arg);
	const void *arg;
};

static void swap(const struct heap *heap, size_t a, size_t b)
{
	char kept[2 * CACHE_LINE];

	memcpy(kept, heap->base + a * heap->bytes, heap->bytes);
	memmove(heap->base + a * heap->bytes, heap->base + b * heap->bytes,
		heap->bytes);
	memcpy(heap->base + b * heap->bytes, kept, heap->bytes);
}

static bool comes_after(const struct heap *heap, size_t a, size_t b)
{
	return heap->after(heap->base + a * heap->bytes,
			   heap->base + b * heap->bytes, heap->arg);
}

/* Sinks one element of a heap whose last lies on top. */
static void sink(const struct heap *heap, size_t count, size_t at)
{
	for (;;) {
		size_t last = at;

		for (size_t child = 2 * at + 1;
		     child < count && child <= 2 * at + 2; child++) {
			if (comes_after(heap, child, last))
				last = child;
		}
		if (last == at)
			return;
		swap(heap, at, last);
		at = last;
	}
}

void array_sort(void *base, size_t count, size_t bytes,
		bool (*after)(const void *a, const void *b, const void *arg),
		const void *arg)
{
	const struct heap heap = {base, bytes, after, arg};

	for (size_t i = count / 2; i-- > 0;)
		sink(&heap, count, i);
	for (size_t left = count; left > 1; left--) {
		swap(&heap, 0, left - 1);
		sink(&heap, left - 1, 0);
	}
}
