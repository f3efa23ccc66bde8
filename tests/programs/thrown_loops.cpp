/* SPDX-License-Identifier: MIT */
/*
 * thrown_loops.cpp - each iteration of a step throws, and a region lies in what
 * catches that: no instruction leads there.
 */
#include <cstdio>

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

int main()
{
	for (int step = 0; step < STEPS; step++)
		solve(step);
	return printf("steps %d\n", STEPS) < 0;
}
