/* SPDX-License-Identifier: MIT */
/*
 * table.c - tables by libsmartcols; where that isn't there, columns are apart
 * by a tab.
 */
#include "tools/util/table.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>

#include "tools/util/color.h"
#include "tools/util/memory.h"

#ifdef HAVE_SMARTCOLS
#include <libsmartcols/libsmartcols.h>

struct table {
	struct libscols_table *lines;
	struct libscols_line *line; /* that is filled */
	size_t columns;
	size_t count; /* of cells */
};

static int column_flags(enum table_kind kind, bool is_last)
{
	if (is_last)
		return SCOLS_FL_TRUNC;
	return kind == TABLE_NUMBERS ? SCOLS_FL_RIGHT : 0;
}

struct table *table_new(enum table_kind kind, const char *const *headers,
			size_t columns)
{
	struct table *table = memory_zeroed(1, sizeof(*table));

	table->columns = columns;
	table->lines = scols_new_table();
	if (!table->lines)
		memory_exhausted();
	for (size_t at = 0; at < columns; at++)
		scols_table_new_column(table->lines, headers[at], 0,
				       column_flags(kind, at + 1 == columns));
	return table;
}

static void add(struct table *table, const char *text)
{
	const size_t column = table->count++ % table->columns;

	if (column == 0)
		table->line = scols_table_new_line(table->lines, NULL);
	if (!table->line || scols_line_set_data(table->line, column, text))
		memory_exhausted();
}

static void color_heads(struct table *table, FILE *out)
{
	scols_table_enable_colors(table->lines, 1);
	for (size_t at = 0; at < table->columns; at++)
		scols_cell_set_color(
			scols_column_get_header(
				scols_table_get_column(table->lines, at)),
			color_begin(out, COLOR_HEAD));
}

void table_print(struct table *table, FILE *out)
{
	scols_table_set_stream(table->lines, out);
	if (color_is_on(out))
		color_heads(table, out);
	if (table->count)
		scols_print_table(table->lines);
	scols_unref_table(table->lines);
	free(table);
}

#else

struct table {
	const char *const *headers;
	size_t columns;
	size_t count; /* of cells */
	char *text;
	size_t bytes;
	FILE *cells; /* writes text */
};

struct table *table_new(enum table_kind kind, const char *const *headers,
			size_t columns)
{
	struct table *table = memory_zeroed(1, sizeof(*table));

	(void)kind;
	table->headers = headers;
	table->columns = columns;
	table->cells = open_memstream(&table->text, &table->bytes);
	if (!table->cells)
		memory_exhausted();
	return table;
}

static void add(struct table *table, const char *text)
{
	const bool is_last = ++table->count % table->columns == 0;

	fprintf(table->cells, "%s%c", text, is_last ? '\n' : '\t');
}

void table_print(struct table *table, FILE *out)
{
	fclose(table->cells);
	for (size_t at = 0; at < table->columns && table->count; at++)
		fprintf(out, "%s%c", table->headers[at],
			at + 1 == table->columns ? '\n' : '\t');
	fputs(table->text, out);
	free(table->text);
	free(table);
}

#endif

void table_cell(struct table *table, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		memory_exhausted();
	va_end(args);
	add(table, text);
	free(text);
}
