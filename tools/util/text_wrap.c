/* SPDX-License-Identifier: MIT */
/* text_wrap.c - where lines are broken. */
#include "tools/util/text_wrap.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tools/util/memory.h"
#include "tools/util/table.h"

static bool is_unit(const char *word, size_t len)
{
	static const char *const units[] = {"ns",   "us",   "ms",  "s",	  "%",
					    "B",    "KiB",  "MiB", "GiB", "TiB",
					    "KB/s", "MB/s", "GB/s"};

	while (len && strchr(".,;:)]", word[len - 1]))
		len--;
	for (size_t at = 0; at < sizeof(units) / sizeof(units[0]); at++)
		if (strlen(units[at]) == len && !strncmp(word, units[at], len))
			return true;
	return false;
}

/* To the blank where a line may end: not between "12.5" and "ms". */
static size_t word_len(const char *text)
{
	const size_t len = strcspn(text, " ");
	const char *next = text + len + 1;

	if (!len || text[len] != ' ' ||
	    !isdigit((unsigned char)text[len - 1]) ||
	    !is_unit(next, strcspn(next, " ")))
		return len;
	return len + 1 + strcspn(next, " ");
}

/* As many as a terminal shows, of text without wide characters. */
static size_t width_of(const char *text, size_t len)
{
	size_t width = 0;

	for (size_t at = 0; at < len; at++) {
		if (text[at] == '\033') /* a color, which ends with an m */
			at += strcspn(text + at, "m");
		else
			width += ((unsigned char)text[at] & 0xc0) != 0x80;
	}
	return width;
}

unsigned int text_wrap_add(struct text_buffer *lines, const char *text,
			   unsigned int indent, unsigned int columns)
{
	const size_t blanks = strspn(text, " ");
	size_t column = blanks;
	unsigned int count = 1;
	bool is_begun = false;

	text_buffer_add(lines, text, blanks);
	for (text += blanks; *text; is_begun = true) {
		const size_t word = word_len(text);
		const size_t width = width_of(text, word);

		if (is_begun && column + 1 + width > columns) {
			text_buffer_format(lines, "\n%*s", (int)indent, "");
			column = indent;
			count++;
		} else if (is_begun) {
			text_buffer_add(lines, " ", 1);
			column++;
		}
		text_buffer_add(lines, text, word);
		column += width;
		text += word;
		text += *text == ' ';
	}
	text_buffer_add(lines, "\n", 1);
	return count;
}

void text_wrap_print(FILE *out, unsigned int indent, const char *format, ...)
{
	const unsigned int columns = table_columns(out);
	struct text_buffer lines = {0};
	char *text, *line, *end;
	va_list args;

	va_start(args, format);
	if (!columns) {
		vfprintf(out, format, args);
	} else if (vasprintf(&text, format, args) < 0) {
		memory_exhausted();
	} else {
		for (line = text; *line; line = end) {
			end = line + strcspn(line, "\n");
			if (*end)
				*end++ = '\0';
			text_wrap_add(&lines, line, indent, columns);
		}
		fwrite(lines.data, 1, lines.len, out);
		text_buffer_free(&lines);
		free(text);
	}
	va_end(args);
}
