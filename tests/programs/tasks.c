/* SPDX-License-Identifier: MIT */
/*
 * tasks.c - OpenMP tasks in all the forms that libgomp distinguishes.
 *
 *	tasks NAME [threads]
 *
 * libgomp copies a task's arguments, by itself or through a function of the
 * compiler's; each form here checks that what arrives is what was sent.
 */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "constructs.h"

static int threads = 2;

#define CONSTRUCT(name) __attribute__((noinline)) static long name(void)

CONSTRUCT(task)
{
	long sum = 0;

#pragma omp parallel num_threads(threads)
#pragma omp single
	for (int i = 0; i < 10; i++) {
#pragma omp task firstprivate(i)
#pragma omp atomic
		sum += i;
	}
	return sum;
}

CONSTRUCT(taskwait)
{
	long sum = 0;

#pragma omp parallel num_threads(threads)
#pragma omp single
	{
		long a = 0, b = 0;

#pragma omp task shared(a)
		a = 1;
#pragma omp task shared(b)
		b = 2;
#pragma omp taskwait
		sum = a + b;
	}
	return sum;
}

CONSTRUCT(taskgroup)
{
	long sum = 0;

#pragma omp parallel num_threads(threads)
#pragma omp single
	{
#pragma omp taskgroup
		for (int i = 0; i < 5; i++) {
#pragma omp task
#pragma omp atomic
			sum += 2;
		}
		sum *= 10;
	}
	return sum;
}

CONSTRUCT(taskloop)
{
	long sum = 0;

#pragma omp parallel num_threads(threads)
#pragma omp single
#pragma omp taskloop grainsize(5)
	for (int i = 0; i < 50; i++) {
#pragma omp atomic
		sum += i;
	}
	return sum;
}

CONSTRUCT(taskloop_ull)
{
	unsigned long long sum = 0;

#pragma omp parallel num_threads(threads)
#pragma omp single
#pragma omp taskloop num_tasks(4)
	for (unsigned long long i = 1ull << 63; i < (1ull << 63) + 20; i++) {
#pragma omp atomic
		sum += i - (1ull << 63);
	}
	return (long)sum;
}

CONSTRUCT(taskloop_reduction)
{
	long sum = 0;

#pragma omp parallel num_threads(threads)
#pragma omp single
#pragma omp taskloop grainsize(3) reduction(+ : sum)
	for (int i = 0; i < 50; i++)
		sum += i;
	return sum;
}

CONSTRUCT(task_reduction)
{
	long sum = 0;

#pragma omp parallel num_threads(threads)
#pragma omp single
#pragma omp taskgroup task_reduction(+ : sum)
	for (int i = 0; i < 10; i++) {
#pragma omp task in_reduction(+ : sum)
		sum += i;
	}
	return sum;
}

/* Wide alignment: the copy must keep it. */
CONSTRUCT(task_aligned)
{
	struct wide {
		_Alignas(128) char bytes[256];
	} wide;
	long sum = 0;

	memset(&wide, 1, sizeof(wide));
#pragma omp parallel num_threads(threads)
#pragma omp single
	for (int i = 0; i < 4; i++) {
#pragma omp task firstprivate(wide)
		{
			long bytes = ((uintptr_t)&wide % 128) ? 1000 : 0;

			for (int j = 0; j < 256; j++)
				bytes += wide.bytes[j];
#pragma omp atomic
			sum += bytes;
		}
	}
	return sum;
}

/* A private array of variable length needs the compiler's copy function. */
CONSTRUCT(task_copied)
{
	const int length = 20 + threads;
	long cells[length];
	long sum = 0;

	for (int i = 0; i < length; i++)
		cells[i] = i < 20;
#pragma omp parallel num_threads(threads)
#pragma omp single
	for (int i = 0; i < 4; i++) {
#pragma omp task firstprivate(cells)
		{
			long local = 0;

			for (int j = 0; j < length; j++)
				local += cells[j];
#pragma omp atomic
			sum += local;
		}
	}
	return sum;
}

/* Undeferred, final and mergeable tasks run at once, on the same thread. */
CONSTRUCT(task_undeferred)
{
	long sum = 0;

#pragma omp parallel num_threads(threads)
#pragma omp single
	for (int i = 0; i < 4; i++) {
#pragma omp task if (0) shared(sum)
		sum += 1;
#pragma omp task final(1) shared(sum)
		{
#pragma omp task shared(sum)
			sum += 10;
		}
#pragma omp taskwait
	}
	return sum;
}

CONSTRUCT(task_depend)
{
	long value = 1;

#pragma omp parallel num_threads(threads)
#pragma omp single
	{
#pragma omp task depend(out : value)
		value += 1;
#pragma omp task depend(inout : value)
		value *= 10;
#pragma omp taskwait depend(in : value)
		value += 5;
	}
	return value;
}

CONSTRUCT(task_priority)
{
	long sum = 0;

#pragma omp parallel num_threads(threads)
#pragma omp single
	for (int i = 0; i < 6; i++) {
#pragma omp task priority(i) untied
#pragma omp atomic
		sum += i;
	}
	return sum;
}

CONSTRUCT(task_detach)
{
	long sum = 0;

#pragma omp parallel num_threads(threads)
#pragma omp single
	{
		omp_event_handle_t event;

#pragma omp task detach(event) shared(sum)
		{
#pragma omp atomic
			sum += 4;
			omp_fulfill_event(event);
		}
#pragma omp taskwait
	}
	return sum;
}

static long fibonacci(int n)
{
	long a, b;

	if (n < 2)
		return n;
#pragma omp task shared(a)
	a = fibonacci(n - 1);
#pragma omp task shared(b)
	b = fibonacci(n - 2);
#pragma omp taskwait
	return a + b;
}

CONSTRUCT(task_tree)
{
	long result = 0;

#pragma omp parallel num_threads(threads)
#pragma omp single
	result = fibonacci(12);
	return result;
}

/* Outside of any parallel region a task runs in its creator. */
CONSTRUCT(task_alone)
{
	long sum = 0;

#pragma omp task shared(sum)
	sum = 9;
#pragma omp taskwait
	return sum;
}

static const struct construct constructs[] = {
	{"task", task},
	{"taskwait", taskwait},
	{"taskgroup", taskgroup},
	{"taskloop", taskloop},
	{"taskloop_ull", taskloop_ull},
	{"taskloop_reduction", taskloop_reduction},
	{"task_reduction", task_reduction},
	{"task_aligned", task_aligned},
	{"task_copied", task_copied},
	{"task_undeferred", task_undeferred},
	{"task_depend", task_depend},
	{"task_priority", task_priority},
	{"task_detach", task_detach},
	{"task_tree", task_tree},
	{"task_alone", task_alone},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	if (argc > 2)
		threads = atoi(argv[2]);
	return construct_run(constructs, argc > 1 ? argv[1] : "");
}
