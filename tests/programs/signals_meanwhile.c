/* SPDX-License-Identifier: MIT */
/*
 * signals_meanwhile.c - a thread with a small stack for signals runs through
 * code of many addresses while another sends it the signal of samples, as the
 * kernel does when a second one is due: none may come before the handler is
 * done with the first.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SAMPLES 33 /* the C library's own number */
#define SECONDS 1.5

static atomic_bool is_over;
static pid_t first;

static void *send_signals(void *arg)
{
	/* No call of the library's own, which has another code. */
	siginfo_t info = {.si_signo = SAMPLES, .si_code = SI_QUEUE};

	(void)arg;
	while (!atomic_load(&is_over)) {
		usleep(20);
		syscall(SYS_rt_tgsigqueueinfo, getpid(), first, SAMPLES, &info);
	}
	return NULL;
}

/* Each of the instructions is an address that no stack had yet. */
static unsigned long run_through(unsigned long value)
{
	for (int i = 0; i < 64; i++)
		__asm__ volatile(".rept 8192\n\t"
				 "lea 1(%0,%0,2), %0\n\t"
				 ".endr"
				 : "+r"(value));
	return value;
}

static double used_seconds(void)
{
	struct timespec used;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
}

int main(void)
{
	static char memory[16384];
	const stack_t stack = {.ss_sp = memory, .ss_size = sizeof(memory)};
	unsigned long value = 1, turns = 0;
	pthread_t sender;

	first = (pid_t)syscall(SYS_gettid);
	sigaltstack(&stack, NULL);
	pthread_create(&sender, NULL, send_signals, NULL);
	for (; used_seconds() < SECONDS; turns++)
		value = run_through(value);
	atomic_store(&is_over, 1);
	pthread_join(sender, NULL);
	puts(value && turns ? "worked" : "didn't");
	return 0;
}
