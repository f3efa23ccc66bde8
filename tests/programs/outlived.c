/* SPDX-License-Identifier: MIT */
/*
 * outlived.c - forks a child that outlives it, then waits to be killed.
 *
 *	outlived [clone]
 *
 * The child is forked by fork(), or by the bare system call, which no handler
 * sees; it does nothing.  Prints the child's pid.
 */
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <signal.h>

int main(int argc, char **argv)
{
	int sum = 0;
	long child;

	(void)argv;
#pragma omp parallel num_threads(2) reduction(+ : sum)
	sum += 1;
#if defined(__x86_64__)
	if (argc > 1)
		__asm__ volatile("syscall"
				 : "=a"(child)
				 : "a"(SYS_clone), "D"(SIGCHLD), "S"(0), "d"(0),
				   "r"(0)
				 : "rcx", "r11", "memory");
	else
#endif
		child = fork();
	if (!child)
		for (;;)
			pause();
	printf("%ld\n", child);
	fflush(stdout);
	for (;;)
		pause();
}
