/* SPDX-License-Identifier: MIT */
/*
 * inlined.c - regions in functions that the compiler inlines into main.
 *
 * The program's symbol table then has no `scale` and no `shift`, only what was
 * made of their regions.
 */
#include <stdio.h>

#define CELLS 20000

static double cells[CELLS];

__attribute__((always_inline)) static inline void scale(double factor)
{
#pragma omp parallel for num_threads(2)
	for (int i = 0; i < CELLS; i++)
		cells[i] = cells[i] * factor + 1;
}

__attribute__((always_inline)) static inline void shift(void)
{
#pragma omp parallel for num_threads(2)
	for (int i = 0; i < CELLS; i++)
		cells[i] += 3;
}

int main(void)
{
	for (int step = 0; step < 6; step++) {
		scale(step);
		shift();
		scale(2);
	}
	printf("%.1f\n", cells[7]);
	return 0;
}
