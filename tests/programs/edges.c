/* SPDX-License-Identifier: MIT */
/*
 * edges.c - what lies across the begin or the end of a step.
 *
 *	tasks COUNT	steps 0 and 1: COUNT tasks are created in step 0 and run
 *			in step 1, after one that nobody waits for in step 0
 *	locks		steps 0 to 4: `outer` is held from step 1 to step 4,
 *			until its file is complete, `inner` from 2 to 3
 *	ends COUNT	COUNT steps, each begun inside a region and a scope of
 *			the last one, which end at once after it
 *	others COUNT	COUNT steps; another thread makes a scope as soon as it
 *			sees that one has begun
 *	values COUNT	COUNT values of a counter, each second one no number
 *	signals COUNT	COUNT scopes and a region for each fifth; a timer's
 *			handler comes in between and makes one scope; says how
 *			often it came
 */
#include "traceprof.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

static atomic_int opened;
static atomic_int ran;

static void make_tasks(int count)
{
	int order = 0;

#pragma omp task depend(out : order)
	while (!atomic_load(&opened))
		;
	for (int i = 0; i < count; i++) {
#pragma omp task depend(in : order)
		atomic_fetch_add(&ran, 1);
	}
	traceprof_step();
	atomic_store(&opened, 1);
#pragma omp taskwait
	(void)order;
}

static void tasks(int count)
{
	traceprof_step();
#pragma omp parallel num_threads(2)
#pragma omp master
	make_tasks(count);
	traceprof_step();
	printf("%d tasks\n", atomic_load(&ran));
}

static void ignore(const struct traceprof_total *total, void *unused)
{
	(void)total;
	(void)unused;
}

static void hold_inner(void)
{
	traceprof_step(); /* 2 */
#pragma omp critical(inner)
	traceprof_step(); /* 3 */
	traceprof_step(); /* 4 */
	/* The writer has been here. */
	traceprof_totals(ignore, NULL);
}

static void locks(void)
{
	traceprof_step();
	traceprof_step(); /* 1 */
#pragma omp critical(outer)
	hold_inner();
	puts("locks");
}

__attribute__((noinline)) static void edge(void)
{
#pragma omp parallel num_threads(1)
	traceprof_step();
}

static void ends(int count)
{
	for (int i = 0; i < count; i++) {
		traceprof_push("edge scope");
		edge();
		traceprof_pop();
	}
	puts("ends");
}

static atomic_int begun;
static atomic_int seen;

static void *follow(void *last)
{
	for (int next = 1; next <= *(int *)last; next++) {
		while (atomic_load(&begun) < next)
			;
		traceprof_push("other");
		traceprof_pop();
		atomic_store(&seen, next);
	}
	return NULL;
}

static void others(int count)
{
	pthread_t thread;

	pthread_create(&thread, NULL, follow, &count);
	for (int i = 1; i <= count; i++) {
		traceprof_step();
		atomic_store(&begun, i);
		while (atomic_load(&seen) < i)
			;
	}
	pthread_join(thread, NULL);
	puts("others");
}

static void values(int count)
{
	for (int i = 0; i < count; i++)
		traceprof_counter("value", i % 2 ? NAN : i);
	puts("values");
}

static atomic_int handled;

static void handle(int number)
{
	(void)number;
	atomic_fetch_add(&handled, 1);
	traceprof_push("handler");
	traceprof_pop();
}

static void signals(int count)
{
	const struct itimerval often = {{0, 200}, {0, 200}};
	const struct itimerval never = {{0, 0}, {0, 0}};
	int none = 0;

	signal(SIGALRM, handle);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < count; i++) {
		traceprof_push("between");
		traceprof_pop();
		if (i % 5)
			continue;
#pragma omp parallel num_threads(1)
		none += 0;
	}
	setitimer(ITIMER_REAL, &never, NULL);
	printf("%d\n", atomic_load(&handled) + none);
}

int main(int argc, char **argv)
{
	const int count = argc > 2 ? atoi(argv[2]) : 20;

	if (argc > 1 && !strcmp(argv[1], "locks"))
		locks();
	else if (argc > 1 && !strcmp(argv[1], "ends"))
		ends(count);
	else if (argc > 1 && !strcmp(argv[1], "others"))
		others(count);
	else if (argc > 1 && !strcmp(argv[1], "values"))
		values(count);
	else if (argc > 1 && !strcmp(argv[1], "signals"))
		signals(count);
	else
		tasks(count);
	return 0;
}
