/* SPDX-License-Identifier: MIT */
/*
 * leak_list.h - leaks that nobody wants to hear of, in LeakSanitizer's syntax:
 * lines "leak:PATTERN", where the pattern is part of the name of a function, a
 * file or a module in the stack; "*" stands for anything, "^" and "$" for the
 * name's ends.
 */
#ifndef TOOLS_LEAK_LIST_H
#define TOOLS_LEAK_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct leak_list {
	char **patterns;
	size_t count, capacity;
};

/* Reads a file.  0 or -errno; -EINVAL with the line's number in *line. */
int leak_list_read(struct leak_list *list, const char *path, size_t *line);

/* Does a pattern match this name? */
bool leak_list_has(const struct leak_list *list, const char *name);
void leak_list_free(struct leak_list *list);

#endif
