/* SPDX-License-Identifier: MIT */
/*
 * untied_late.c - untied tasks of clang's whose first part returns after the
 * second one has ended on another thread; says how many have run.
 *
 *	untied_late N		N tasks
 *
 * A part hands the next one to the runtime and returns.  Between the two,
 * __kmpc_omp_task() below waits for the next part to have run.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static atomic_int done, runs;
static atomic_int is_waiting;
static _Thread_local int is_part;

/* In an untied task gcc forbids the variable itself. */
static void set_part(int is)
{
	is_part = is;
}

int __kmpc_omp_task(void *place, int thread, void *task);

int __kmpc_omp_task(void *place, int thread, void *task)
{
	int (*real)(void *, int, void *) = (int (*)(void *, int, void *))dlsym(
		RTLD_NEXT, "__kmpc_omp_task");
	const int before = atomic_load(&done);
	const time_t until = time(NULL) + 10;
	int free = 0;
	int result;

	/* One at a time: the others run what it waits for. */
	if (!is_part || !atomic_compare_exchange_strong(&is_waiting, &free, 1))
		return real(place, thread, task);
	is_part = 0;
	result = real(place, thread, task);
	while (atomic_load(&done) == before && time(NULL) < until)
		usleep(100);
	/* It has run: let it return as well. */
	usleep(2000);
	atomic_store(&is_waiting, 0);
	return result;
}

int main(int argc, char **argv)
{
	const int count = argc > 1 ? atoi(argv[1]) : 0;

#pragma omp parallel num_threads(4)
#pragma omp single
	for (int i = 0; i < count; i++) {
#pragma omp task untied
		{
			atomic_fetch_add(&runs, 1);
			set_part(1);
#pragma omp taskyield
			set_part(0);
			atomic_fetch_add(&done, 1);
		}
	}
	printf("%d\n", atomic_load(&runs));
	return 0;
}
