/* SPDX-License-Identifier: MIT */
/*
 * table.c - tables by libsmartcols; where that isn't there, columns are apart
 * by a tab.
 */
#include "tools/util/table.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tools/util/color.h"
#include "tools/util/memory.h"
#include "tools/util/text_buffer.h"

unsigned int table_columns(FILE *out)
{
	const char *text = getenv("COLUMNS");
	struct winsize size;

	if (text && atoi(text) > 0)
		return (unsigned int)atoi(text);
	if (isatty(fileno(out)) && !ioctl(fileno(out), TIOCGWINSZ, &size))
		return size.ws_col;
	return 0;
}

#ifdef HAVE_SMARTCOLS
#include <libsmartcols/libsmartcols.h>

#define IS_ESCAPING true

struct table {
	enum table_kind kind;
	struct libscols_table *lines;
	struct libscols_line *line; /* that is filled */
	size_t columns;
	size_t count; /* of cells */
};

/* A name is no shorter than this, however narrow the terminal. */
#define NAME_MIN 20u

static int column_flags(enum table_kind kind, bool is_last)
{
	return is_last || kind == TABLE_TEXTS ? 0 : SCOLS_FL_RIGHT;
}

struct table *table_new(enum table_kind kind, const char *const *headers,
			size_t columns)
{
	struct table *table = memory_zeroed(1, sizeof(*table));

	table->kind = kind;
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

/* What the columns before the last one take. */
static size_t others_width(const struct table *table)
{
	size_t sum = 0;

	for (size_t at = 0; at + 1 < table->columns; at++) {
		size_t width =
			strlen(scols_cell_get_data(scols_column_get_header(
				scols_table_get_column(table->lines, at))));

		for (size_t row = 0; row < scols_table_get_nlines(table->lines);
		     row++) {
			const char *text = scols_line_get_column_data(
				scols_table_get_line(table->lines, row),
				scols_table_get_column(table->lines, at));
			const size_t len = text ? strlen(text) : 0;

			width = len > width ? len : width;
		}
		sum += width + 1;
	}
	return sum;
}

/* What tells long names apart stands at their ends, so a wide one loses its
 * middle. */
static void cut_middle(struct libscols_cell *cell, size_t room)
{
	const char *text = scols_cell_get_data(cell);
	const size_t len = text ? strlen(text) : 0;
	size_t head = (room - 3) / 2, tail = len - (room - 3) / 2;
	char *cut;

	if (len <= room)
		return;
	/* Not within a character. */
	while (head && ((unsigned char)text[head] & 0xc0) == 0x80)
		head--;
	while (((unsigned char)text[tail] & 0xc0) == 0x80)
		tail++;
	if (asprintf(&cut, "%.*s...%s", (int)head, text, text + tail) < 0)
		memory_exhausted();
	if (scols_cell_refer_data(cell, cut))
		memory_exhausted();
}

static void fit(struct table *table, FILE *out)
{
	const size_t others = others_width(table);
	const size_t wide = table_columns(out);
	const size_t room = wide > others + NAME_MIN ? wide - others : NAME_MIN;

	if (!wide || table->kind != TABLE_NUMBERS)
		return;
	for (size_t row = 0; row < scols_table_get_nlines(table->lines); row++)
		cut_middle(scols_line_get_cell(
				   scols_table_get_line(table->lines, row),
				   table->columns - 1),
			   room);
}

/* As the rest of a report has them; see table_cell(). */
static void spell_escapes(char *text)
{
	for (char *at = text; at && (at = strstr(at, "\\X")); at++)
		if (strspn(at + 2, "0123456789abcdef") >= 2)
			at[1] = 'x';
}

void table_print(struct table *table, FILE *out)
{
	char *text = NULL;

	scols_table_set_stream(table->lines, out);
	fit(table, out);
	if (color_is_on(out))
		color_heads(table, out);
	if (table->count &&
	    scols_print_table_to_string(table->lines, &text) == 0 && text) {
		const size_t len = strlen(text);

		spell_escapes(text);
		fputs(text, out);
		if (len && text[len - 1] != '\n')
			fputc('\n', out);
	}
	free(text);
	scols_unref_table(table->lines);
	free(table);
}

#else

#define IS_ESCAPING false

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
	struct text_buffer printable = {0};
	va_list args;
	char *text;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		memory_exhausted();
	va_end(args);
	text_buffer_add_printable(&printable, text, strlen(text), SIZE_MAX);
	/* libsmartcols would escape "\\x" once more, and without encoding it
	 * doesn't come back from UTF-8 in the locale C. */
	for (char *at = IS_ESCAPING ? printable.data : NULL;
	     at && (at = strstr(at, "\\x"));)
		at[1] = 'X';
	add(table, printable.data ? printable.data : "");
	text_buffer_free(&printable);
	free(text);
}
