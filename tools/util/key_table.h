/* SPDX-License-Identifier: MIT */
/*
 * key_table.h - each different key once, by number, with a row of its own.
 *
 * Names, categories and lanes of a trace repeat without end.  A reader keeps
 * each of them once and adds up in its row, so memory follows the number of
 * different keys and not the length of the file.  Numbers are given from 0 in
 * order of first appearance and stay valid until key_table_free().
 */
#ifndef TOOLS_KEY_TABLE_H
#define TOOLS_KEY_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct key_table {
	struct key_entry *entries;
	size_t count;
	size_t capacity;
	uint32_t *slots; /* entry number + 1, 0 empty; a power of two of them */
	size_t slot_count;
	size_t row_bytes; /* set before the first key; 0: no rows */
	char *rows;
	size_t row_capacity;
};

/* The number of this key, a new one at its first appearance. */
uint32_t key_table_number(struct key_table *table, const void *key, size_t len);

/* The row of a key, NULL where it isn't there. */
void *key_table_find(const struct key_table *table, const void *key,
		     size_t len);

/* The bytes of a key, with a NUL after them; len may be NULL. */
const char *key_table_key(const struct key_table *table, size_t number,
			  size_t *len);

/* The row of a number, zeroed at first.  Valid until the next new key. */
static inline void *key_table_row(const struct key_table *table, size_t number)
{
	return table->rows + number * table->row_bytes;
}

void key_table_free(struct key_table *table);

#endif
