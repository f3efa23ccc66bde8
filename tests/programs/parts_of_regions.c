/* SPDX-License-Identifier: MIT */
/*
 * parts_of_regions.c - short OpenMP regions with work of their own in between:
 * each function is called in a region only, or outside of all only.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static uint64_t in_region(uint64_t count)
{
	volatile uint64_t sum = 1;

	for (uint64_t i = 0; i < count; i++)
		sum = sum * 6364136223846793005u + 1;
	return sum;
}

__attribute__((noinline)) static uint64_t between(uint64_t count)
{
	volatile uint64_t sum = 3;

	for (uint64_t i = 0; i < count; i++)
		sum = sum * 6364136223846793005u + 3;
	return sum;
}

int main(int argc, char **argv)
{
	const int turns = argc > 1 ? atoi(argv[1]) : 1000;
	uint64_t all = 0;

	for (int turn = 0; turn < turns; turn++) {
		all += between(20000);
#pragma omp parallel reduction(+ : all)
		all += in_region(30000);
	}
	printf("%d\n", all != 0);
	return 0;
}
