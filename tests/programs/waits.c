/* SPDX-License-Identifier: MIT */
/*
 * waits.c - calls that wait, each between bursts of work, none of which may end
 * with EINTR: nobody sends this program a signal.  Prints how many did.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

static atomic_int interrupted;
static int rounds = 200;

static void burn(void)
{
	volatile unsigned long sum = 0;

	for (int i = 0; i < 300000; i++)
		sum += (unsigned long)i;
}

static void *run(void *unused)
{
	const struct timespec pause = {0, 100000};
	struct timeval short_time;
	struct epoll_event event;
	struct timespec until;
	sem_t semaphore;
	sigset_t all;
	int epoll = epoll_create1(0);

	(void)unused;
	sem_init(&semaphore, 0, 0);
	for (int i = 0; i < rounds; i++) {
		burn();
		interrupted += poll(NULL, 0, 1) < 0;
		burn();
		interrupted += ppoll(NULL, 0, &pause, NULL) < 0;
		burn();
		interrupted += nanosleep(&pause, NULL) < 0;
		burn();
		interrupted +=
			clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL) != 0;
		burn();
		interrupted += epoll_wait(epoll, &event, 1, 1) < 0;
		burn();
		short_time = (struct timeval){0, 100};
		interrupted += select(0, NULL, NULL, NULL, &short_time) < 0;
		burn();
		clock_gettime(CLOCK_REALTIME, &until);
		interrupted +=
			sem_timedwait(&semaphore, &until) < 0 && errno == EINTR;
		sigfillset(&all);
		interrupted += sigtimedwait(&all, NULL, &pause) >= 0 ||
			       errno != EAGAIN;
	}
	close(epoll);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[4];

	if (argc > 1)
		rounds = atoi(argv[1]);
	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, run, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	printf("%d interrupted\n", interrupted);
	return 0;
}
