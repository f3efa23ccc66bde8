/* SPDX-License-Identifier: MIT */
/* index.c - a hash table over pointers; see index.h. */
#include "writer/index.h"

#include <errno.h>

#define SLOTS_FIRST 256u

struct index_slot {
	uint64_t hash;
	void *item;
};

void *index_find(const struct index *index, uint64_t hash,
		 bool (*same)(const void *item, const void *key),
		 const void *key)
{
	const struct index_slot *slots = index->array.base;

	if (!index->slots)
		return NULL;
	for (size_t i = hash & (index->slots - 1); slots[i].item;
	     i = (i + 1) & (index->slots - 1)) {
		if (slots[i].hash == hash && same(slots[i].item, key))
			return slots[i].item;
	}
	return NULL;
}

static void put(struct index_slot *slots, size_t count, uint64_t hash,
		void *item)
{
	size_t i = hash & (count - 1);

	while (slots[i].item)
		i = (i + 1) & (count - 1);
	slots[i] = (struct index_slot){.hash = hash, .item = item};
}

static int grow(struct index *index)
{
	const size_t count = index->slots ? index->slots * 2 : SLOTS_FIRST;
	const struct index_slot *old = index->array.base;
	struct array array = {0};

	if (array_reserve(&array, count * sizeof(struct index_slot)))
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

int index_add(struct index *index, uint64_t hash, void *item)
{
	if (index->count + 1 > index->slots / 2 && grow(index) &&
	    index->count + 1 >= index->slots)
		return -ENOMEM;
	put(index->array.base, index->slots, hash, item);
	index->count++;
	return 0;
}

void index_free(struct index *index)
{
	array_free(&index->array);
	index->slots = 0;
	index->count = 0;
}

void *index_each(const struct index *index, size_t *at)
{
	const struct index_slot *slots = index->array.base;

	while (*at < index->slots) {
		void *item = slots[(*at)++].item;

		if (item)
			return item;
	}
	return NULL;
}

uint64_t index_hash_text(const char *text, size_t len)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)text[i]) *
		       UINT64_C(0x100000001b3);
	return index_hash_u64(hash);
}
