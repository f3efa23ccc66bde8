/* SPDX-License-Identifier: MIT */
/*
 * table.h - rows and columns of text on a terminal.
 *
 * With libsmartcols columns are aligned, and on a terminal a name that is too
 * wide for the last one loses its middle; without it they are apart by a tab.
 */
#ifndef TOOLS_TABLE_H
#define TOOLS_TABLE_H

#include <stddef.h>
#include <stdio.h>

struct table;

/* The last column is flush left; the others are flush right in a table of
 * numbers, flush left in one of texts.  Nothing is cut in a whole one, which is
 * of numbers, too. */
enum table_kind { TABLE_NUMBERS, TABLE_TEXTS, TABLE_WHOLE };

/* Of the terminal, or as COLUMNS says; 0: it is none. */
unsigned int table_columns(FILE *out);

struct table *table_new(enum table_kind kind, const char *const *headers,
			size_t columns);

/* Fills the next cell, row by row. */
void table_cell(struct table *table, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Prints it and frees it. */
void table_print(struct table *table, FILE *out);

#endif
