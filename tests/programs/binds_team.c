/* SPDX-License-Identifier: MIT */
/*
 * binds_team.c - a team of two; with an argument the program binds itself to
 * one processor before it has any thread.
 */
#include <sched.h>
#include <stdio.h>

static void bind_to_one(void)
{
	cpu_set_t all, one;
	int at = 0;

	if (sched_getaffinity(0, sizeof(all), &all))
		return;
	while (!CPU_ISSET(at, &all))
		at++;
	CPU_ZERO(&one);
	CPU_SET(at, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

static void work(void)
{
#pragma omp parallel num_threads(2)
	for (volatile int i = 0; i < 100000; i++)
		;
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		bind_to_one();
	for (int step = 0; step < 60; step++)
		work();
	puts("done");
	return 0;
}
