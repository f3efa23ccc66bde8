/* SPDX-License-Identifier: MIT */
/*
 * name_table.h - each different text once, by number.
 *
 * Names, categories and lanes of a trace repeat without end; a reader keeps
 * each of them once, so that its memory follows the number of different names
 * and not the length of the file.  Numbers are given from 0 in order of first
 * appearance and stay valid until name_table_free().
 */
#ifndef TOOLS_NAME_TABLE_H
#define TOOLS_NAME_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct name_table {
	struct name_entry *entries;
	size_t count;
	size_t capacity;
	uint32_t *slots; /* entry number + 1, 0 empty; a power of two of them */
	size_t slot_count;
};

/* The number of this text, a new one at its first appearance. */
uint32_t name_table_number(struct name_table *table, const char *text,
			   size_t len);

/* The text of a number; len may be NULL. */
const char *name_table_text(const struct name_table *table, uint32_t number,
			    size_t *len);

void name_table_free(struct name_table *table);

#endif
