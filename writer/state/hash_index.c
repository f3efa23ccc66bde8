/* SPDX-License-Identifier: MIT */
/* hash_index.c - a hash table over pointers; see hash_index.h. */
#include "writer/state/hash_index.h"

#include <errno.h>

#define SLOTS_FIRST 256u

struct hash_index_slot {
	uint64_t hash;
	void *item;
};

void *hash_index_find(const struct hash_index *index, uint64_t hash,
		      bool (*same)(const void *item, const void *key),
		      const void *key)
{
	const struct hash_index_slot *slots = index->array.base;

	if (!index->slots)
		return NULL;
	for (size_t i = hash & (index->slots - 1); slots[i].item;
	     i = (i + 1) & (index->slots - 1)) {
		if (slots[i].hash == hash && same(slots[i].item, key))
			return slots[i].item;
	}
	return NULL;
}

static void put(struct hash_index_slot *slots, size_t count, uint64_t hash,
		void *item)
{
	size_t i = hash & (count - 1);

	while (slots[i].item)
		i = (i + 1) & (count - 1);
	slots[i] = (struct hash_index_slot){.hash = hash, .item = item};
}

static int grow(struct hash_index *index)
{
	const size_t count = index->slots ? index->slots * 2 : SLOTS_FIRST;
	const struct hash_index_slot *old = index->array.base;
	struct array array = {0};

	if (array_reserve(&array, count * sizeof(struct hash_index_slot)))
		return -ENOMEM;
	for (size_t i = 0; i < index->slots; i++) {
		if (old[i].item)
			put(array.base, count, old[i].hash, old[i].item);
	}
	array_free(&index->array);
	index->array = array;
	index->slots = count;
	return 0;
}

int hash_index_add(struct hash_index *index, uint64_t hash, void *item)
{
	if (index->count + 1 > index->slots / 2 && grow(index) &&
	    index->count + 1 >= index->slots)
		return -ENOMEM;
	put(index->array.base, index->slots, hash, item);
	index->count++;
	return 0;
}

void hash_index_free(struct hash_index *index)
{
	array_free(&index->array);
	index->slots = 0;
	index->count = 0;
}

void *hash_index_each(const struct hash_index *index, size_t *at)
{
	const struct hash_index_slot *slots = index->array.base;

	while (*at < index->slots) {
		void *item = slots[(*at)++].item;

		if (item)
			return item;
	}
	return NULL;
}

uint64_t hash_text(const char *text, size_t len)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)text[i]) *
		       UINT64_C(0x100000001b3);
	return hash_u64(hash);
}
