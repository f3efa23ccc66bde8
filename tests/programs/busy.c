/* SPDX-License-Identifier: MIT */
/*
 * busy.c - several threads that record as fast as they can and say what they
 * have recorded, to be killed at any moment.
 *
 *	busy [threads [ending [rounds]]]
 *
 * Each thread opens and closes a scope "busy T.N", allocates, enters an OpenMP
 * region each few rounds, and after the scope is closed puts T and N on the
 * standard output, in one write of eight bytes: what the reader got before the
 * end was in a ring before it.  Names come again after NAMES rounds.  The
 * ending is "none" (until killed) or one of those in end() below, which comes
 * when each thread has told so many rounds.
 */
#include "by_hand.h"
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "traceprof.h"

#define NAMES	     4096
#define THREADS_MOST 64

struct told {
	uint32_t thread;
	uint32_t number;
};

static _Atomic unsigned int rounds_told[THREADS_MOST];

__attribute__((noinline)) static long busy_region(void)
{
	long sum = 0;

#pragma omp parallel num_threads(2) reduction(+ : sum)
	sum += omp_get_thread_num();
	return sum;
}

static void *work(void *arg)
{
	struct told told = {.thread = (uint32_t)(uintptr_t)arg};

	for (;; told.number++) {
		char name[48];

		snprintf(name, sizeof(name), "busy %u.%u", told.thread,
			 told.number % NAMES);
		traceprof_push(name);
		void *volatile block = malloc(told.number % 200000);

		if (told.number % 16 == 0)
			busy_region();
		free(block);
		traceprof_pop();
		/* Nobody reads any more: the end has come. */
		if (write(STDOUT_FILENO, &told, sizeof(told)) != sizeof(told))
			return NULL;
		atomic_store(&rounds_told[told.thread], told.number + 1);
		if (told.number % 8 == 7)
			usleep(500);
	}
}

/* All memory that may be had, as a program does that runs away. */
static void eat_memory(void)
{
	for (;;) {
		char *block = malloc(1 << 20);

		if (!block)
			abort();
		memset(block, 1, 1 << 20);
	}
}

static void limit_memory(void)
{
	const struct rlimit limit = {256u << 20, 256u << 20};

	setrlimit(RLIMIT_AS, &limit);
}

static void end(const char *how)
{
	char *const again[] = {(char *)"/bin/true", NULL};

	if (!strcmp(how, "segv"))
		*(volatile int *)8 = 1;
	else if (!strcmp(how, "abort"))
		abort();
	else if (!strcmp(how, "exit_group"))
		by_hand_exit(0);
	else if (!strcmp(how, "exec"))
		execv(again[0], again);
	else if (!strcmp(how, "raw_exec"))
		syscall(SYS_execve, again[0], again, environ);
	else if (!strcmp(how, "grow"))
		eat_memory();
	else if (!strcmp(how, "memory")) {
		limit_memory();
		eat_memory();
	} else if (!strcmp(how, "exit"))
		exit(0);
}

int main(int argc, char **argv)
{
	const int threads = argc > 1 ? atoi(argv[1]) : 3;
	const char *how = argc > 2 ? argv[2] : "none";
	const unsigned int rounds = argc > 3 ? (unsigned int)atoi(argv[3]) : 0;

	if (threads > THREADS_MOST)
		return 2;
	signal(SIGPIPE, SIG_IGN);
	traceprof_mark("busy begins");
	for (int i = 0; i < threads; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, work, (void *)(uintptr_t)i))
			return 1;
		pthread_detach(thread);
	}
	if (!strcmp(how, "none"))
		pause();
	for (int i = 0; i < threads; i++) {
		while (atomic_load(&rounds_told[i]) < rounds)
			usleep(1000);
	}
	end(how);
	return 0;
}
