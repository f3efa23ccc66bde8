/* SPDX-License-Identifier: MIT */
/*
 * vectors.h - what many of these programs do with vectors, a region each, and
 * what is random in them.  LENGTH is how long a vector is.
 */
#ifndef STEPS_VECTORS_H
#define STEPS_VECTORS_H

#include <stdlib.h>

#ifndef LENGTH
#define LENGTH 4000
#endif

#define MAY_BE_UNUSED __attribute__((unused)) static

MAY_BE_UNUSED double noise(void)
{
	return rand() / (double)RAND_MAX - 0.5;
}

MAY_BE_UNUSED double dot(const double *a, const double *b)
{
	double sum = 0;

#pragma omp parallel for reduction(+ : sum)
	for (int i = 0; i < LENGTH; i++)
		sum += a[i] * b[i];
	return sum;
}

MAY_BE_UNUSED void copy(double *to, const double *from)
{
#pragma omp parallel for
	for (int i = 0; i < LENGTH; i++)
		to[i] = from[i];
}

MAY_BE_UNUSED void add(double *to, double by, const double *from)
{
#pragma omp parallel for
	for (int i = 0; i < LENGTH; i++)
		to[i] += by * from[i];
}

#endif
