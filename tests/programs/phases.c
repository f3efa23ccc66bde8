/* SPDX-License-Identifier: MIT */
/*
 * phases.c - three functions with 50, 30 and 20 % of the processor time, in as
 * many threads as are asked for: phases THREADS [MILLIONS].  Prints a sum.
 * They come in no order that a timer's period could go along with.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define FUNCTION(name)                                                         \
	__attribute__((noinline)) static uint64_t name(uint64_t count)         \
	{                                                                      \
		volatile uint64_t sum = 1;                                     \
                                                                               \
		for (uint64_t i = 0; i < count; i++)                           \
			sum = sum * 6364136223846793005u + 1;                  \
		return sum;                                                    \
	}

FUNCTION(half)
FUNCTION(third)
FUNCTION(fifth)

static uint64_t millions = 10;

__attribute__((noinline)) static void *work(void *sum)
{
	uint64_t (*const function[])(uint64_t) = {half, third, fifth};
	unsigned int left[] = {250, 150, 100};
	uint64_t all = 0, random = 1;

	for (unsigned int units = 500; units; units--) {
		unsigned int pick, which = 0;

		random = random * 6364136223846793005u + 1442695040888963407u;
		for (pick = (unsigned int)(random >> 33) % units;
		     pick >= left[which]; which++)
			pick -= left[which];
		left[which]--;
		all += function[which](millions * 2000);
	}
	*(uint64_t *)sum = all;
	return NULL;
}

int main(int argc, char **argv)
{
	const int threads = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t thread[64];
	uint64_t sum[64], all = 0;

	if (argc > 2)
		millions = (uint64_t)atoi(argv[2]);
	for (int i = 1; i < threads; i++)
		pthread_create(&thread[i], NULL, work, &sum[i]);
	work(&sum[0]);
	for (int i = 0; i < threads; i++) {
		if (i)
			pthread_join(thread[i], NULL);
		all += sum[i];
	}
	printf("%" PRIx64 "\n", all);
	return 0;
}
