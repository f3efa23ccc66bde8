/* SPDX-License-Identifier: MIT */
/*
 * compilers.c - OpenMP that is the same to gcc's runtime and to clang's.
 *
 *	compilers NAME|all
 *
 * No construct here is one that a compiler expands in a way of its own: loops
 * that aren't the last of their region, no reductions, no copyprivate.
 */
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

#include "constructs.h"

enum { COUNT = 32 };

#define CONSTRUCT(name) __attribute__((noinline)) static long name(void)

static long cells[COUNT];
static long sum;

static long total(void)
{
	long all = sum;

	sum = 0;
	for (int i = 0; i < COUNT; i++) {
		all += cells[i];
		cells[i] = 0;
	}
	return all;
}

CONSTRUCT(two_loops)
{
#pragma omp parallel for num_threads(2) schedule(static)
	for (int i = 0; i < COUNT; i++)
		cells[i] += i;
#pragma omp parallel for num_threads(2) schedule(dynamic, 4)
	for (int i = 0; i < COUNT; i++)
		cells[i] += i;
	return total();
}

CONSTRUCT(barriers)
{
#pragma omp parallel num_threads(2)
	{
#pragma omp for schedule(static)
		for (int i = 0; i < COUNT; i++)
			cells[i] += 1;
#pragma omp for schedule(dynamic, 4)
		for (int i = 0; i < COUNT; i++)
			cells[i] += 2;
#pragma omp sections
		{
#pragma omp section
			cells[0] += 1;
#pragma omp section
			cells[1] += 2;
		}
#pragma omp barrier
		cells[2 + omp_get_thread_num()] += 1;
	}
	return total();
}

CONSTRUCT(critical)
{
#pragma omp parallel num_threads(2)
	{
		for (int i = 0; i < 5; i++) {
#pragma omp critical
			sum += i;
		}
	}
	return total();
}

CONSTRUCT(single)
{
#pragma omp parallel num_threads(2)
	{
#pragma omp single
		sum += 7;
#pragma omp critical(named)
		sum++;
	}
	return total();
}

CONSTRUCT(serial)
{
#pragma omp parallel num_threads(1)
	sum += 3;
	return total();
}

CONSTRUCT(outer)
{
	omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
	{
		const int base = 2 * omp_get_thread_num();

#pragma omp parallel num_threads(2)
		cells[base + omp_get_thread_num()] += 1;
	}
	return total();
}

__attribute__((noinline)) static void tree(int depth, long *leaves)
{
	long left = 0, right = 0;

	if (!depth) {
		*leaves = 1;
		return;
	}
#pragma omp task shared(left)
	tree(depth - 1, &left);
#pragma omp task shared(right)
	tree(depth - 1, &right);
#pragma omp taskwait
	*leaves = left + right;
}

CONSTRUCT(tasks)
{
	long leaves = 0;

#pragma omp parallel num_threads(2)
	{
#pragma omp single
		{
			tree(4, &leaves);
#pragma omp taskgroup
			for (int i = 0; i < 6; i++) {
#pragma omp task
				cells[i] = i;
			}
		}
	}
	return total() + leaves;
}

/* Which thread runs what is left to them; where the loop ends they differ. */
CONSTRUCT(task_loop)
{
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskloop grainsize(5)
	for (int i = 0; i < COUNT; i++)
		cells[i] += i;
	return total();
}

/* A teams region of one team, and a region in it. */
CONSTRUCT(league)
{
#pragma omp teams num_teams(1) thread_limit(2)
	{
#pragma omp parallel for num_threads(2)
		for (int i = 0; i < COUNT; i++)
			cells[i] += i;
	}
	return total();
}

CONSTRUCT(ordered)
{
#pragma omp parallel num_threads(2)
	{
#pragma omp for ordered schedule(static, 1)
		for (int i = 0; i < 8; i++) {
#pragma omp ordered
			sum = 2 * sum + i;
		}
		cells[omp_get_thread_num()]++;
	}
	return total();
}

/* A runtime that is asked and never used. */
CONSTRUCT(asked)
{
	usleep(1000);
	return omp_get_max_threads() > 0;
}

static const struct construct constructs[] = {
	{"two_loops", two_loops}, {"barriers", barriers},
	{"critical", critical},	  {"single", single},
	{"serial", serial},	  {"outer", outer},
	{"tasks", tasks},	  {"ordered", ordered},
	{"task_loop", task_loop}, {"league", league},
	{"asked", asked},	  {NULL, NULL},
};

int main(int argc, char **argv)
{
	return construct_run(constructs, argc > 1 ? argv[1] : "all");
}
