/* SPDX-License-Identifier: MIT */
/*
 * region.c - one OpenMP construct per name, each a call into libgomp.
 *
 *	region NAME [threads]
 *
 * Prints the construct's result, which does not depend on timing.  Each lives
 * in a function of its own that is never inlined: a region is named after it.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "constructs.h"

enum { COUNT = 64 };

static int threads = 2;

#define CONSTRUCT(name) __attribute__((noinline)) static long name(void)

/* Not a reduction: with one, the compiler splits loop and region. */
static long cells[COUNT];

static long total(void)
{
	long sum = 0;

	for (int i = 0; i < COUNT; i++) {
		sum += cells[i];
		cells[i] = 0;
	}
	return sum;
}

CONSTRUCT(plain_parallel)
{
	long sum = 0;

#pragma omp parallel num_threads(threads) reduction(+ : sum)
	sum += 1 + omp_get_thread_num();
	return sum;
}

CONSTRUCT(two_regions)
{
	long sum = 0;

#pragma omp parallel num_threads(threads) reduction(+ : sum)
	sum += 1;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
	sum += 10;
	return sum;
}

CONSTRUCT(loop_static)
{
#pragma omp parallel for num_threads(threads) schedule(static)
	for (int i = 0; i < COUNT; i++)
		cells[i] = i;
	return total();
}

CONSTRUCT(loop_dynamic)
{
#pragma omp parallel for num_threads(threads) schedule(dynamic, 4)
	for (int i = 0; i < COUNT; i++)
		cells[i] = i;
	return total();
}

CONSTRUCT(loop_monotonic_dynamic)
{
#pragma omp parallel for num_threads(threads) schedule(monotonic : dynamic, 4)
	for (int i = 0; i < COUNT; i++)
		cells[i] = i;
	return total();
}

CONSTRUCT(loop_guided)
{
#pragma omp parallel for num_threads(threads) schedule(guided)
	for (int i = 0; i < COUNT; i++)
		cells[i] = i;
	return total();
}

CONSTRUCT(loop_monotonic_guided)
{
#pragma omp parallel for num_threads(threads) schedule(monotonic : guided)
	for (int i = 0; i < COUNT; i++)
		cells[i] = i;
	return total();
}

CONSTRUCT(loop_runtime)
{
#pragma omp parallel for num_threads(threads) schedule(runtime)
	for (int i = 0; i < COUNT; i++)
		cells[i] = i;
	return total();
}

CONSTRUCT(loop_nonmonotonic_runtime)
{
#pragma omp parallel for num_threads(threads) schedule(nonmonotonic : runtime)
	for (int i = 0; i < COUNT; i++)
		cells[i] = i;
	return total();
}

CONSTRUCT(loop_monotonic_runtime)
{
#pragma omp parallel for num_threads(threads) schedule(monotonic : runtime)
	for (int i = 0; i < COUNT; i++)
		cells[i] = i;
	return total();
}

CONSTRUCT(loop_end)
{
	long sum = 0;

#pragma omp parallel num_threads(threads) reduction(+ : sum)
	{
#pragma omp for schedule(dynamic, 1)
		for (int i = 0; i < COUNT; i++)
			sum += i;
		sum += 1;
	}
	return sum;
}

CONSTRUCT(sections)
{
	long a = 0, b = 0, c = 0;

#pragma omp parallel sections num_threads(threads)
	{
#pragma omp section
		a = 1;
#pragma omp section
		b = 2;
#pragma omp section
		c = 3;
	}
	return a + b + c;
}

CONSTRUCT(sections_end)
{
	long a = 0, b = 0;

#pragma omp parallel num_threads(threads)
	{
#pragma omp sections
		{
#pragma omp section
			a = 1;
#pragma omp section
			b = 2;
		}
#pragma omp atomic
		a += b;
	}
	return a;
}

CONSTRUCT(barrier)
{
	long before = 0, after = 0;

#pragma omp parallel num_threads(threads)
	{
#pragma omp atomic
		before++;
#pragma omp barrier
#pragma omp atomic
		after += before;
	}
	return after;
}

CONSTRUCT(single)
{
	long sum = 0;

#pragma omp parallel num_threads(threads)
	{
#pragma omp single
		sum += 5;
	}
	return sum;
}

CONSTRUCT(single_copyprivate)
{
	long sum = 0;

#pragma omp parallel num_threads(threads) reduction(+ : sum)
	{
		long given = 0;

#pragma omp single copyprivate(given)
		given = 7;
		sum += given;
	}
	return sum;
}

CONSTRUCT(critical)
{
	long sum = 0;

#pragma omp parallel num_threads(threads)
	for (int i = 0; i < 10; i++) {
#pragma omp critical
		sum++;
	}
	return sum;
}

CONSTRUCT(critical_named)
{
	long sum = 0;

#pragma omp parallel num_threads(threads)
	for (int i = 0; i < 10; i++) {
#pragma omp critical(ledger)
		sum++;
	}
	return sum;
}

CONSTRUCT(atomic)
{
	long double sum = 0;

#pragma omp parallel num_threads(threads)
	{
#pragma omp atomic
		sum += 1.5L;
	}
	return (long)(2 * sum);
}

CONSTRUCT(ordered)
{
	long sum = 0;

#pragma omp parallel for num_threads(threads) schedule(static, 1) ordered
	for (int i = 0; i < 8; i++) {
#pragma omp ordered
		sum = 3 * sum + i;
	}
	return sum;
}

