/* SPDX-License-Identifier: MIT */
/*
 * peak_measure.c - the loops that a machine's peak is measured by.
 *
 * One multiplies and adds in registers, by the widest vectors that the
 * processor has; the other is STREAM's triad, over memory that no cache holds.
 * Each thread has a processor of its own, all begin together, and the best of
 * some rounds counts.
 */
#include "tools/peak/peak.h"

#include "collector/system/base.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS	    5
#define TURNS	    (INT64_C(1) << 21)
#define CHAINS	    12 /* apart, so that none waits for the one before */
#define CORES_MAX   1024
#define BYTES_LEAST (UINT64_C(64) << 20)
#define BYTES_MOST  (UINT64_C(1) << 30)

/* clang-format off */
#define FMA_LOOP(name, target, type, bytes)				\
	typedef type name##_vector __attribute__((vector_size(bytes)));	\
	static target double name(int64_t turns)			\
	{								\
		name##_vector sum[CHAINS], x, y, all = {0};		\
									\
		for (size_t i = 0; i < bytes / sizeof(type); i++) {	\
			x[i] = (type)0.999999;				\
			y[i] = (type)0.000001;				\
		}							\
		for (int i = 0; i < CHAINS; i++)			\
			sum[i] = y * (type)i;				\
		for (int64_t turn = 0; turn < turns; turn++)		\
			_Pragma("GCC unroll 12")			\
			for (int i = 0; i < CHAINS; i++)		\
				sum[i] = sum[i] * x + y;		\
		for (int i = 0; i < CHAINS; i++)			\
			all += sum[i];					\
		return (double)all[0];					\
	}

#if defined(__x86_64__)
#define WIDE   __attribute__((target("avx512f,prefer-vector-width=512")))
#define MIDDLE __attribute__((target("avx2,fma")))
FMA_LOOP(float_wide, WIDE, float, 64)
FMA_LOOP(double_wide, WIDE, double, 64)
FMA_LOOP(float_middle, MIDDLE, float, 32)
FMA_LOOP(double_middle, MIDDLE, double, 32)
#endif
FMA_LOOP(float_any, , float, 16)
FMA_LOOP(double_any, , double, 16)
/* clang-format on */

struct loop {
	double (*run)(int64_t turns);
	size_t lanes;
};

static struct loop float_loop(void)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx512f"))
		return (struct loop){float_wide, 16};
	if (__builtin_cpu_supports("fma"))
		return (struct loop){float_middle, 8};
#endif
	return (struct loop){float_any, 4};
}

static struct loop double_loop(void)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx512f"))
		return (struct loop){double_wide, 8};
	if (__builtin_cpu_supports("fma"))
		return (struct loop){double_middle, 4};
#endif
	return (struct loop){double_any, 2};
}

struct work {
	struct loop loop;  /* run NULL: the triad */
	size_t count;	   /* numbers of each array */
	_Atomic int ready; /* threads */
	_Atomic int go;	   /* 1, or -1: there is nothing to do */
};

struct worker {
	struct work *work;
	pthread_t thread;
	int cpu;
	double start, end, sum;
	double *a, *b, *c;
};

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void triad(struct worker *worker)
{
	const size_t count = worker->work->count;
	double *restrict a = worker->a;
	const double *restrict b = worker->b, *restrict c = worker->c;

	for (size_t i = 0; i < count; i++)
		a[i] = b[i] + 3.0 * c[i];
	worker->sum += a[count / 2];
}

