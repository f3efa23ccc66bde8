/* SPDX-License-Identifier: MIT */
/*
 * programs.h - small programs of parallel loops in one file, of which one is
 * run by its name, says how many steps it made, and may wait a little by chance
 * before each loop:
 *
 *	FILE [NAME [SIZE [MICROSECONDS]]]
 *
 * N is how long the loops are.
 */
#ifndef STEPS_PROGRAMS_H
#define STEPS_PROGRAMS_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int size;
static unsigned int delay, luck;

static void wait_a_little(void)
{
	if (!delay)
		return;
	luck = luck * 1103515245u + 12345u;
	usleep((luck >> 16) % delay);
}

/* One parallel loop over all, in a function of its own. */
#define LOOP(name, what)                                                       \
	__attribute__((noinline)) static void name(void)                       \
	{                                                                      \
		wait_a_little();                                               \
		_Pragma("omp parallel for") for (int i = 1; i < N - 1; i++)    \
			what;                                                  \
	}
#define SUM(name, what)                                                        \
	__attribute__((noinline)) static double name(void)                     \
	{                                                                      \
		double sum = 0;                                                \
		wait_a_little();                                               \
		_Pragma("omp parallel for reduction(+ : sum)") for (int i = 1; \
								    i < N - 1; \
								    i++)       \
			sum += what;                                           \
		return sum;                                                    \
	}

struct program {
	const char *name;
	int (*run)(void);
	int size;
};

static int run_named(int argc, char **argv, const struct program *programs,
		     size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (argc < 2 || strcmp(argv[1], programs[i].name))
			continue;
		size = argc > 2 ? atoi(argv[2]) : programs[i].size;
		delay = argc > 3 ? (unsigned int)atoi(argv[3]) : 0;
		luck = (unsigned int)getpid();
		printf("steps %d\n", programs[i].run());
		return 0;
	}
	for (size_t i = 0; i < count; i++)
		printf("%s\n", programs[i].name);
	return argc > 1;
}

#endif
