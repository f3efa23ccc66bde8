/* SPDX-License-Identifier: MIT */
/*
 * hostile.c - regions and blocks in surroundings that are not friendly.
 *
 *	hostile WHAT [milliseconds]	0: until its standard input ends
 *
 * WHAT:	calm	 nothing special
 *		fds	 every descriptor that may be open is open
 *		storm	 1 kHz timer, no SA_RESTART, handlers that allocate
 *		memory	 RLIMIT_AS a little above what is in use
 *		nowhere	 the working folder is gone
 *
 * Prints one line that does not depend on how fast it was.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define FDS_MAX 65536

static volatile sig_atomic_t handled, may_allocate;
static int fds[FDS_MAX];

__attribute__((noinline)) static int hostile_region(void)
{
	int sum = 0;

#pragma omp parallel num_threads(2) reduction(+ : sum)
	sum += 1;
	return sum;
}

static long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The handler allocates where this thread is outside of malloc: see work().
 * libgomp allocates in the first region, and printf() before its first line. */
static void on_timer(int number)
{
	void *volatile block = may_allocate ? malloc(70000) : NULL;

	(void)number;
	free(block);
	handled++;
}

static int goes_on(long ms, long end)
{
	struct pollfd input = {.fd = 0, .events = POLLIN};

	return ms ? now_ms() < end : !poll(&input, 1, 0);
}

static void work(long ms)
{
	const long end = now_ms() + ms;
	sigset_t alarms;
	int wrong = 0;

	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	while (goes_on(ms, end)) {
		char *volatile block;

		wrong += hostile_region() != 2;
		may_allocate = 1;
		sigprocmask(SIG_BLOCK, &alarms, NULL);
		block = malloc(100000);
		if (block)
			block[0] = 1;
		free(block);
		sigprocmask(SIG_UNBLOCK, &alarms, NULL);
		usleep(100);
	}
	may_allocate = 0;
	printf("%d regions went wrong\n", wrong);
}

static void open_all(void)
{
	int count = 0;

	while (count < FDS_MAX &&
	       (fds[count] = open("/dev/null", O_RDONLY)) >= 0)
		count++;
	if (errno != EMFILE && count < FDS_MAX)
		abort();
}

static void begin_storm(void)
{
	const struct itimerval timer = {{0, 1000}, {0, 1000}};
	const struct sigaction action = {.sa_handler = on_timer};

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}

static void end_storm(void)
{
	const struct itimerval none = {{0, 0}, {0, 0}};

	setitimer(ITIMER_REAL, &none, NULL);
	printf("handlers ran: %d\n", handled > 20);
}

/* Some 30 MB above what is mapped now. */
static void limit_memory(void)
{
	struct rlimit limit;
	FILE *file = fopen("/proc/self/statm", "r");
	unsigned long pages = 0;

	if (!file || fscanf(file, "%lu", &pages) != 1)
		abort();
	fclose(file);
	limit.rlim_cur = limit.rlim_max = pages * 4096 + (30u << 20);
	setrlimit(RLIMIT_AS, &limit);
}

static void leave_folder(void)
{
	char folder[] = "/tmp/hostile-XXXXXX";

	if (!mkdtemp(folder) || chdir(folder) || rmdir(folder))
		abort();
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "calm";
	const long ms = argc > 2 ? atol(argv[2]) : 1500;

	if (!strcmp(what, "fds"))
		open_all();
	else if (!strcmp(what, "storm"))
		begin_storm();
	else if (!strcmp(what, "memory"))
		limit_memory();
	else if (!strcmp(what, "nowhere"))
		leave_folder();
	work(ms);
	if (!strcmp(what, "storm"))
		end_storm();
	return 7;
}
