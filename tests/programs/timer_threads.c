/* SPDX-License-Identifier: MIT */
/*
 * timer_threads.c - timers that call a function in a thread of its own, each
 * for 10 ms of processor time, half of them deleted meanwhile.  Prints the sum
 * of what they were given.
 */
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#define TIMERS 20

static sem_t begun, done;
static atomic_long sum;

__attribute__((noinline)) static void ticks(union sigval value)
{
	struct timespec used;
	volatile unsigned long spent = 0;

	sem_post(&begun);
	do {
		for (int i = 0; i < 10000; i++)
			spent += (unsigned long)i;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	} while (used.tv_nsec < 10000000L);
	sum += (long)(intptr_t)value.sival_ptr;
	sem_post(&done);
}

int main(void)
{
	const struct itimerspec once = {.it_value = {0, 1000000}};
	timer_t timer;

	sem_init(&begun, 0, 0);
	sem_init(&done, 0, 0);
	for (intptr_t i = 0; i < TIMERS; i++) {
		struct sigevent event = {.sigev_notify = SIGEV_THREAD,
					 .sigev_notify_function = ticks,
					 .sigev_value.sival_ptr =
						 (void *)(i % 5)};

		if (timer_create(CLOCK_MONOTONIC, &event, &timer) ||
		    timer_settime(timer, 0, &once, NULL))
			return 1;
		while (sem_wait(i % 2 ? &done : &begun))
			;
		timer_delete(timer);
		while (sem_wait(i % 2 ? &begun : &done))
			;
	}
	printf("%ld\n", (long)sum);
	return 0;
}
