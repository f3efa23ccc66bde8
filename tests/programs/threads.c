/* SPDX-License-Identifier: MIT */
/*
 * threads.c - a pool of threads that stays, and many that come and go.
 *
 *	threads POOL SHORT
 *
 * The pool's threads allocate all the while; SHORT threads are made one after
 * another, eight at a time, and each allocates one large block.  A key
 * destructor frees memory after the library's own may have run.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TOGETHER = 8 };

static atomic_int stop;
static atomic_long rounds;
static pthread_key_t key;

static void *pool_thread(void *unused)
{
	while (!atomic_load(&stop)) {
		void *volatile block = malloc(70000);

		memset(block, 1, 100);
		free(block);
		atomic_fetch_add(&rounds, 1);
		usleep(1000);
	}
	return unused;
}

static void free_late(void *block)
{
	free(block);
	free(malloc(123));
}

static void *short_thread(void *same)
{
	char *volatile block = malloc(66000);

	block[0] = 1;
	pthread_setspecific(key, malloc(500));
	free(block);
	return same;
}

int main(int argc, char **argv)
{
	const int pool = argc > 1 ? atoi(argv[1]) : 64;
	const int count = argc > 2 ? atoi(argv[2]) : 10000;
	pthread_t *staying = calloc((size_t)pool, sizeof(*staying));
	long ended = 0;

	pthread_key_create(&key, free_late);
	for (int i = 0; i < pool; i++)
		if (pthread_create(&staying[i], NULL, pool_thread, NULL))
			abort();
	for (int i = 0; i < count; i += TOGETHER) {
		pthread_t some[TOGETHER];

		for (int j = 0; j < TOGETHER; j++)
			if (pthread_create(&some[j], NULL, short_thread,
					   &ended))
				abort();
		for (int j = 0; j < TOGETHER; j++) {
			void *result;

			pthread_join(some[j], &result);
			ended += result == &ended;
		}
	}
	while (atomic_load(&rounds) < pool)
		usleep(1000);
	atomic_store(&stop, 1);
	for (int i = 0; i < pool; i++)
		pthread_join(staying[i], NULL);
	free(staying);
	printf("%ld short threads ended\n", ended);
	return 0;
}
