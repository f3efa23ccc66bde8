/* SPDX-License-Identifier: MIT */
/*
 * gomp.c - libgomp entry points that today's compilers no longer emit.
 *
 *	gomp NAME
 *
 * Binaries from before GCC 4.9 call GOMP_parallel_start and _end around the
 * master's own share; the parallel loops with a static schedule are inlined by
 * now.  All are still exported, and called here by hand.
 */
#include <omp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "constructs.h"

typedef void (*outlined)(void *data);

void GOMP_parallel_start(outlined fn, void *data, unsigned int threads);
void GOMP_parallel_end(void);
void GOMP_parallel_loop_static_start(outlined fn, void *data,
				     unsigned int threads, long start, long end,
				     long step, long chunk);
void GOMP_parallel_loop_dynamic_start(outlined fn, void *data,
				      unsigned int threads, long start,
				      long end, long step, long chunk);
void GOMP_parallel_loop_guided_start(outlined fn, void *data,
				     unsigned int threads, long start, long end,
				     long step, long chunk);
void GOMP_parallel_loop_runtime_start(outlined fn, void *data,
				      unsigned int threads, long start,
				      long end, long step);
void GOMP_parallel_sections_start(outlined fn, void *data, unsigned int threads,
				  unsigned int count);
void GOMP_parallel_loop_static(outlined fn, void *data, unsigned int threads,
			       long start, long end, long step, long chunk,
			       unsigned int flags);
bool GOMP_loop_static_next(long *start, long *end);
bool GOMP_loop_dynamic_next(long *start, long *end);
bool GOMP_loop_guided_next(long *start, long *end);
bool GOMP_loop_runtime_next(long *start, long *end);
void GOMP_loop_end_nowait(void);
unsigned int GOMP_sections_next(void);
void GOMP_sections_end_nowait(void);

static void add(long *sum, long value)
{
	__atomic_fetch_add(sum, value, __ATOMIC_RELAXED);
}

static void old_parallel_body(void *data)
{
	add(data, 1 + omp_get_thread_num());
}

__attribute__((noinline)) static long old_parallel(void)
{
	long sum = 0;

	GOMP_parallel_start(old_parallel_body, &sum, 2);
	old_parallel_body(&sum);
	GOMP_parallel_end();
	return sum;
}

static void static_body(void *data)
{
	long start, end;

	while (GOMP_loop_static_next(&start, &end))
		for (long i = start; i < end; i++)
			add(data, i);
	GOMP_loop_end_nowait();
}

static void guided_body(void *data)
{
	long start, end;

	while (GOMP_loop_guided_next(&start, &end))
		for (long i = start; i < end; i++)
			add(data, i);
	GOMP_loop_end_nowait();
}

static void runtime_body(void *data)
{
	long start, end;

	while (GOMP_loop_runtime_next(&start, &end))
		for (long i = start; i < end; i++)
			add(data, i);
	GOMP_loop_end_nowait();
}

static void dynamic_body(void *data)
{
	long start, end;

	while (GOMP_loop_dynamic_next(&start, &end))
		for (long i = start; i < end; i++)
			add(data, i);
	GOMP_loop_end_nowait();
}

__attribute__((noinline)) static long old_loop_static(void)
{
	long sum = 0;

	GOMP_parallel_loop_static_start(static_body, &sum, 2, 0, 64, 1, 4);
	static_body(&sum);
	GOMP_parallel_end();
	return sum;
}

__attribute__((noinline)) static long old_loop_dynamic(void)
{
	long sum = 0;

	GOMP_parallel_loop_dynamic_start(dynamic_body, &sum, 2, 0, 64, 1, 4);
	dynamic_body(&sum);
	GOMP_parallel_end();
	return sum;
}

__attribute__((noinline)) static long old_loop_guided(void)
{
	long sum = 0;

	GOMP_parallel_loop_guided_start(guided_body, &sum, 2, 0, 64, 1, 4);
	guided_body(&sum);
	GOMP_parallel_end();
	return sum;
}

__attribute__((noinline)) static long old_loop_runtime(void)
{
	long sum = 0;

	GOMP_parallel_loop_runtime_start(runtime_body, &sum, 2, 0, 64, 1);
	runtime_body(&sum);
	GOMP_parallel_end();
	return sum;
}

static void sections_body(void *data)
{
	for (unsigned int section = GOMP_sections_next(); section;
	     section = GOMP_sections_next())
		add(data, section);
	GOMP_sections_end_nowait();
}

__attribute__((noinline)) static long old_sections(void)
{
	long sum = 0;

	GOMP_parallel_sections_start(sections_body, &sum, 2, 4);
	sections_body(&sum);
	GOMP_parallel_end();
	return sum;
}

__attribute__((noinline)) static long loop_static_called(void)
{
	long sum = 0;

	GOMP_parallel_loop_static(static_body, &sum, 2, 0, 64, 1, 4, 0);
	return sum;
}

static const struct construct constructs[] = {
	{"old_parallel", old_parallel},
	{"old_loop_static", old_loop_static},
	{"old_loop_dynamic", old_loop_dynamic},
	{"old_loop_guided", old_loop_guided},
	{"old_loop_runtime", old_loop_runtime},
	{"old_sections", old_sections},
	{"loop_static_called", loop_static_called},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return construct_run(constructs, argc > 1 ? argv[1] : "");
}
