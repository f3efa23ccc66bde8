/* SPDX-License-Identifier: MIT */
/*
 * batch_threads.c - threads that are made anew for each batch:
 * batch_threads THREADS BATCHES MS [FILE].  Each works for MS milliseconds of
 * its own processor time, and the first thread joins them.  What they worked in
 * all goes to FILE, in microseconds.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long each_ms;
static _Atomic long worked_us;

static long thread_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

__attribute__((noinline)) static void *its_share(void *unused)
{
	const long begin_us = thread_us();
	const long end_us = begin_us + each_ms * 1000;
	volatile unsigned long sum = 0;

	while (thread_us() < end_us)
		for (int i = 0; i < 10000; i++)
			sum = sum + (unsigned long)i;
	worked_us += thread_us() - begin_us;
	return unused;
}

static void tell(const char *path)
{
	FILE *file = fopen(path, "w");

	if (file) {
		fprintf(file, "%ld\n", worked_us);
		fclose(file);
	}
}

int main(int argc, char **argv)
{
	const int threads = argc > 1 ? atoi(argv[1]) : 1;
	const int batches = argc > 2 ? atoi(argv[2]) : 1;
	pthread_t thread[64];

	each_ms = argc > 3 ? atoi(argv[3]) : 1;
	for (int batch = 0; batch < batches; batch++) {
		for (int i = 0; i < threads; i++)
			pthread_create(&thread[i], NULL, its_share, NULL);
		for (int i = 0; i < threads; i++)
			pthread_join(thread[i], NULL);
	}
	if (argc > 4)
		tell(argv[4]);
	puts("done");
	return 0;
}
