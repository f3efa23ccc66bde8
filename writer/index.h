/* SPDX-License-Identifier: MIT */
/*
 * index.h - finds the writer's own items by hash.
 *
 * Open addressing over pointers; items live elsewhere and are never removed.
 */
#ifndef WRITER_INDEX_H
#define WRITER_INDEX_H

#include "writer/area.h"

struct index {
	struct array array;
	size_t slots; /* power of two, 0 at first */
	size_t count;
};

/* The item of this hash for which same(item, key) holds, NULL none. */
void *index_find(const struct index *index, uint64_t hash,
		 bool (*same)(const void *item, const void *key),
		 const void *key);

/* 0 or -ENOMEM (the index then stays as it was). */
int index_add(struct index *index, uint64_t hash, void *item);
void index_free(struct index *index);

/* The items, in no order: start with *at = 0; NULL at the end. */
void *index_each(const struct index *index, size_t *at);

static inline uint64_t index_hash_u64(uint64_t value)
{
	value ^= value >> 32;
	value *= UINT64_C(0x9e3779b97f4a7c15);
	return value ^ value >> 29;
}

uint64_t index_hash_text(const char *text, size_t len);

#endif
