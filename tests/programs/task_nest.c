/* SPDX-License-Identifier: MIT */
/*
 * task_nest.c - explicit tasks that counts of open slices get wrong; says how
 * many have run.
 *
 *	task_nest deep N	N tasks, each inside the one before, each with a
 *				group around it and a wait after it
 *	task_nest tree N	each task makes two and waits for them
 *	task_nest untied N	N tasks that give way once, and may go on
 *				elsewhere
 *	task_nest queue N	N tasks that can begin when all are made
 */
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atomic_long runs;

static void deep(int left)
{
	if (!left)
		return;
#pragma omp taskgroup
	{
#pragma omp task if (0) firstprivate(left)
		{
			atomic_fetch_add(&runs, 1);
			deep(left - 1);
		}
	}
#pragma omp taskwait
}

static void tree(int left)
{
	if (left < 2)
		return;
	for (int i = 1; i <= 2; i++) {
#pragma omp task firstprivate(left, i)
		{
			atomic_fetch_add(&runs, 1);
			tree(left - i);
		}
	}
#pragma omp taskwait
}

static void untied(int count)
{
	for (int i = 0; i < count; i++) {
#pragma omp task untied
		{
			atomic_fetch_add(&runs, 1);
#pragma omp taskyield
		}
	}
}

static void queue(int count)
{
	atomic_int *made = calloc(1, sizeof(*made));

#pragma omp task depend(out : made) firstprivate(made)
	while (!atomic_load(made))
		sched_yield();
	for (int i = 0; i < count; i++) {
#pragma omp task depend(in : made)
		atomic_fetch_add(&runs, 1);
	}
	atomic_store(made, 1);
#pragma omp taskwait
	free(made);
}

int main(int argc, char **argv)
{
	const int count = argc > 2 ? atoi(argv[2]) : 0;

	if (argc != 3)
		return 2;
#pragma omp parallel num_threads(4)
#pragma omp single
	if (!strcmp(argv[1], "deep"))
		deep(count);
	else if (!strcmp(argv[1], "tree"))
		tree(count);
	else if (!strcmp(argv[1], "queue"))
		queue(count);
	else
		untied(count);
	printf("%ld\n", atomic_load(&runs));
	return 0;
}
