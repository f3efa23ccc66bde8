/* SPDX-License-Identifier: MIT */
/*
 * plugin.c - a library that brings libgomp with it, as a Python module does.
 *
 * Loaded RTLD_LOCAL by a program without OpenMP, so that libgomp is nobody's
 * but ours: dlsym(RTLD_NEXT) does not find it.
 */
#include <omp.h>
#include <stdlib.h>

int plugin_run(int threads);

__attribute__((noinline)) int plugin_run(int threads)
{
	int sum = 0;

#pragma omp parallel num_threads(threads) reduction(+ : sum)
	sum += 1 + 10 * omp_get_thread_num() + 100 * omp_get_num_threads();
	return sum;
}
