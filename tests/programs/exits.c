/* SPDX-License-Identifier: MIT */
/*
 * exits.c - ends in each way that a process can.
 *
 *	exits WAY
 *
 * Runs a region first, which the trace must hold however the end comes.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((noinline)) static int last_region(void)
{
	int sum = 0;

#pragma omp parallel num_threads(2) reduction(+ : sum)
	sum += 1;
	return sum;
}

static void said_at_exit(void)
{
	printf("at exit\n");
	fflush(stdout);
}

/* OpenMP and the heap at the very end, after the library's own handlers. */
__attribute__((destructor)) static void last_words(void)
{
	void *volatile block = malloc(200000);

	free(block);
}

static void *outlive_main(void *unused)
{
	usleep(50000);
	printf("outlived main\n");
	return unused;
}

static void *exit_elsewhere(void *unused)
{
	(void)unused;
	exit(6);
}

static void on_terminate(int number)
{
	(void)number;
	_exit(9);
}

static void leave(const char *way)
{
	pthread_t thread;

	if (strcmp(way, "exit") == 0)
		exit(3);
	if (strcmp(way, "_exit") == 0)
		_exit(4);
	if (strcmp(way, "_Exit") == 0)
		_Exit(4);
	if (strcmp(way, "quick_exit") == 0)
		quick_exit(5);
	if (strcmp(way, "abort") == 0)
		abort();
	if (strcmp(way, "segv") == 0)
		raise(SIGSEGV);
	if (strcmp(way, "kill") == 0)
		raise(SIGKILL);
	if (strcmp(way, "terminate") == 0)
		raise(SIGTERM);
	if (strcmp(way, "handler") == 0) {
		signal(SIGTERM, on_terminate);
		raise(SIGTERM);
	}
	if (strcmp(way, "exit_group") == 0)
		syscall(SYS_exit_group, 8);
	if (strcmp(way, "thread") == 0) {
		pthread_create(&thread, NULL, exit_elsewhere, NULL);
		pthread_join(thread, NULL);
	}
	if (strcmp(way, "pthread_exit") == 0) {
		pthread_create(&thread, NULL, outlive_main, NULL);
		pthread_exit(NULL);
	}
	if (strcmp(way, "closed") == 0) {
		fflush(stdout);
		close(0);
		close(1);
		close(2);
		exit(7);
	}
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "return";

	atexit(said_at_exit);
	printf("region %d\n", last_region());
	fflush(stdout);
	/* What comes by surprise comes after a checkpoint. */
	if (argc > 2)
		usleep((unsigned int)atoi(argv[2]) * 1000);
	leave(way);
	return 2;
}
