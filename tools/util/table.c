/* SPDX-License-Identifier: MIT */
/*
 * table.c - collects cells and prints them in columns.
 */
#include "tools/util/table.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tools/util/memory.h"

#ifdef HAVE_SMARTCOLS
#include <libsmartcols/libsmartcols.h>
#endif

struct table {
	enum table_kind kind;
	const char *const *headers;
	size_t columns;
	char **cells;
	size_t count, capacity;
};

struct table *table_new(enum table_kind kind, const char *const *headers,
			size_t columns)
{
	struct table *table = memory_zeroed(1, sizeof(*table));

	table->kind = kind;
	table->headers = headers;
	table->columns = columns;
	return table;
}

void table_cell(struct table *table, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = memory_zeroed(1, 1);
	va_end(args);
	table->cells = memory_grow(table->cells, table->count, &table->capacity,
				   sizeof(*table->cells));
	table->cells[table->count++] = text;
}

#ifdef HAVE_SMARTCOLS

static int column_flags(const struct table *table, size_t column)
{
	if (column + 1 == table->columns)
		return SCOLS_FL_TRUNC;
	return table->kind == TABLE_NUMBERS ? SCOLS_FL_RIGHT : 0;
}

static void print_cells(const struct table *table, FILE *out)
{
	struct libscols_table *columns = scols_new_table();
	struct libscols_line *line = NULL;

	if (!columns)
		return;
	scols_table_set_stream(columns, out);
	for (size_t at = 0; at < table->columns; at++)
		scols_table_new_column(columns, table->headers[at], 0,
				       column_flags(table, at));
	for (size_t at = 0; at < table->count; at++) {
		if (at % table->columns == 0)
			line = scols_table_new_line(columns, NULL);
		if (line)
			scols_line_set_data(line, at % table->columns,
					    table->cells[at]);
	}
	if (table->count)
		scols_print_table(columns);
	scols_unref_table(columns);
}

#else

/* Columns that a UTF-8 text takes, wide characters not considered. */
static int width_of(const char *text)
{
	int width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

static void print_cell(const struct table *table, size_t column,
		       const char *text, int width, FILE *out)
{
	const int blanks = width - width_of(text);

	if (column + 1 == table->columns)
		fprintf(out, "%s\n", text);
	else if (table->kind == TABLE_NUMBERS)
		fprintf(out, "%*s%s ", blanks, "", text);
	else
		fprintf(out, "%s%*s ", text, blanks, "");
}

static void print_cells(const struct table *table, FILE *out)
{
	int *widths = memory_zeroed(table->columns, sizeof(*widths));

	for (size_t at = 0; at < table->columns; at++)
		widths[at] = width_of(table->headers[at]);
	for (size_t at = 0; at < table->count; at++) {
		const int width = width_of(table->cells[at]);

		if (width > widths[at % table->columns])
			widths[at % table->columns] = width;
	}
	for (size_t at = 0; at < table->columns; at++)
		print_cell(table, at, table->headers[at], widths[at], out);
	for (size_t at = 0; at < table->count; at++)
		print_cell(table, at % table->columns, table->cells[at],
			   widths[at % table->columns], out);
	free(widths);
}

#endif

void table_print(struct table *table, FILE *out)
{
	print_cells(table, out);
	for (size_t at = 0; at < table->count; at++)
		free(table->cells[at]);
	free(table->cells);
	free(table);
}