static void *run(void *arg)
{
	struct worker *worker = arg;
	struct work *work = worker->work;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(worker->cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	/* Whoever first writes a page has it near. */
	for (size_t i = 0; worker->a && i < work->count; i++) {
		worker->a[i] = 0;
		worker->b[i] = 1;
		worker->c[i] = 2;
	}
	add_relaxed(&work->ready, 1);
	while (!load_relaxed(&work->go))
		sched_yield();
	if (load_relaxed(&work->go) < 0)
		return NULL;
	worker->start = now();
	if (work->loop.run)
		worker->sum += work->loop.run(TURNS);
	else
		triad(worker);
	worker->end = now();
	return NULL;
}

static int find_cpus(int *cpus)
{
	cpu_set_t set;
	int count = 0;

	if (sched_getaffinity(0, sizeof(set), &set))
		return 0;
	for (int cpu = 0; cpu < CPU_SETSIZE && count < CORES_MAX; cpu++)
		if (CPU_ISSET(cpu, &set))
			cpus[count++] = cpu;
	return count;
}

/* From the first's start to the last one's end; 0 a thread is not to be had. */
static double run_once(struct work *work, struct worker *workers, int count)
{
	double start = 0, end = 0;
	int made = 0;

	store_relaxed(&work->ready, 0);
	store_relaxed(&work->go, 0);
	while (made < count && !pthread_create(&workers[made].thread, NULL, run,
					       &workers[made]))
		made++;
	while (made == count && load_relaxed(&work->ready) < count)
		sched_yield();
	store_relaxed(&work->go, made < count ? -1 : 1);
	for (int i = 0; i < made; i++) {
		pthread_join(workers[i].thread, NULL);
		if (!i || workers[i].start < start)
			start = workers[i].start;
		if (!i || workers[i].end > end)
			end = workers[i].end;
	}
	return made < count ? 0 : end - start;
}

static double best_of(struct work *work, struct worker *workers, int count,
		      double amount)
{
	double best = 0;

	for (int round = 0; round < ROUNDS; round++) {
		const double took = run_once(work, workers, count);

		if (took > 0 && amount / took > best)
			best = amount / took;
	}
	return best;
}

/* Four times the last cache, or what is a quarter of the memory. */
static size_t memory_bytes(void)
{
	const long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
	const uint64_t all = (uint64_t)sysconf(_SC_PHYS_PAGES) *
			     (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t bytes = cache > 0 ? 4 * (uint64_t)cache : 4 * BYTES_LEAST;

	if (bytes < BYTES_LEAST)
		bytes = BYTES_LEAST;
	if (bytes > BYTES_MOST)
		bytes = BYTES_MOST;
	return bytes < all / 4 ? bytes : all / 4;
}

static double measure_loop(struct loop loop, struct worker *workers, int count)
{
	struct work work = {.loop = loop};

	for (int i = 0; i < count; i++)
		workers[i].work = &work;
	return best_of(&work, workers, count,
		       2.0 * (double)TURNS * CHAINS * (double)loop.lanes *
			       (double)count);
}

static double measure_triad(struct worker *workers, int count)
{
	struct work work = {.count = memory_bytes() / 3 / sizeof(double) /
				     (size_t)count};
	double found = 0;
	bool fits = true;

	for (int i = 0; i < count; i++) {
		workers[i].work = &work;
		workers[i].a = malloc(work.count * sizeof(double));
		workers[i].b = malloc(work.count * sizeof(double));
		workers[i].c = malloc(work.count * sizeof(double));
		fits &= workers[i].a && workers[i].b && workers[i].c;
	}
	if (fits)
		found = best_of(&work, workers, count,
				3.0 * sizeof(double) * (double)work.count *
					(double)count);
	for (int i = 0; i < count; i++) {
		free(workers[i].a);
		free(workers[i].b);
		free(workers[i].c);
		workers[i].a = workers[i].b = workers[i].c = NULL;
	}
	return found;
}

int peak_measure(struct peak *peak)
{
	int cpus[CORES_MAX];
	const int count = find_cpus(cpus);
	struct worker *workers;

	if (!count)
		return -EINVAL;
	workers = calloc((size_t)count, sizeof(*workers));
	if (!workers)
		return -ENOMEM;
	for (int i = 0; i < count; i++)
		workers[i].cpu = cpus[i];
	peak->cores = count;
	peak->core_float_flops = measure_loop(float_loop(), workers, 1);
	peak->core_double_flops = measure_loop(double_loop(), workers, 1);
	peak->core_memory_bytes = measure_triad(workers, 1);
	peak->float_flops = measure_loop(float_loop(), workers, count);
	peak->double_flops = measure_loop(double_loop(), workers, count);
	peak->memory_bytes = measure_triad(workers, count);
	free(workers);
	return peak->memory_bytes > 0 ? 0 : -ENOMEM;
}
