/* SPDX-License-Identifier: MIT */
/*
 * locks.c - waits for locks, and who wakes whom: a thread holds each kind of
 * lock until another has waited for it for a while; then one wakes the
 * other by a condition, and by a semaphore.  Prints what each call returned,
 * and what locks of all kinds answer to their owner.
 */
#include "asleep.h"
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore, turn;
static int is_set, wanted;

static void hold(void)
{
	sem_post(&turn);
	see_it_sleep();
}

static struct timespec later(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	time.tv_sec += 60;
	return time;
}

static void *other(void *unused)
{
	(void)unused;
	printf("other %d\n", (int)gettid() != 0);
	pthread_mutex_lock(&mutex);
	hold();
	pthread_mutex_unlock(&mutex);
	pthread_rwlock_wrlock(&lock);
	hold();
	pthread_rwlock_unlock(&lock);
	sem_wait(&semaphore);
	pthread_rwlock_wrlock(&lock);
	hold();
	pthread_rwlock_unlock(&lock);
	for (int way = 0; way < 5; way++) {
		sem_wait(&semaphore);
		see_it_sleep();
		pthread_mutex_lock(&mutex);
		is_set = 1;
		if (way % 2)
			pthread_cond_broadcast(&condition);
		else
			pthread_cond_signal(&condition);
		pthread_mutex_unlock(&mutex);
	}
	for (int way = 0; way < 2; way++) {
		see_it_sleep();
		sem_post(&turn);
	}
	return NULL;
}

static void wait_for_condition(int way)
{
	struct timespec until =
		later(way == 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME);
	int rc = 0;

	pthread_mutex_lock(&mutex);
	is_set = 0;
	sem_post(&semaphore);
	while (!is_set && !rc) {
		if (way == 1)
			rc = pthread_cond_timedwait(&condition, &mutex, &until);
		else if (way == 2)
			rc = pthread_cond_clockwait(&condition, &mutex,
						    CLOCK_MONOTONIC, &until);
		else
			rc = pthread_cond_wait(&condition, &mutex);
	}
	pthread_mutex_unlock(&mutex);
	wanted += rc;
}

/* What a lock says to a thread that has it. */
static void kinds(void)
{
	static const int types[] = {PTHREAD_MUTEX_RECURSIVE,
				    PTHREAD_MUTEX_ERRORCHECK};
	pthread_mutexattr_t how;
	pthread_mutex_t one;

	for (int i = 0; i < 8; i++) {
		int first, second, released;

		pthread_mutexattr_init(&how);
		pthread_mutexattr_settype(&how, types[i % 2]);
		if (i & 2)
			pthread_mutexattr_setrobust(&how, PTHREAD_MUTEX_ROBUST);
		if (i & 4)
			pthread_mutexattr_setprotocol(&how,
						      PTHREAD_PRIO_INHERIT);
		pthread_mutex_init(&one, &how);
		errno = 7;
		first = pthread_mutex_lock(&one);
		second = pthread_mutex_lock(&one);
		released = pthread_mutex_unlock(&one);
		printf("kind %d: %d %s %d, errno %d\n", i, first,
		       strerrorname_np(second) ? strerrorname_np(second) : "0",
		       released, errno);
	}
	pthread_rwlock_wrlock(&lock);
	printf("rwlock: %s %s\n", strerrorname_np(pthread_rwlock_rdlock(&lock)),
	       strerrorname_np(pthread_rwlock_wrlock(&lock)));
	pthread_rwlock_unlock(&lock);
}

static void *die_with_it(void *robust)
{
	pthread_mutex_lock(robust);
	return NULL;
}

static void owner_dies(void)
{
	pthread_mutexattr_t how;
	pthread_mutex_t one;
	pthread_t thread;
	int first;

	pthread_mutexattr_init(&how);
	pthread_mutexattr_setrobust(&how, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&one, &how);
	pthread_create(&thread, NULL, die_with_it, &one);
	pthread_join(thread, NULL);
	first = pthread_mutex_lock(&one);
	pthread_mutex_unlock(&one);
	printf("dead owner: %s, then %s\n", strerrorname_np(first),
	       strerrorname_np(pthread_mutex_lock(&one)));
}

/* Other calls that wait: a child answers each after a while. */
static void talk(void)
{
	struct epoll_event event = {.events = EPOLLIN};
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	socklen_t bytes = sizeof(sa_family_t);
	char text[8];
	struct iovec place = {text, 1};
	struct msghdr message = {.msg_iov = &place, .msg_iovlen = 1};
	int server = socket(AF_UNIX, SOCK_STREAM, 0);
	int epoll = epoll_create1(0);
	int ends[2], status, made;
	pid_t child;

	socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
	bind(server, (struct sockaddr *)&name, bytes);
	bytes = sizeof(name);
	getsockname(server, (struct sockaddr *)&name, &bytes);
	listen(server, 1);
	child = fork();
	if (!child) {
		int client = socket(AF_UNIX, SOCK_STREAM, 0);

		for (int i = 0; i < 3; i++) {
			poll(NULL, 0, HOLD_MS);
			if (write(ends[1], "x", 1) != 1)
				_exit(1);
		}
		poll(NULL, 0, HOLD_MS);
		connect(client, (struct sockaddr *)&name, bytes);
		poll(NULL, 0, HOLD_MS);
		_exit(3);
	}
	epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event);
	printf("%d", epoll_pwait(epoll, &event, 1, 10000, NULL));
	printf(" %zd", recvfrom(ends[0], text, 1, 0, NULL, NULL));
	printf(" %zd", recvfrom(ends[0], text, 1, 0, NULL, NULL));
	printf(" %zd", recvmsg(ends[0], &message, 0));
	made = accept(server, NULL, NULL);
	printf(" %d", made >= 0);
	waitpid(child, &status, 0);
	printf(" %d\n", WEXITSTATUS(status));
	close(made);
	close(ends[0]);
	close(ends[1]);
	close(server);
	close(epoll);
}

int main(void)
{
	pthread_t thread;
	struct timespec until;

	setvbuf(stdout, NULL, _IOLBF, 0);
	sem_init(&semaphore, 0, 0);
	sem_init(&turn, 0, 0);
	pthread_create(&thread, NULL, other, NULL);
	sem_wait(&turn);
	wanted += pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	sem_wait(&turn);
	wanted += pthread_rwlock_rdlock(&lock);
	pthread_rwlock_unlock(&lock);
	sem_post(&semaphore);
	sem_wait(&turn);
	wanted += pthread_rwlock_wrlock(&lock);
	pthread_rwlock_unlock(&lock);
	for (int way = 0; way < 5; way++)
		wait_for_condition(way);
	sem_wait(&turn);
	until = later(CLOCK_MONOTONIC);
	wanted += sem_clockwait(&turn, CLOCK_MONOTONIC, &until);
	printf("wrong %d\n", wanted);
	pthread_join(thread, NULL);
	kinds();
	owner_dies();
	talk();
	return 0;
}