/* A turn waits for the one before it, whatever thread has that. */
CONSTRUCT(doacross)
{
#pragma omp parallel for num_threads(threads) schedule(static, 1) ordered(1)
	for (int i = 1; i < COUNT; i++) {
#pragma omp ordered depend(sink : i - 1)
		cells[i] = cells[i - 1] + i;
#pragma omp ordered depend(source)
	}
	return total();
}

CONSTRUCT(doacross_dynamic)
{
#pragma omp parallel for num_threads(threads) schedule(dynamic, 2) ordered(1)
	for (int i = 1; i < COUNT; i++) {
#pragma omp ordered depend(sink : i - 1)
		cells[i] = cells[i - 1] + i;
#pragma omp ordered depend(source)
	}
	return total();
}

CONSTRUCT(reductions)
{
	long sum = 0;

#pragma omp parallel num_threads(threads) reduction(task, + : sum)
	{
#pragma omp single
		for (int i = 0; i < 10; i++) {
#pragma omp task in_reduction(+ : sum)
			sum += i;
		}
	}
	return sum;
}

CONSTRUCT(nested)
{
	long sum = 0;

	omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2) reduction(+ : sum)
	{
		long inner = 0;

#pragma omp parallel num_threads(2) reduction(+ : inner)
		inner += 1;
		sum += inner;
	}
	return sum;
}

static long recurse(int depth)
{
	long sum = 0;

	if (depth == 0)
		return 1;
#pragma omp parallel num_threads(2) reduction(+ : sum)
	sum += recurse(depth - 1);
	return sum;
}

CONSTRUCT(recursive)
{
	omp_set_max_active_levels(3);
	return recurse(3);
}

CONSTRUCT(serial)
{
	long sum = 0;

#pragma omp parallel num_threads(threads) if (threads > 1000) reduction(+ : sum)
	sum += 1 + omp_get_num_threads();
	return sum;
}

CONSTRUCT(cancellation)
{
	long found = 0;

#pragma omp parallel num_threads(threads)
	{
#pragma omp for schedule(dynamic, 1)
		for (int i = 0; i < COUNT; i++) {
			if (i == 0) {
#pragma omp atomic write
				found = 1;
#pragma omp cancel for
			}
#pragma omp cancellation point for
		}
#pragma omp barrier
	}
	return found;
}

CONSTRUCT(cancel_parallel)
{
	long found = 0;

#pragma omp parallel num_threads(threads)
	{
#pragma omp atomic write
		found = 1;
#pragma omp cancel parallel
#pragma omp barrier
	}
	return found;
}

/* A cancel that never comes changes every barrier of the region. */
CONSTRUCT(cancellable)
{
	long sum = 0;

#pragma omp parallel num_threads(threads)
	{
#pragma omp for schedule(dynamic, 1)
		for (int i = 0; i < COUNT; i++) {
#pragma omp atomic
			sum += i;
		}
#pragma omp sections
		{
#pragma omp section
#pragma omp atomic
			sum += 1;
#pragma omp section
#pragma omp atomic
			sum += 2;
		}
#pragma omp barrier
#pragma omp cancel parallel if (threads > 1000)
	}
	return sum;
}

CONSTRUCT(teams)
{
	long sum = 0;

#pragma omp teams num_teams(2) thread_limit(2) reduction(+ : sum)
	sum += 1;
	return sum > 0;
}

/* One thread runs them in turn; each of them runs regions of its own. */
CONSTRUCT(teams_of_teams)
{
	long sum = 0;

#pragma omp teams num_teams(3) thread_limit(2) reduction(+ : sum)
	{
#pragma omp parallel reduction(+ : sum)
		sum += 1;
#pragma omp parallel reduction(+ : sum)
		sum += 1;
	}
	return sum > 0;
}

CONSTRUCT(large_team)
{
	long sum = 0;

	omp_set_dynamic(0);
#pragma omp parallel num_threads(threads) reduction(+ : sum)
	sum += 1;
	return sum == threads;
}

static const struct construct constructs[] = {
	{"plain_parallel", plain_parallel},
	{"two_regions", two_regions},
	{"loop_static", loop_static},
	{"loop_dynamic", loop_dynamic},
	{"loop_monotonic_dynamic", loop_monotonic_dynamic},
	{"loop_guided", loop_guided},
	{"loop_monotonic_guided", loop_monotonic_guided},
	{"loop_runtime", loop_runtime},
	{"loop_nonmonotonic_runtime", loop_nonmonotonic_runtime},
	{"loop_monotonic_runtime", loop_monotonic_runtime},
	{"loop_end", loop_end},
	{"sections", sections},
	{"sections_end", sections_end},
	{"barrier", barrier},
	{"single", single},
	{"single_copyprivate", single_copyprivate},
	{"critical", critical},
	{"critical_named", critical_named},
	{"atomic", atomic},
	{"ordered", ordered},
	{"doacross", doacross},
	{"doacross_dynamic", doacross_dynamic},
	{"reductions", reductions},
	{"nested", nested},
	{"recursive", recursive},
	{"serial", serial},
	{"cancellation", cancellation},
	{"cancel_parallel", cancel_parallel},
	{"cancellable", cancellable},
	{"teams", teams},
	{"teams_of_teams", teams_of_teams},
	{"large_team", large_team},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	if (argc > 2)
		threads = atoi(argv[2]);
	return construct_run(constructs, argc > 1 ? argv[1] : "");
}
