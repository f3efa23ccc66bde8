/* SPDX-License-Identifier: MIT */
/*
 * signals.c - signals while hooks run, and signals that nobody else may take.
 *
 *	signals storm	a 2 kHz timer whose handler allocates, over regions; the
 *			program itself allocates nothing meanwhile, since
 *			malloc must not be interrupted by malloc
 *	signals wait	SIGUSR1 blocked everywhere and taken by sigwait: a
 *			helper thread with it open would die of it
 *	signals altstack	a handler on a small alternate stack allocates
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t handled;

__attribute__((noinline)) static int short_region(void)
{
	int sum = 0;

#pragma omp parallel num_threads(2) reduction(+ : sum)
	sum += 1;
	return sum;
}

static void on_timer(int number)
{
	void *volatile block = aligned_alloc(64, 1 << 20);

	(void)number;
	free(block);
	handled++;
}

static int storm(void)
{
	struct itimerval timer = {{0, 500}, {0, 500}};
	const struct itimerval none = {{0, 0}, {0, 0}};
	struct sigaction action = {.sa_handler = on_timer,
				   .sa_flags = SA_RESTART};
	int sum = 0;

	short_region();
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	for (int i = 0; i < 2000 || handled < 200; i++)
		sum += short_region();
	setitimer(ITIMER_REAL, &none, NULL);
	printf("storm over %d\n", sum >= 4000 && handled >= 200);
	return 0;
}

static int wait_for_signal(void)
{
	sigset_t set;
	int number = 0;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	printf("region %d\n", short_region());
	for (int i = 0; i < 20; i++) {
		kill(getpid(), i % 2 ? SIGUSR1 : SIGTERM);
		sigwait(&set, &number);
		usleep(1000);
	}
	printf("all taken\n");
	return 0;
}

static int on_alternate_stack(void)
{
	static char stack[8192];
	const stack_t place = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction action = {.sa_handler = on_timer,
				   .sa_flags = SA_ONSTACK};

	printf("region %d\n", short_region());
	sigaltstack(&place, NULL);
	sigaction(SIGUSR2, &action, NULL);
	for (int i = 0; i < 10; i++)
		raise(SIGUSR2);
	printf("handled %d\n", (int)handled);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "storm") == 0)
		return storm();
	if (strcmp(what, "wait") == 0)
		return wait_for_signal();
	if (strcmp(what, "altstack") == 0)
		return on_alternate_stack();
	return 2;
}
