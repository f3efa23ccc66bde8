/* SPDX-License-Identifier: MIT */
/*
 * hash_index.h - finds the writer's own items by hash.
 *
 * Open addressing over pointers; items live elsewhere and are never removed.
 */
#ifndef WRITER_HASH_INDEX_H
#define WRITER_HASH_INDEX_H

#include "writer/state/arena.h"

struct hash_index {
	struct array array;
	size_t slots; /* power of two, 0 at first */
	size_t count;
};

/* The item of this hash for which same(item, key) holds, NULL none. */
void *hash_index_find(const struct hash_index *index, uint64_t hash,
		      bool (*same)(const void *item, const void *key),
		      const void *key);

/* 0 or -ENOMEM (the index then stays as it was). */
int hash_index_add(struct hash_index *index, uint64_t hash, void *item);
void hash_index_free(struct hash_index *index);

/* The items, in no order: start with *at = 0; NULL at the end. */
void *hash_index_each(const struct hash_index *index, size_t *at);

static inline uint64_t hash_u64(uint64_t value)
{
	value ^= value >> 32;
	value *= UINT64_C(0x9e3779b97f4a7c15);
	return value ^ value >> 29;
}

uint64_t hash_text(const char *text, size_t len);

#endif
