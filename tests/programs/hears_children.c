/* SPDX-License-Identifier: MIT */
/*
 * hears_children.c - says of each child that it ended, to the very last, and
 * waits for all there are.
 */
#include <omp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void hear(int number)
{
	(void)number;
	if (write(1, "a child ended\n", 14) != 14)
		_exit(2);
}

static void wait_for_all(void)
{
	while (waitpid(-1, NULL, __WALL) > 0)
		if (write(1, "a child is gone\n", 16) != 16)
			_exit(2);
}

int main(void)
{
	const struct sigaction action = {.sa_handler = hear,
					 .sa_flags = SA_RESTART};
	int sum = 0;

	atexit(wait_for_all);
	sigaction(SIGCHLD, &action, NULL);
	if (!fork())
		_exit(0);
	for (int i = 0; i < 100; i++) {
#pragma omp parallel num_threads(2) reduction(+ : sum)
		sum += omp_get_thread_num();
	}
	return sum != 100;
}
