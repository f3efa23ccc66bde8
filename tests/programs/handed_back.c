/* SPDX-License-Identifier: MIT */
/*
 * handed_back.c - another thread frees a block and allocates the same address
 * again, which the first one then frees: none of the blocks is temporary.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define ROUNDS 100

static void *volatile block;
static pthread_barrier_t turn;
static int same;

static void *other(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		void *before;

		pthread_barrier_wait(&turn);
		before = block;
		free(block);
		block = malloc(1000);
		same += block == before;
		pthread_barrier_wait(&turn);
	}
	return unused;
}

int main(void)
{
	pthread_t thread;

	pthread_barrier_init(&turn, NULL, 2);
	if (pthread_create(&thread, NULL, other, NULL))
		return 1;
	for (int i = 0; i < ROUNDS; i++) {
		block = malloc(1000);
		pthread_barrier_wait(&turn);
		pthread_barrier_wait(&turn);
		free(block);
	}
	pthread_join(thread, NULL);
	puts(same > ROUNDS * 9 / 10 ? "the same" : "others");
	return 0;
}
