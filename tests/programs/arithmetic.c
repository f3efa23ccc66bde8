/* SPDX-License-Identifier: MIT */
/*
 * arithmetic.c - a program to which inexact results matter.
 *
 *	arithmetic traps	each of them, and all other traps, end it
 *	arithmetic flags	it tells where a call of ours has had one
 */
#include <fenv.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *nothing(void *unused)
{
	return unused;
}

static long region(long to)
{
	long sum = 0;

#pragma omp parallel for num_threads(2) reduction(+ : sum)
	for (long i = 0; i < to; i++)
		sum += i;
	return sum;
}

static void look(const char *after)
{
	if (fetestexcept(FE_ALL_EXCEPT))
		printf("flags after %s\n", after);
	feclearexcept(FE_ALL_EXCEPT);
}

static void run(void)
{
	pthread_t thread;
	pid_t child;
	char byte;
	int ends[2];

	for (int i = 0; i < 3000; i++)
		region(1000);
	look("regions");
	for (size_t i = 0; i < 3000; i++) {
		void *volatile block = malloc(1000 + i * 100);

		free(block);
	}
	look("the heap");
	if (!pthread_create(&thread, NULL, nothing, NULL))
		pthread_join(thread, NULL);
	look("a thread");
	if (!pipe(ends) && write(ends[1], "x", 1) == 1 &&
	    read(ends[0], &byte, 1) == 1)
		usleep(300);
	look("waits");
	child = fork();
	if (!child) {
		free(malloc(100000));
		look("fork, in the child");
		fflush(stdout);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	look("fork");
}

int main(int argc, char **argv)
{
	feclearexcept(FE_ALL_EXCEPT);
	if (argc > 1 && !strcmp(argv[1], "traps"))
		feenableexcept(FE_ALL_EXCEPT);
	setvbuf(stdout, NULL, _IOLBF, 0);
	run();
	puts("done");
	return 0;
}
