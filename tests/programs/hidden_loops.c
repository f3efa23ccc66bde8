/* SPDX-License-Identifier: MIT */
/*
 * hidden_loops.c - steps of which the machine code of few frames, or a jump
 * through memory, doesn't tell; how many are made is said:
 *
 *	hidden_loops around|twice|labels
 *
 * around: a region before and behind another, from so deep that both calls are
 * one place; twice: the same without the other; labels: a loop that is closed
 * by direct threaded code, around one of a changing number of regions.
 */
#include <stdio.h>
#include <string.h>

#define N     1000
#define STEPS 200

static double x[N];

/* No call is made a jump. */
#define FUNCTION(name, what)                                                   \
	__attribute__((noinline)) static void name(void)                       \
	{                                                                      \
		what;                                                          \
		__asm__ volatile("");                                          \
	}

FUNCTION(sweep, _Pragma("omp parallel for") for (int i = 0; i < N; i++) x[i]++)
FUNCTION(update,
	 _Pragma("omp parallel for") for (int i = 0; i < N; i++) x[i] *= 0.5)
FUNCTION(deep1, sweep())
FUNCTION(deep2, deep1())
FUNCTION(deep3, deep2())
FUNCTION(deep4, deep3())
FUNCTION(deep5, deep4())
FUNCTION(deep6, deep5())
FUNCTION(deep7, deep6())
FUNCTION(deep8, deep7())
FUNCTION(deep9, deep8())
FUNCTION(deep10, deep9())

static int odd;

FUNCTION(sweeps, for (int i = 0; i < 3 + odd % 5; i++) sweep())

static void labels(void)
{
	static const void *const code[] = {&&work, &&end};
	const void *const *at = code;

	goto **at++;
work:
	sweeps();
	goto **at++;
end:
	at = code;
	if (++odd < STEPS)
		goto **at++;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "labels")) {
		labels();
		return printf("steps %d\n", STEPS) < 0;
	}
	for (int i = 0; i < STEPS; i++) {
		deep10();
		if (!strcmp(what, "around"))
			update();
		deep10();
	}
	return printf("steps %d\n", STEPS) < 0;
}
