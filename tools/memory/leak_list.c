/* SPDX-License-Identifier: MIT */
/* leak_list.c - reads suppressions; see leak_list.h. */
#include "tools/memory/leak_list.h"

#include "tools/util/memory.h"
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As fnmatch() has it, whose other signs are none here. */
static char *to_glob(const char *text, size_t len)
{
	char *glob = memory_zeroed(2 * len + 3, 1);
	const bool begins = len && text[0] == '^';
	const bool ends = len > begins && text[len - 1] == '$';
	size_t used = 0;

	if (!begins)
		glob[used++] = '*';
	for (size_t i = begins; i < len - ends; i++) {
		if (strchr("?[]\\", text[i]))
			glob[used++] = '\\';
		glob[used++] = text[i];
	}
	if (!ends)
		glob[used++] = '*';
	return glob;
}

static int take_line(struct leak_list *list, char *text)
{
	size_t len;

	text += strspn(text, " \t");
	len = strcspn(text, "\r\n");
	while (len && strchr(" \t", text[len - 1]))
		len--;
	if (!len || *text == '#')
		return 0;
	if (len <= 5 || strncmp(text, "leak:", 5) != 0)
		return -EINVAL;
	list->patterns =
		memory_grow(list->patterns, list->count, &list->capacity,
			    sizeof(list->patterns[0]));
	list->patterns[list->count++] = to_glob(text + 5, len - 5);
	return 0;
}

int leak_list_read(struct leak_list *list, const char *path, size_t *line)
{
	FILE *file = fopen(path, "re");
	size_t bytes = 0;
	char *text = NULL;
	int rc = 0;

	if (!file)
		return -errno;
	for (*line = 1; getline(&text, &bytes, file) > 0; ++*line)
		if ((rc = take_line(list, text)))
			break;
	free(text);
	fclose(file);
	return rc;
}

bool leak_list_has(const struct leak_list *list, const char *name)
{
	for (size_t i = 0; name && i < list->count; i++)
		if (!fnmatch(list->patterns[i], name, 0))
			return true;
	return false;
}

void leak_list_free(struct leak_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->patterns[i]);
	free(list->patterns);
}
