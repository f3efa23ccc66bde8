/* SPDX-License-Identifier: MIT */
/*
 * other_tool.c - another tool of OpenMP's interface, which starts and does
 * nothing.
 */
#include <stdint.h>

struct tool {
	int (*initialise)(void *lookup, int device, void *word);
	void (*finalise)(void *word);
	uint64_t word;
};

struct tool *ompt_start_tool(unsigned int version, const char *runtime);

static int initialise(void *lookup, int device, void *word)
{
	(void)lookup;
	(void)device;
	(void)word;
	return 1;
}

static void finalise(void *word)
{
	(void)word;
}

struct tool *ompt_start_tool(unsigned int version, const char *runtime)
{
	static struct tool tool = {initialise, finalise, 0};

	(void)version;
	(void)runtime;
	return &tool;
}
