/* SPDX-License-Identifier: MIT */
/*
 * small_room.c - works in a handler on a stack that has room for one signal,
 * and no more.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <time.h>

#define SIGNALS	   200
#define SPIN_NS	   2000000
#define LEFT	   1500
/* Where AMX isn't used, whatever the kernel says of a machine that has it. */
#define FRAME_MOST 4096

static volatile long sum;

static long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000L + now.tv_nsec;
}

static void work(int number)
{
	const long until = now_ns() + SPIN_NS;

	while (now_ns() < until)
		sum += number;
}

int main(void)
{
	const size_t most = getauxval(AT_MINSIGSTKSZ);
	const size_t frame = most < FRAME_MOST ? most : FRAME_MOST;
	stack_t stack = {.ss_size = (frame ? frame : 2048) + LEFT};
	struct sigaction action = {.sa_handler = work, .sa_flags = SA_ONSTACK};
	int handled = 0;

	/* What binds a function at its first call needs more room. */
	now_ns();
	stack.ss_sp = malloc(stack.ss_size);
	if (sigaltstack(&stack, NULL) || sigaction(SIGUSR1, &action, NULL))
		return 1;
	for (; handled < SIGNALS; handled++)
		raise(SIGUSR1);
	printf("%d signals\n", handled);
	return 0;
}
