/* SPDX-License-Identifier: MIT */
/*
 * table.c - collects cells and prints them in columns.
 */
#include "tools/util/table.h"

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tools/util/memory.h"

struct table {
	enum table_kind kind;
	size_t columns;
	char **cells; /* the headers first */
	size_t count, capacity;
};

struct table *table_new(enum table_kind kind, const char *const *headers,
			size_t columns)
{
	struct table *table = memory_zeroed(1, sizeof(*table));

	table->kind = kind;
	table->columns = columns;
	for (size_t at = 0; at < columns; at++)
		table_cell(table, "%s", headers[at]);
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

/* Columns that a UTF-8 text takes, wide characters not considered. */
static int width_of(const char *text)
{
	int width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

/* Bytes of a text that take at most so many columns. */
static int bytes_of(const char *text, int width)
{
	const char *at = text;

	for (; *at; at++)
		if (((unsigned char)*at & 0xc0) != 0x80 && width-- <= 0)
			break;
	return (int)(at - text);
}

/* Columns of the terminal that is printed on, INT_MAX none. */
static int columns_of(FILE *out)
{
	struct winsize size;

	if (!isatty(fileno(out)) || ioctl(fileno(out), TIOCGWINSZ, &size) ||
	    !size.ws_col)
		return INT_MAX;
	return size.ws_col;
}

static void print_line(const struct table *table, char *const *cells,
		       const int *widths, int columns, FILE *out)
{
	for (size_t at = 0; at + 1 < table->columns; at++) {
		const int blanks = widths[at] - width_of(cells[at]);

		if (table->kind == TABLE_NUMBERS)
			fprintf(out, "%*s%s ", blanks, "", cells[at]);
		else
			fprintf(out, "%s%*s ", cells[at], blanks, "");
		columns -= widths[at] + 1;
	}
	fprintf(out, "%.*s\n",
		bytes_of(cells[table->columns - 1], columns > 8 ? columns : 8),
		cells[table->columns - 1]);
}

void table_print(struct table *table, FILE *out)
{
	const int columns = columns_of(out);
	int *widths = memory_zeroed(table->columns, sizeof(*widths));

	for (size_t at = 0; at < table->count; at++) {
		const int width = width_of(table->cells[at]);

		if (width > widths[at % table->columns])
			widths[at % table->columns] = width;
	}
	for (size_t at = 0; at < table->count && table->count > table->columns;
	     at += table->columns)
		print_line(table, table->cells + at, widths, columns, out);
	free(widths);
	for (size_t at = 0; at < table->count; at++)
		free(table->cells[at]);
	free(table->cells);
	free(table);
}
