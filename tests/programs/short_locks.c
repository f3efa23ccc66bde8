/* SPDX-License-Identifier: MIT */
/*
 * short_locks.c - what one thread of a team has to itself, often and not for
 * long; says how often.
 *
 *	short_locks critical|atomic|ordered|single COUNT [THREADS]
 *
 * Each of THREADS, two without it, does so COUNT times; `ordered` and `single`
 * are had COUNT times in all.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int threads = 2;
static long had;
#if defined(__clang__)
static long sum;
#else
static long double sum; /* libgomp is asked for those alone */
#endif

static __attribute__((noinline)) void critical(long count)
{
#pragma omp parallel num_threads(threads)
	for (long i = 0; i < count; i++) {
#pragma omp critical
		had++;
	}
}

static __attribute__((noinline)) void atomic(long count)
{
#pragma omp parallel num_threads(threads)
	for (long i = 0; i < count; i++) {
#pragma omp atomic
		sum += 1;
	}
	had = (long)sum;
}

static __attribute__((noinline)) void ordered(long count)
{
#pragma omp parallel for ordered num_threads(threads)
	for (long i = 0; i < count; i++) {
#pragma omp ordered
		had++;
	}
}

static __attribute__((noinline)) void single(long count)
{
#pragma omp parallel num_threads(threads)
	for (long i = 0; i < count; i++) {
#pragma omp single nowait
#pragma omp atomic
		had++;
	}
}

static const struct {
	const char *name;
	void (*run)(long count);
} kinds[] = {{"critical", critical},
	     {"atomic", atomic},
	     {"ordered", ordered},
	     {"single", single}};

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	if (argc > 3)
		threads = atoi(argv[3]);
	for (int at = 0; at < 4; at++)
		if (!strcmp(kinds[at].name, argv[1]))
			kinds[at].run(atol(argv[2]));
	printf("%ld\n", had);
	return 0;
}
