/* SPDX-License-Identifier: MIT */
/*
 * full_room.c - threads work in a handler on a stack for signals that it has
 * filled but for one frame of the kernel's and LEFT bytes, and look whether
 * anything below that stack has changed.
 *
 *	full_room LEFT
 */
#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define THREADS	    6
#define STACK_BYTES (64u << 10)
#define BELOW_BYTES (64u << 10)
#define SPIN_NS	    80000000
#define MARK	    0x5a

static size_t left;
static _Thread_local char *stack;
static _Thread_local volatile size_t frame_bytes;

static long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000L + now.tv_nsec;
}

static __attribute__((noinline)) void spin(void)
{
	const long until = now_ns() + SPIN_NS;

	while (now_ns() < until)
		;
}

static void work(int number)
{
	char here = 0;
	const size_t room = (size_t)(&here - stack);
	volatile char *filler;

	(void)number;
	/* The first time: how much the kernel's frame takes. */
	if (!frame_bytes) {
		frame_bytes = STACK_BYTES - room;
		return;
	}
	filler = alloca(room - frame_bytes - left);
	*filler = 0;
	spin();
}

static void *run(void *arg)
{
	char *memory = malloc(BELOW_BYTES + STACK_BYTES);
	const stack_t ours = {.ss_sp = memory + BELOW_BYTES,
			      .ss_size = STACK_BYTES};
	const stack_t none = {.ss_flags = SS_DISABLE};
	size_t changed = 0;

	(void)arg;
	memset(memory, MARK, BELOW_BYTES);
	stack = ours.ss_sp;
	now_ns();
	sigaltstack(&ours, NULL);
	pthread_kill(pthread_self(), SIGUSR1);
	pthread_kill(pthread_self(), SIGUSR1);
	for (size_t i = 0; i < BELOW_BYTES; i++)
		changed += memory[i] != MARK;
	sigaltstack(&none, NULL);
	free(memory);
	return (void *)changed;
}

int main(int argc, char **argv)
{
	const struct sigaction action = {.sa_handler = work,
					 .sa_flags = SA_ONSTACK};
	pthread_t threads[THREADS];
	size_t changed = 0;
	void *one;

	left = argc > 1 ? (size_t)atoi(argv[1]) : 0;
	sigaction(SIGUSR1, &action, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, run, NULL);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &one);
		changed += (size_t)one;
	}
	printf("%zu bytes changed below the stacks\n", changed);
	return 0;
}
