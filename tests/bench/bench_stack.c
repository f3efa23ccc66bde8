/* SPDX-License-Identifier: MIT */
/*
 * bench_stack.c - allocates under so many frames, or takes the stack there by
 * libunwind alone.
 *
 *	bench_stack pair|bare|none DEPTH TURNS
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int (*backtrace_by)(void **frames, int count);
static void *frames[64];

/* t_instructions counts in here alone: it is to keep its name. */
static __attribute__((noipa)) void turn(const char *mode, int depth)
{
	if (mode[0] == 'p')
		free(malloc(100));
	else if (mode[0] == 'b')
		backtrace_by(frames, depth);
}

static __attribute__((noinline)) int under(int depth, const char *mode,
					   int frames_wanted, long turns)
{
	volatile int here = depth;

	if (depth > 0)
		return under(depth - 1, mode, frames_wanted, turns) + here;
	for (long i = 0; i < turns; i++)
		turn(mode, frames_wanted);
	return here;
}

int main(int argc, char **argv)
{
	void *library = dlopen("libunwind.so.8", RTLD_NOW);
	int depth;

	if (argc < 4 || !library)
		return 1;
	backtrace_by = (int (*)(void **, int))dlsym(library, "unw_backtrace");
	depth = atoi(argv[2]);
	/* More frames than are asked for. */
	return under(depth + 8, argv[1], depth, atol(argv[3])) < 0;
}
