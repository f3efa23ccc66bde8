/* SPDX-License-Identifier: MIT */
/*
 * arena.h - memory of the writer's own, straight from mmap.
 *
 * The writer lives in somebody else's process: what it needs must neither go
 * through that program's allocator nor show in its heap.  Two shapes suffice:
 * an arena, whose pieces never move and are freed all at once, and an array
 * that grows and may move.
 */
#ifndef WRITER_ARENA_H
#define WRITER_ARENA_H

#include "collector/system/base.h"

struct arena_block;

struct arena {
	struct arena_block *newest;
	size_t left; /* bytes free in it */
};

/* `bytes` of zeroed memory, aligned to 64; NULL when there is none. */
void *arena_alloc(struct arena *arena, size_t bytes);

/* A NUL-terminated copy of a text; NULL as above. */
const char *arena_text(struct arena *arena, const char *text, size_t len);
void arena_free(struct arena *arena);

struct array {
	void *base;
	size_t room_bytes;
};

/* Room for at least `bytes`; what was there stays, what is new is zero.
 * 0 or -ENOMEM. */
int array_reserve(struct array *array, size_t bytes);

/* The same for a table that is looked at before it is written to, all of it:
 * a page that was read before its first store would be exchanged for another by
 * that store, for which the kernel interrupts each processor that runs a thread
 * of the program. */
int array_reserve_touched(struct array *array, size_t bytes);
void array_free(struct array *array);

/* Sorts `count` things of `bytes` (at most 128) in place.  It allocates
 * nothing: qsort() would, from the program's heap.  `after` says that a comes
 * after b. */
void array_sort(void *base, size_t count, size_t bytes,
		bool (*after)(const void *a, const void *b, const void *arg),
		const void *arg);

#endif
