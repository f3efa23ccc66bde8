/* SPDX-License-Identifier: MIT */
/*
 * fork_descriptors.c - forks, in turns that are recorded, while other threads
 * work; each child looks which descriptor it gets next, and how many it has.
 *
 *	fork_descriptors FORKS THREADS
 *
 * Prints the mean of both, and to stderr the files in its way; the second one
 * rounded, since what is open for a moment at a high number is in no child's
 * way.
 */
#include "traceprof.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void *work(void *unused)
{
	for (;;)
		usleep(100);
	return unused;
}

static int descriptors(void)
{
	int count = 0;

	for (int fd = 0; fd < 1024; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static _Noreturn void tell(void)
{
	const int next = dup(STDIN_FILENO);
	char path[64], file[256];

	/* What is in the way. */
	for (int fd = STDERR_FILENO + 1; fd < next; fd++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		dprintf(STDERR_FILENO, "%.*s\n",
			(int)readlink(path, file, sizeof(file)), file);
	}
	_exit(next % 16 * 16 + descriptors() % 16);
}

int main(int argc, char **argv)
{
	const int forks = argc > 2 ? atoi(argv[1]) : 1;
	const int threads = argc > 2 ? atoi(argv[2]) : 0;
	long numbers = 0, counts = 0;
	pthread_t thread;
	int status;

	for (int i = 0; i < threads; i++)
		pthread_create(&thread, NULL, work, NULL);
	for (int i = 0; i < forks; i++) {
		pid_t child;

		traceprof_step();
		child = fork();
		if (!child)
			tell();
		if (child < 0 || waitpid(child, &status, 0) != child ||
		    !WIFEXITED(status))
			abort();
		numbers += WEXITSTATUS(status) / 16;
		counts += WEXITSTATUS(status) % 16;
	}
	printf("%.2f %.0f\n", (double)numbers / forks, (double)counts / forks);
	return 0;
}
