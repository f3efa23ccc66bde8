/* SPDX-License-Identifier: MIT */
/*
 * tight_stack.c - calls in which a recording begins or ends, on 8 KiB.
 *
 * tight_stack end HOW	a handler on a stack for signals ends the program by
 *			_exit, exit, quick_exit, raise or exec; a further
 *			signal's handler has the same stack
 * tight_stack region	a coroutine with the first region
 * tight_stack heap	a thread with most of its 16 KiB in use, allocating
 * tight_stack leave	a coroutine ends it
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define SMALL 8192
#define GUARD 4096

static const char *how = "";
static ucontext_t main_context, coroutine;

static char *small_stack(void)
{
	char *stack = mmap(NULL, GUARD + SMALL, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (stack == MAP_FAILED || mprotect(stack, GUARD, PROT_NONE))
		abort();
	return stack + GUARD;
}

static void regions(void)
{
	long sum = 0;

	for (int round = 0; round < 50; round++) {
#pragma omp parallel for num_threads(2) reduction(+ : sum)
		for (int i = 0; i < 2000; i++)
			sum += i ^ round;
	}
	printf("%ld\n", sum);
	fflush(stdout);
}

static void die(int signal_number)
{
	const struct itimerval never = {{0, 0}, {0, 0}};
	sigset_t only;

	if (!strcmp(how, "_exit"))
		_exit(3);
	if (!strcmp(how, "exit"))
		exit(3);
	if (!strcmp(how, "quick_exit"))
		quick_exit(3);
	if (!strcmp(how, "exec")) {
		setitimer(ITIMER_REAL, &never, NULL);
		execl("/bin/sh", "sh", "-c", "exit 3", NULL);
	}
	signal(signal_number, SIG_DFL);
	sigemptyset(&only);
	sigaddset(&only, signal_number);
	sigprocmask(SIG_UNBLOCK, &only, NULL);
	raise(signal_number);
}

static void note(int signal_number)
{
	(void)signal_number;
}

static int end_in_handler(void)
{
	const stack_t stack = {.ss_sp = small_stack(), .ss_size = SMALL};
	struct sigaction action = {.sa_handler = die, .sa_flags = SA_ONSTACK};
	const struct itimerval often = {{0, 200}, {0, 200}};

	sigaltstack(&stack, NULL);
	sigaction(SIGTERM, &action, NULL);
	action.sa_handler = note;
	sigaction(SIGALRM, &action, NULL);
	regions();
	setitimer(ITIMER_REAL, &often, NULL);
	raise(SIGTERM);
	return 1;
}

static void leave(void)
{
	_exit(3);
}

static int in_coroutine(void (*run)(void))
{
	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = small_stack();
	coroutine.uc_stack.ss_size = SMALL;
	coroutine.uc_link = &main_context;
	makecontext(&coroutine, run, 0);
	return swapcontext(&main_context, &coroutine);
}

static double processor_seconds(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

/* For as long as a program runs before a heap alone is worth a recording. */
static void *allocate(void *unused)
{
	volatile char line[6000];

	line[0] = line[sizeof(line) - 1] = 1;
	while (processor_seconds() < 3) {
		for (int i = 0; i < 1000; i++) {
			void *volatile block = malloc(100);

			free(block);
		}
	}
	return unused;
}

static int allocate_in_thread(void)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	return pthread_attr_setstacksize(&attributes, 16384) ||
	       pthread_create(&thread, &attributes, allocate, NULL) ||
	       pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	how = argc > 2 ? argv[2] : "";
	if (!strcmp(what, "end"))
		return end_in_handler();
	if (!strcmp(what, "region"))
		return in_coroutine(regions);
	if (!strcmp(what, "heap"))
		return allocate_in_thread();
	regions();
	return in_coroutine(leave);
}
