/* SPDX-License-Identifier: MIT */
/*
 * starts.c - threads that all make their first calls at the same moment.
 *
 *	starts scopes|regions|heap|mixed THREADS EACH
 *	starts leave|fork|interrupt|leap|allocate
 *
 * Each thread makes EACH scopes named "start", parallel regions of one thread,
 * or blocks of 100,000 bytes (given back at once); `mixed`: thread by thread
 * another of the three.
 *
 * The others need tests/programs/lib/slow_start.c.  While another thread's
 * first scope begins the recording, the first one ends the program, forks a
 * child that makes a scope of its own, sends that thread a signal whose handler
 * does or, for "leap", jumps out of that scope, or allocates 200 blocks.
 */
#include "traceprof.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static long each;
static char what;
static pthread_barrier_t ready;
static atomic_int at;

__attribute__((noinline)) static void start_region(void)
{
#pragma omp parallel num_threads(1)
	atomic_signal_fence(memory_order_seq_cst);
}

static void start_block(void)
{
	void *volatile block = malloc(100000);

	free(block);
}

static void *run(void *same)
{
	const char mine =
		what == 'm' ? "srh"[atomic_fetch_add(&at, 1) % 3] : what;

	pthread_barrier_wait(&ready);
	for (long i = 0; i < each; i++) {
		if (mine == 's') {
			traceprof_push("start");
			traceprof_pop();
		} else if (mine == 'r') {
			start_region();
		} else {
			start_block();
		}
	}
	return same;
}

static void scope(const char *name)
{
	traceprof_push(name);
	traceprof_pop();
}

static void *begin(void *same)
{
	scope("start");
	return same;
}

static sigjmp_buf back;

static void handle(int number)
{
	(void)number;
	scope("handler");
}

static void leap(int number)
{
	siglongjmp(back, number);
}

static void *begin_and_leap(void *same)
{
	if (!sigsetjmp(back, 1))
		scope("start");
	scope("after");
	return same;
}

int slow_start_inside(void) __attribute__((weak));

static int disturb(const char *how)
{
	pthread_t thread;
	int status = 0;

	const int leaps = strcmp(how, "leap") == 0;

	signal(SIGUSR1, leaps ? leap : handle);
	pthread_create(&thread, NULL, leaps ? begin_and_leap : begin, NULL);
	while (slow_start_inside && !slow_start_inside())
		usleep(1000);
	if (strcmp(how, "leave") == 0)
		exit(7);
	if (strcmp(how, "fork") == 0) {
		const pid_t child = fork();

		if (!child) {
			scope("child");
			exit(8);
		}
		waitpid(child, &status, 0);
	} else if (strcmp(how, "allocate") == 0) {
		for (int i = 0; i < 200; i++)
			start_block();
	} else {
		pthread_kill(thread, SIGUSR1);
	}
	pthread_join(thread, NULL);
	scope("end");
	return WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
	const int threads = argc > 2 ? atoi(argv[2]) : 4;
	pthread_t *all;

	if (argc == 2)
		return disturb(argv[1]);
	all = calloc((size_t)threads, sizeof(*all));
	what = argc > 1 ? argv[1][0] : 's';
	each = argc > 3 ? atol(argv[3]) : 200;
	pthread_barrier_init(&ready, NULL, (unsigned int)threads);
	for (int i = 0; i < threads; i++)
		pthread_create(&all[i], NULL, run, NULL);
	for (int i = 0; i < threads; i++)
		pthread_join(all[i], NULL);
	free(all);
	return 0;
}
