/* SPDX-License-Identifier: MIT */
/*
 * thrown_loops.cpp - exceptions, to what catches which no instruction leads:
 *
 *	thrown_loops inside|around|seldom
 *
 * inside: each iteration of a step throws, and a region lies in what catches
 * that; around: each step of a changing number of regions ends by a throw;
 * seldom: a loop goes on after one.
 */
#include <cstdio>
#include <cstring>

#define N     1000
#define STEPS 200

static double x[N];

__attribute__((noinline)) static void fail(int by)
{
	if (by >= 0)
		throw by;
}

__attribute__((noinline)) static void solve(int step)
{
	for (int k = 0; k < 3 + step % 5; k++) {
		try {
			fail(k);
		} catch (int by) {
#pragma omp parallel for
			for (int i = 0; i < N; i++)
				x[i] += by;
		}
	}
	__asm__ volatile("");
}

__attribute__((noinline)) static void sweep()
{
#pragma omp parallel for
	for (int i = 0; i < N; i++)
		x[i] += 1;
	__asm__ volatile("");
}

static void around()
{
	int step = 0;

again:
	try {
		for (int k = 0; k < 3 + step % 5; k++)
			sweep();
		if (++step < STEPS)
			fail(step);
	} catch (int) {
		goto again;
	}
}

static int seldom()
{
	int caught = 0;

	for (int step = 0; step < STEPS; step++) {
		try {
			sweep();
			fail(step % 50 == 49 ? step : -1);
		} catch (int) {
			caught++;
		}
	}
	return caught;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "around"))
		around();
	else if (!strcmp(what, "seldom"))
		return printf("steps %d, %d caught\n", STEPS, seldom()) < 0;
	else
		for (int step = 0; step < STEPS; step++)
			solve(step);
	return printf("steps %d\n", STEPS) < 0;
}
