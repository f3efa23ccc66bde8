/* SPDX-License-Identifier: MIT */
/*
 * key_table.c - a hash table with open addressing.
 */
#include "tools/util/key_table.h"

#include <stdlib.h>
#include <string.h>

#include "tools/util/memory.h"

struct key_entry {
	char *key; /* a copy, with a NUL after it */
	size_t len;
	uint64_t hash;
};

static uint64_t word_at(const char *key)
{
	uint64_t word;

	memcpy(&word, key, sizeof(word));
	return word;
}

/* Both halves of the product. */
static uint64_t fold(uint64_t left, uint64_t right)
{
	const unsigned __int128 product = (unsigned __int128)left * right;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* By words; the last one overlaps the one before it. */
static uint64_t hash_of(const char *key, size_t len)
{
	const uint64_t odd = 0x9e3779b97f4a7c15u;
	uint64_t hash = 0xcbf29ce484222325u ^ len, word = 0;

	if (len < sizeof(word)) {
		memcpy(&word, key, len);
		return fold(hash ^ word, odd);
	}
	for (size_t at = 0; at + sizeof(word) < len; at += sizeof(word))
		hash = fold(hash ^ word_at(key + at), odd);
	return fold(hash ^ word_at(key + len - sizeof(word)), odd);
}

static void place(struct key_table *table, uint32_t number)
{
	const size_t mask = table->slot_count - 1;
	size_t slot = table->entries[number].hash & mask;

	while (table->slots[slot])
		slot = (slot + 1) & mask;
	table->slots[slot] = number + 1;
}

static void grow(struct key_table *table)
{
	table->slot_count = table->slot_count ? table->slot_count * 2 : 64;
	free(table->slots);
	table->slots = memory_zeroed(table->slot_count, sizeof(*table->slots));
	for (size_t number = 0; number < table->count; number++)
		place(table, (uint32_t)number);
}

/* The number + 1 of a key, 0 for one that isn't there. */
static uint32_t look_up(const struct key_table *table, const void *key,
			size_t len, uint64_t hash)
{
	for (size_t slot = hash; table->slot_count; slot++) {
		const uint32_t number =
			table->slots[slot & (table->slot_count - 1)];
		const struct key_entry *entry;

		if (!number)
			break;
		entry = &table->entries[number - 1];
		if (entry->hash == hash && entry->len == len &&
		    memcmp(entry->key, key, len) == 0)
			return number;
	}
	return 0;
}

void *key_table_find(const struct key_table *table, const void *key, size_t len)
{
	const uint32_t number = look_up(table, key, len, hash_of(key, len));

	return number ? key_table_row(table, number - 1) : NULL;
}

uint32_t key_table_number(struct key_table *table, const void *key, size_t len)
{
	const uint64_t hash = hash_of(key, len);
	const uint32_t number = look_up(table, key, len, hash);
	struct key_entry *entry;

	if (number)
		return number - 1;
	if ((table->count + 1) * 2 > table->slot_count)
		grow(table);
	table->entries = memory_grow(table->entries, table->count,
				     &table->capacity, sizeof(*table->entries));
	entry = &table->entries[table->count++];
	*entry = (struct key_entry){memory_resize(NULL, len + 1, 1), len, hash};
	memcpy(entry->key, key, len);
	entry->key[len] = '\0';
	place(table, (uint32_t)table->count - 1);
	if (table->row_bytes) {
		table->rows =
			memory_grow(table->rows, table->count - 1,
				    &table->row_capacity, table->row_bytes);
		memset(key_table_row(table, table->count - 1), 0,
		       table->row_bytes);
	}
	return (uint32_t)table->count - 1;
}

const char *key_table_key(const struct key_table *table, size_t number,
			  size_t *len)
{
	if (len)
		*len = table->entries[number].len;
	return table->entries[number].key;
}

void key_table_free(struct key_table *table)
{
	for (size_t number = 0; number < table->count; number++)
		free(table->entries[number].key);
	free(table->entries);
	free(table->slots);
	free(table->rows);
	memset(table, 0, sizeof(*table));
}
