/* SPDX-License-Identifier: MIT */
/*
 * planted.c - a training loop with one bottleneck, which is known.
 *
 *	planted BOTTLENECK [STEPS]
 *
 * Each step is a scope of its own and takes some milliseconds.  Work is to keep
 * a processor busy till a moment, so that it takes as long on a machine that is
 * loaded.  The functions at the end have the bottlenecks' names.
 */
#include "traceprof.h"

#include <omp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int step;

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void work(double ms)
{
	const double end = now_ms() + ms;

	while (now_ms() < end)
		;
}

__attribute__((noinline)) static void team(int threads, double first, double ms)
{
#pragma omp parallel num_threads(threads)
	work(omp_get_thread_num() ? ms : first);
}

static void none(void)
{
	team(2, 4, 4);
}

static void imbalance(void)
{
	team(2, 2, 8);
}

static void barrier(void)
{
#pragma omp parallel num_threads(2)
	for (int phase = 0; phase < 4; phase++) {
		work(omp_get_thread_num() == phase % 2 ? 0.1 : 2);
#pragma omp barrier
	}
}

static void critical(void)
{
#pragma omp parallel num_threads(2)
	for (int piece = 0; piece < 4; piece++) {
		work(0.2);
#pragma omp critical
		work(5);
	}
}

__attribute__((noinline)) static int sum(const int *values, int count)
{
	int total = 0;

#pragma omp parallel for num_threads(2) reduction(+ : total)
	for (int i = 0; i < count; i++)
		total += values[i];
	return total;
}

static void short_regions(void)
{
	static int values[64], total;

	for (int i = 0; i < 400; i++)
		total += sum(values, 64);
}

static void oversubscribed(void)
{
	team(32, 4, 4);
}

static void idle_threads(void)
{
#pragma omp parallel for num_threads(2) schedule(static, 1)
	for (int piece = 0; piece < 1; piece++)
		work(4);
}

static void churn(void)
{
	for (int i = 0; i < 50000; i++) {
		void *volatile block = malloc(48);

		free(block);
	}
	team(1, 1, 1);
}

static void large_blocks(void)
{
	const size_t bytes = 64 << 20;
	char *block = malloc(bytes);

	for (size_t at = 0; at < bytes; at += 4096)
		((volatile char *)block)[at] = 1;
	free(block);
	team(1, 1, 1);
}

static void growth(void)
{
	static void *kept[1000];

	kept[step % 1000] = malloc(512 << 10);
	if (!kept[step % 1000])
		exit(1);
	team(2, 2, 2);
}

static void first_step(void)
{
	team(1, step ? 4 : 200, step ? 4 : 200);
}

static void nth_step(void)
{
	const double ms = step % 5 == 3 ? 80 : 4;

	team(1, ms, ms);
}

static void outliers(void)
{
	const double ms = step == 11 || step == 13 ? 120 : 4;

	team(1, ms, ms);
}

static void data_starved(void)
{
	traceprof_push("DataLoader.__next__");
	usleep(4000);
	traceprof_pop();
	team(1, 4, 4);
}

static sem_t is_ready;

static void *make_ready(void *unused)
{
	usleep(4000);
	sem_post(&is_ready);
	return unused;
}

/* Another thread has what the step needs. */
static void off_cpu(void)
{
	pthread_t other;

	if (pthread_create(&other, NULL, make_ready, NULL))
		exit(1);
	sem_wait(&is_ready);
	pthread_join(other, NULL);
	team(1, 4, 4);
}

static void exposed_comm(void)
{
	traceprof_push("MPI_Allreduce");
	usleep(4000);
	traceprof_pop();
	team(1, 4, 4);
}

static void own_cost(void)
{
	for (int i = 0; i < 20000; i++) {
		traceprof_push("piece");
		traceprof_pop();
	}
}

static const struct {
	const char *name;
	void (*run)(void);
} bottlenecks[] = {
	{"none", none},
	{"imbalance", imbalance},
	{"barrier", barrier},
	{"critical", critical},
	{"short-regions", short_regions},
	{"oversubscribed", oversubscribed},
	{"idle-threads", idle_threads},
	{"churn", churn},
	{"large-blocks", large_blocks},
	{"growth", growth},
	{"first-step", first_step},
	{"nth-step", nth_step},
	{"outliers", outliers},
	{"data-starved", data_starved},
	{"exposed-comm", exposed_comm},
	{"off-cpu", off_cpu},
	{"own-cost", own_cost},
};

int main(int argc, char **argv)
{
	const int steps = argc > 2 ? atoi(argv[2]) : 20;
	size_t at = 0;

	while (argc > 1 && at < sizeof(bottlenecks) / sizeof(bottlenecks[0]) &&
	       strcmp(argv[1], bottlenecks[at].name))
		at++;
	if (argc < 2 || at == sizeof(bottlenecks) / sizeof(bottlenecks[0]))
		return 2;
	for (step = 0; step < steps; step++) {
		traceprof_step();
		bottlenecks[at].run();
	}
	printf("%d steps\n", steps);
	return 0;
}
