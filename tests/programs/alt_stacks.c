/* SPDX-License-Identifier: MIT */
/*
 * alt_stacks.c - asks which stack its signals' handlers have: none, its own,
 * none again.  On the first thread, on another, and on both of a child.  A
 * handler that asks for such a stack where there is none needs 150 KiB.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BYTES 65536

static char in_handler[64];

static void spend(void)
{
	struct timespec now, end;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
	do {
		for (volatile int i = 0; i < 100000; i++)
			;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while ((now.tv_sec - end.tv_sec) * 1000000000 + now.tv_nsec -
			 end.tv_nsec <
		 60000000);
}

static const char *asked(const char *own)
{
	stack_t stack;

	if (sigaltstack(NULL, &stack))
		return "error";
	if (stack.ss_flags & SS_DISABLE)
		return stack.ss_sp || stack.ss_size ? "odd" : "none";
	if (stack.ss_sp != own || stack.ss_size != BYTES)
		return "another's";
	return stack.ss_flags & SS_ONSTACK ? "own in use" : "own";
}

static char *now_own;

static void on_signal(int number)
{
	(void)number;
	strcpy(in_handler, asked(now_own));
}

static void on_large(int number)
{
	volatile char large[150000];

	(void)number;
	for (size_t i = 0; i < sizeof(large); i += 1000)
		large[i] = 1;
}

static void *ask(void *unused)
{
	const stack_t none = {.ss_flags = SS_DISABLE};
	struct sigaction action = {.sa_handler = on_large,
				   .sa_flags = SA_ONSTACK};
	stack_t own = {.ss_size = BYTES}, before;
	char first[16], second[16];

	own.ss_sp = malloc(BYTES);
	now_own = own.ss_sp;
	spend();
	strcpy(first, asked(now_own));
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	if (sigaltstack(&own, &before) || !(before.ss_flags & SS_DISABLE))
		printf("before: %p\n", before.ss_sp);
	spend();
	strcpy(second, asked(now_own));
	action.sa_handler = on_signal;
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	if (sigaltstack(&none, &before) || before.ss_sp != own.ss_sp)
		printf("own: %p\n", before.ss_sp);
	spend();
	before.ss_sp = NULL;
	printf("%s, %s, %s, ", first, second, in_handler);
	printf("%s\n", asked(now_own));
	fflush(stdout);
	free(own.ss_sp);
	return unused;
}

static void ask_all(void)
{
	pthread_t thread;

	ask(NULL);
	pthread_create(&thread, NULL, ask, NULL);
	pthread_join(thread, NULL);
}

int main(void)
{
	pid_t child;

	ask_all();
	child = fork();
	if (!child) {
		ask_all();
		_exit(0);
	}
	waitpid(child, NULL, 0);
	return 0;
}
