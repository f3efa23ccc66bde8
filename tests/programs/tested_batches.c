/* SPDX-License-Identifier: MIT */
/*
 * tested_batches.c - a network of many layers, each with a loop of its own,
 * that is tested after each eighth of 96 batches: half of its layers twice, and
 * three loops that only the test has.
 */
#include <stdio.h>

#define N 256

static double a[N];

#define LAYER(name, by)                                                        \
	static void name(void)                                                 \
	{                                                                      \
		_Pragma("omp parallel for") for (int i = 0; i < N; i++) a[i] = \
			a[i] * (by) + 1;                                       \
	}
#define FIVE(name)                                                             \
	LAYER(name##0, 0.5)                                                    \
	LAYER(name##1, 0.5)                                                    \
	LAYER(name##2, 0.5)                                                    \
	LAYER(name##3, 0.5)                                                    \
	LAYER(name##4, 0.5)                                                    \
	static void name(void)                                                 \
	{                                                                      \
		name##0();                                                     \
		name##1();                                                     \
		name##2();                                                     \
		name##3();                                                     \
		name##4();                                                     \
	}

FIVE(first)
FIVE(second)
FIVE(third)
FIVE(back_third)
FIVE(back_second)
FIVE(back_first)
LAYER(right, 0.25)
LAYER(wrong, 0.75)
LAYER(score, 0.1)

static void forward(void)
{
	first();
	second();
	third();
}

int main(void)
{
	for (int batch = 0; batch < 96; batch++) {
		forward();
		back_third();
		back_second();
		back_first();
		for (int test = 0; test < 2 && batch % 8 == 7; test++) {
			forward();
			right();
			wrong();
			score();
		}
	}
	printf("steps 96\n");
	return 0;
}
