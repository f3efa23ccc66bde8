/* SPDX-License-Identifier: MIT */
/*
 * short_tasks.c - many explicit tasks that do next to nothing; says how many
 * have run.
 *
 *	short_tasks PATTERN COUNT [THREADS [TURNS]]
 *
 *	flat	one thread makes them, all run them
 *	tree	each makes two and waits for them, until there are COUNT
 *	busy	as flat, and each computes for a microsecond or two
 *	idle	as flat, each waits in a taskwait without tasks, and computes
 *	group	a taskgroup for each eight
 *	loop	a taskloop
 *	chain	each depends on the one before
 *	ranks	with priorities, untied ones among them
 *	queue	none begins before all are made
 *	nested	as flat, in a region inside the region
 *	long	as flat, and each hundredth computes for 200 us
 *	kill	as flat, and SIGKILL at the end
 *
 * Each of TURNS, one without it, is a region of begin_turn() and one of tasks.
 */
#include <omp.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int threads = 2;
static long turns;
static atomic_long ran;

static __attribute__((noinline)) void begin_turn(void)
{
#pragma omp parallel num_threads(threads)
#pragma omp atomic
	turns++;
}

static void compute(int rounds)
{
	for (volatile int i = 0; i < rounds; i++)
		;
}

static void compute_for(double seconds)
{
	const double end = omp_get_wtime() + seconds;

	while (omp_get_wtime() < end)
		compute(1000);
}

static void one(void)
{
	atomic_fetch_add_explicit(&ran, 1, memory_order_relaxed);
}

static void flat(long count)
{
	for (long i = 0; i < count; i++) {
#pragma omp task
		one();
	}
}

static void tree(long count)
{
	const long half = count / 2;

	for (int i = 0; i < 2; i++) {
		const long mine = i ? count - half : half;

		if (!mine)
			continue;
#pragma omp task firstprivate(mine)
		{
			one();
			tree(mine - 1);
		}
	}
#pragma omp taskwait
}

static void busy(long count)
{
	for (long i = 0; i < count; i++) {
#pragma omp task
		{
			one();
			compute(1000);
		}
	}
}

static void idle(long count)
{
	for (long i = 0; i < count; i++) {
#pragma omp task
		{
			one();
			for (int n = 0; n < 20; n++) {
#pragma omp taskwait
			}
			compute(100);
		}
	}
}

static void group(long count)
{
	for (long i = 0; i < count; i += 8) {
#pragma omp taskgroup
		flat(8);
	}
}

static void loop(long count)
{
#pragma omp taskloop num_tasks(count)
	for (long i = 0; i < count; i++)
		one();
}

static void chain(long count)
{
	char link = 0;

	for (long i = 0; i < count; i++) {
#pragma omp task depend(inout : link) shared(link)
		{
			one();
			link++;
		}
	}
#pragma omp taskwait
}

static void ranks(long count)
{
	for (long i = 0; i < count; i++) {
		if (i & 1) {
#pragma omp task priority(i % 5)
			one();
		} else {
#pragma omp task untied priority(i % 7)
			{
				one();
#pragma omp taskyield
			}
		}
	}
}

static void queue(long count)
{
	atomic_int made = 0;

#pragma omp task depend(out : made) shared(made)
	while (!atomic_load(&made))
		sched_yield();
	for (long i = 0; i < count; i++) {
#pragma omp task depend(in : made)
		one();
	}
	atomic_store(&made, 1);
#pragma omp taskwait
}

static void nested(long count)
{
#pragma omp parallel num_threads(threads)
#pragma omp single
	flat(count);
}

static void some_long(long count)
{
	for (long i = 0; i < count; i++) {
#pragma omp task firstprivate(i)
		{
			one();
			if (i % 100 == 0)
				compute_for(0.0002);
		}
	}
}

static const struct {
	const char *name;
	void (*run)(long count);
} patterns[] = {
	{"flat", flat},	  {"tree", tree},     {"busy", busy},
	{"idle", idle},	  {"group", group},   {"loop", loop},
	{"chain", chain}, {"ranks", ranks},   {"queue", queue},
	{"kill", flat},	  {"nested", nested}, {"long", some_long},
};

static __attribute__((noinline)) void work(void (*run)(long), long count)
{
#pragma omp parallel num_threads(threads)
#pragma omp single
	run(count);
}

int main(int argc, char **argv)
{
	const size_t known = sizeof(patterns) / sizeof(patterns[0]);
	const long count = argc > 2 ? atol(argv[2]) : 0;
	size_t at = 0;

	while (at < known && argc > 2 && strcmp(patterns[at].name, argv[1]))
		at++;
	if (argc < 3 || at == known)
		return 2;
	if (argc > 3)
		threads = atoi(argv[3]);
	omp_set_max_active_levels(2);
	for (int turn = 0; turn < (argc > 4 ? atoi(argv[4]) : 1); turn++) {
		begin_turn();
		work(patterns[at].run, count);
	}
	printf("%ld\n", atomic_load(&ran));
	if (!strcmp(argv[1], "kill")) {
		fflush(stdout);
		raise(SIGKILL);
	}
	return 0;
}
