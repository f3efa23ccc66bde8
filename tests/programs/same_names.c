/* SPDX-License-Identifier: MIT */
/*
 * same_names.c - time steps around an inner loop whose regions have one name,
 * since one function has them all.
 *
 *	same_names inner	those of the inner loop alone
 *	same_names all		those of the step, too, whose inner loop turns
 *				as often as it needs
 *	same_names one		those of the step are one region, that a
 *				function has which is inlined
 */
#include <string.h>

#define REGION(sum)                                                            \
	_Pragma("omp parallel num_threads(2) reduction(+ : sum)") sum += 1

static int sweep(void)
{
	int sum = 0;

	REGION(sum);
	REGION(sum);
	REGION(sum);
	return sum;
}

static int begin_step(void)
{
	int sum = 0;

	REGION(sum);
	return sum;
}

static int end_step(void)
{
	int sum = 0;

	REGION(sum);
	return sum;
}

static int run_alone(void)
{
	int sum = 0;

	for (int step = 0; step < 30; step++) {
		sum += begin_step();
		for (int i = 0; i < 4; i++)
			sum += sweep();
		sum += end_step();
	}
	return sum;
}

static int run_all(void)
{
	int sum = 0;

	for (int step = 0; step < 30; step++) {
		REGION(sum);
		for (int i = 0; i < 3 + step % 4; i++) {
			REGION(sum);
			REGION(sum);
		}
		REGION(sum);
		REGION(sum);
	}
	return sum;
}

static inline __attribute__((always_inline)) int once(int more)
{
	int sum = 0;

#pragma omp parallel num_threads(2) reduction(+ : sum)
	sum += more;
	return sum;
}

static int run_one(void)
{
	int sum = 0;

	for (int step = 0; step < 30; step++) {
		sum += once(1);
		for (int i = 0; i < 3 + step % 4; i++)
			sum += once(2) + once(3);
		sum += once(4);
		sum += once(5);
	}
	return sum;
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "all"))
		return !run_all();
	if (argc > 1 && !strcmp(argv[1], "one"))
		return !run_one();
	return !run_alone();
}
