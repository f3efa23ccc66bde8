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
