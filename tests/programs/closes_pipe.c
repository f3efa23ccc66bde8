/* SPDX-License-Identifier: MIT */
/*
 * closes_pipe.c - closes every descriptor, as daemons do, opens files, and
 * works on stacks that nobody has met, in code that has no tables: an unwinder
 * asks what memory there is.
 *
 * Prints the pipes that it was given, and what became of its files.  Built
 * without tables.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FILES	64
#define THREADS 4

static volatile unsigned long sum;

__attribute__((noinline)) static void work(int deep)
{
	volatile char page[6000];
	struct timespec used;

	page[deep] = 1;
	if (deep) {
		work(deep - 1);
		sum += (unsigned long)page[deep];
		return;
	}
	do {
		for (int i = 0; i < 100000; i++)
			sum += (unsigned long)i;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	} while (!used.tv_sec && used.tv_nsec < 150000000);
}

static void *run(void *unused)
{
	work(12);
	return unused;
}

static int count_pipes(void)
{
	char path[64], target[64];
	int count = 0;

	for (int fd = 3; fd < 64; fd++) {
		ssize_t len;

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		len = readlink(path, target, sizeof(target) - 1);
		count += len > 5 && !memcmp(target, "pipe:", 5);
	}
	return count;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	int files[FILES], whole = 0;
	struct stat status;

	work(2);
	printf("%d pipes\n", count_pipes());
	close_range(3, ~0u, 0);
	for (int i = 0; i < FILES; i++)
		files[i] = open(argc > 1 ? argv[1] : "/tmp", O_TMPFILE | O_RDWR,
				0600);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, run, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < FILES; i++)
		whole += !fstat(files[i], &status) && S_ISREG(status.st_mode) &&
			 !status.st_size && !status.st_nlink;
	printf("%d files are open and empty\n", whole);
	return 0;
}
