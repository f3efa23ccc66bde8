/* SPDX-License-Identifier: MIT */
/*
 * line_table.h - from a place in CPython's code to the line of its source.
 *
 * The table is the program's memory, which may not be there: it is read in
 * pieces by a function that says so.
 */
#ifndef PRELOAD_LINE_TABLE_H
#define PRELOAD_LINE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct line_table {
	uint64_t at, end; /* what is left of it */
	bool (*peek)(uint64_t address, void *to, size_t bytes);
	uint32_t used, bytes;
	unsigned char data[128];
};

/* The line `offset` bytes into code that begins at line `line`.  Since CPython
 * 3.11: Objects/locations.md. */
int32_t line_table_find(struct line_table *table, int32_t line,
			uint64_t offset);

/* The same of CPython 3.10: Objects/lnotab_notes.txt. */
int32_t line_table_find_10(struct line_table *table, int32_t line,
			   uint64_t offset);

#endif
