/* SPDX-License-Identifier: MIT */
/*
 * join_results.c - what pthread_join() returns: a value of a thread that takes
 * a third of a second, for itself, for a detached one; what it does to errno;
 * and that who waits in it can be cancelled.  The same of thrd_join().
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <threads.h>
#include <unistd.h>

static void *late(void *value)
{
	usleep(330000);
	return value;
}

static void *waits(void *thread)
{
	pthread_join(*(pthread_t *)thread, NULL);
	return NULL;
}

static int late_c11(void *value)
{
	usleep(330000);
	return -(int)(long)value;
}

static void join_c11(void)
{
	thrd_t thread;
	int result = 0, itself;

	thrd_create(&thread, late_c11, (void *)7);
	errno = 5;
	thrd_join(thread, &result);
	itself = thrd_join(thrd_current(), NULL);
	printf("C11: %d, itself %s, errno %d\n", result,
	       itself == thrd_error ? "an error" : "?", errno);
	thrd_create(&thread, late_c11, NULL);
	thrd_join(thread, NULL);
}

static const char *name_of(int error)
{
	return error == EDEADLK ? "EDEADLK" : error == EINVAL ? "EINVAL" : "?";
}

int main(void)
{
	pthread_t thread, waiter;
	pthread_attr_t detached;
	void *value = NULL;
	int itself, nobody;

	pthread_create(&thread, NULL, late, (void *)7);
	errno = 5;
	pthread_join(thread, &value);
	printf("value %ld, ", (long)value);
	itself = pthread_join(pthread_self(), NULL);
	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	pthread_create(&thread, &detached, late, NULL);
	nobody = pthread_join(thread, NULL);
	printf("itself %s, detached %s, errno %d, ", name_of(itself),
	       name_of(nobody), errno);
	pthread_create(&thread, NULL, late, NULL);
	pthread_create(&waiter, NULL, waits, &thread);
	usleep(150000);
	pthread_cancel(waiter);
	pthread_join(waiter, &value);
	pthread_join(thread, NULL);
	puts(value == PTHREAD_CANCELED ? "cancelled" : "not cancelled");
	join_c11();
	return 0;
}
