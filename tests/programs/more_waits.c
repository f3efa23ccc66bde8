/* SPDX-License-Identifier: MIT */
/*
 * more_waits.c - waits at a barrier, by futexes without the C library, for
 * children, sockets and time.  The first thread waits; the other comes when it
 * sees it asleep.  Prints what each call returned.
 */
#include "asleep.h"
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_barrier_t barrier;
static atomic_int word, turn;
static int ends[2];

/* Until it has said that it comes to this, and sleeps in it. */
static void see_it_come(int wanted)
{
	while (atomic_load(&turn) != wanted)
		poll(NULL, 0, 1);
	see_it_sleep();
}

static long futex(int operation, int value)
{
	return syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value,
		       NULL, NULL, ~0u);
}

static void *other(void *unused)
{
	static char data[1 << 16];

	(void)unused;
	see_it_come(1);
	pthread_barrier_wait(&barrier);
	for (int i = 2; i < 4; i++) {
		see_it_come(i);
		atomic_store(&word, i);
		futex(i == 2 ? FUTEX_WAKE : FUTEX_WAKE_BITSET, 1);
	}
	see_it_come(4);
	while (recv(ends[1], data, sizeof(data), MSG_DONTWAIT) > 0)
		;
	return NULL;
}

/* Until the other end takes no more, and then once more. */
static int fill_and_send(void)
{
	static char data[1 << 12];
	struct iovec part = {data, sizeof(data)};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	while (sendmsg(ends[0], &message, MSG_DONTWAIT) > 0)
		;
	atomic_store(&turn, 4);
	return (int)sendmsg(ends[0], &message, 0);
}

static pid_t child(void)
{
	pid_t pid = fork();

	if (!pid) {
		poll(NULL, 0, HOLD_MS);
		_exit(3);
	}
	return pid;
}

int main(void)
{
	const struct timespec pause = {0, HOLD_MS * 1000000};
	struct rusage used;
	siginfo_t info = {0};
	pthread_t thread;
	int status = 0, rc;
	pid_t pid;

	pthread_barrier_init(&barrier, NULL, 2);
	socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends);
	pthread_create(&thread, NULL, other, NULL);
	atomic_store(&turn, 1);
	rc = pthread_barrier_wait(&barrier);
	printf("barrier %d\n", rc == 0 || rc == PTHREAD_BARRIER_SERIAL_THREAD);
	atomic_store(&turn, 2);
	while (atomic_load(&word) != 2)
		futex(FUTEX_WAIT, 0);
	atomic_store(&turn, 3);
	while (atomic_load(&word) != 3)
		futex(FUTEX_WAIT_BITSET, 2);
	errno = 0;
	printf("futex %ld", futex(FUTEX_WAIT, 7));
	printf(" %s\n", strerrorname_np(errno));
	printf("sendmsg %d\n", fill_and_send());
	pthread_join(thread, NULL);
	pid = child();
	printf("wait4 %d\n", wait4(pid, &status, 0, &used) == pid);
	pid = child();
	rc = waitid(P_PID, (id_t)pid, &info, WEXITED);
	printf("waitid %d %d\n", rc, info.si_status);
	fflush(stdout);
	printf("system %d\n", system("sleep 0.02; exit 3"));
	printf("pselect %d\n", pselect(0, NULL, NULL, NULL, &pause, NULL));
	printf("sleep %u\n", sleep(1));
	errno = 0;
	rc = (int)wait4(-1, NULL, 0, NULL);
	printf("nobody %d %s\n", rc, strerrorname_np(errno));
	return 0;
}
