/* SPDX-License-Identifier: MIT */
/*
 * many_places.c - one function that is long and has no loop but the one around
 * it, so that samples fall on many of its lines.  many_places MILLISECONDS.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile double values[16];

static long long used(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

#define ONE(i) values[i] = values[i] / 1.0000001 + 1;
/* clang-format off */
#define SIXTEEN                                                                \
	ONE(0) ONE(1) ONE(2) ONE(3) ONE(4) ONE(5) ONE(6) ONE(7)                \
	ONE(8) ONE(9) ONE(10) ONE(11) ONE(12) ONE(13) ONE(14) ONE(15)
/* clang-format on */

__attribute__((noinline)) static void long_one(void)
{
	SIXTEEN
	SIXTEEN
	SIXTEEN
	SIXTEEN
	SIXTEEN
	SIXTEEN
	SIXTEEN
	SIXTEEN
}

int main(int argc, char **argv)
{
	const long long end =
		used() + (argc > 1 ? atoi(argv[1]) : 400) * 1000000LL;

	while (used() < end) {
		for (int i = 0; i < 10000; i++)
			long_one();
	}
	printf("done\n");
	return 0;
}
