/* SPDX-License-Identifier: MIT */
/*
 * constructs.h - tables of named functions for region.c, tasks.c and gomp.c.
 */
#ifndef CONSTRUCTS_H
#define CONSTRUCTS_H

#include <stdio.h>
#include <string.h>

struct construct {
	const char *name;
	long (*run)(void);
};

/* Runs one by name, or all in order; the exit status of the program. */
static inline int construct_run(const struct construct *table, const char *name)
{
	int found = 0;

	for (; table->name; table++) {
		if (strcmp(name, "all") != 0 && strcmp(name, table->name) != 0)
			continue;
		printf("%s %ld\n", table->name, table->run());
		found = 1;
	}
	if (!found)
		fprintf(stderr, "no construct is called '%s'\n", name);
	return found ? 0 : 2;
}

#endif
