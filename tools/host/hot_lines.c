/* SPDX-License-Identifier: MIT */
/* hot_lines.c - asks for the lines of addresses; see hot_lines.h. */
#include "tools/host/hot_lines.h"

#include <stdlib.h>
#include <string.h>

#include "tools/symbols/source_lines.h"
#include "tools/util/memory.h"
#include "tools/util/short_name.h"
#include "tools/util/text_buffer.h"

/* The functions of an address as names of the tree, outermost first. */
struct line {
	uint32_t count;
	uint32_t name[SOURCE_FRAMES_MAX];
};

struct hot_lines {
	struct source_finder *finder;
	struct text_buffer path, key, name;
	struct key_table known; /* struct line, by function and address */
};

struct hot_lines *hot_lines_new(void)
{
	struct hot_lines *lines = memory_zeroed(1, sizeof(*lines));

	lines->finder = source_finder_new(NULL);
	lines->known.row_bytes = sizeof(struct line);
	return lines;
}

void hot_lines_free(struct hot_lines *lines)
{
	if (!lines)
		return;
	source_finder_free(lines->finder);
	text_buffer_free(&lines->path);
	text_buffer_free(&lines->key);
	text_buffer_free(&lines->name);
	key_table_free(&lines->known);
	free(lines);
}

void hot_lines_entry(struct hot_lines *lines, const struct trace_entry *entry)
{
	const char *last = strrchr(entry->path, '.');

	if (strncmp(entry->path, "traceprof.modules.", 18) != 0 || !last)
		return;
	if (!strcmp(last, ".path")) {
		text_buffer_cut(&lines->path, 0);
		text_buffer_add(&lines->path, entry->value.text,
				entry->value.len);
	} else if (!strcmp(last, ".build_id") && lines->path.len) {
		source_finder_module(lines->finder, lines->path.data,
				     entry->value.text);
	}
}

static void add_frame(struct hot_lines *lines, struct key_table *names,
		      struct line *line, const struct source_frame *frame,
		      uint32_t function)
{
	struct text_buffer *name = &lines->name;
	const char *slash = strrchr(frame->file, '/');
	const char *whole = frame->function
				    ? frame->function
				    : key_table_key(names, function, NULL);

	text_buffer_cut(name, 0);
	text_buffer_format(name, "%s (%s:%d)",
			   folded_name(whole, FOLDED_NAME_WHOLE).text,
			   slash ? slash + 1 : frame->file, frame->line);
	line->name[line->count++] =
		key_table_number(names, name->data, name->len);
}

static const struct line *line_of(struct hot_lines *lines,
				  struct key_table *names, uint32_t function,
				  const char *module, uint64_t address)
{
	struct source_frame found[SOURCE_FRAMES_MAX];
	const size_t before = lines->known.count;
	struct line *line;
	uint32_t number;
	size_t count;

	text_buffer_cut(&lines->key, 0);
	text_buffer_format(&lines->key, "%u %s %llx", function, module,
			   (unsigned long long)address);
	number = key_table_number(&lines->known, lines->key.data,
				  lines->key.len);
	line = key_table_row(&lines->known, number);
	if (lines->known.count == before)
		return line;
	count = source_find(lines->finder, module, address, found);
	for (size_t i = count; i-- > 0;) {
		if (found[i].file)
			add_frame(lines, names, line, &found[i], function);
	}
	return line;
}

void hot_lines_each(struct hot_lines *lines, struct key_table *names,
		    uint32_t function, const char *places, hot_line *line,
		    void *arg)
{
	const char *at = strstr(places, " 0x");
	char *module;

	if (!at)
		return;
	module = strndup(places, (size_t)(at - places));
	while (at && !strncmp(at, " 0x", 3)) {
		char *end;
		const uint64_t address = strtoull(at + 3, &end, 16);
		const int64_t samples =
			*end == ':' ? strtoll(end + 1, &end, 10) : 0;
		const struct line *found =
			line_of(lines, names, function, module, address);

		at = end;
		if (found->count && samples > 0)
			line(arg, found->name, found->count, samples);
	}
	free(module);
}
