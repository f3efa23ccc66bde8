/* SPDX-License-Identifier: MIT */
/*
 * name_table.c - a hash table of texts with open addressing.
 */
#include "tools/util/name_table.h"

#include <stdlib.h>
#include <string.h>

#include "tools/util/memory.h"

struct name_entry {
	char *text; /* NUL-terminated copy */
	size_t len;
	uint64_t hash;
};

static uint64_t hash_of(const char *text, size_t len)
{
	uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */

	for (size_t at = 0; at < len; at++)
		hash = (hash ^ (unsigned char)text[at]) * 0x100000001b3u;
	return hash ^ hash >> 32;
}

static void place(struct name_table *table, uint32_t number)
{
	const size_t mask = table->slot_count - 1;
	size_t slot = table->entries[number].hash & mask;

	while (table->slots[slot])
		slot = (slot + 1) & mask;
	table->slots[slot] = number + 1;
}

static void grow(struct name_table *table)
{
	table->slot_count = table->slot_count ? table->slot_count * 2 : 64;
	free(table->slots);
	table->slots = memory_zeroed(table->slot_count, sizeof(*table->slots));
	for (size_t number = 0; number < table->count; number++)
		place(table, (uint32_t)number);
}

uint32_t name_table_number(struct name_table *table, const char *text,
			   size_t len)
{
	const uint64_t hash = hash_of(text, len);
	struct name_entry *entry;

	if ((table->count + 1) * 2 > table->slot_count)
		grow(table);
	for (size_t slot = hash;; slot++) {
		const uint32_t number =
			table->slots[slot & (table->slot_count - 1)];

		if (!number)
			break;
		entry = &table->entries[number - 1];
		if (entry->hash == hash && entry->len == len &&
		    memcmp(entry->text, text, len) == 0)
			return number - 1;
	}
	table->entries = memory_grow(table->entries, table->count,
				     &table->capacity, sizeof(*table->entries));
	entry = &table->entries[table->count++];
	entry->text = memory_resize(NULL, len + 1, 1);
	memcpy(entry->text, text, len);
	entry->text[len] = '\0';
	entry->len = len;
	entry->hash = hash;
	place(table, (uint32_t)table->count - 1);
	return (uint32_t)table->count - 1;
}

const char *name_table_text(const struct name_table *table, uint32_t number,
			    size_t *len)
{
	if (len)
		*len = table->entries[number].len;
	return table->entries[number].text;
}

void name_table_free(struct name_table *table)
{
	for (size_t number = 0; number < table->count; number++)
		free(table->entries[number].text);
	free(table->entries);
	free(table->slots);
	memset(table, 0, sizeof(*table));
}
