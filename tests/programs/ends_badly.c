/* SPDX-License-Identifier: MIT */
/*
 * ends_badly.c - ends with a timer that interrupts all that waits, and without
 * what it reads and writes.
 *
 *	ends_badly timer|closed
 */
#include "traceprof.h"
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static void on_alarm(int number)
{
	(void)number;
}

int main(int count, char **words)
{
	const struct sigaction action = {.sa_handler = on_alarm};
	const struct itimerval often = {{0, 5000}, {0, 5000}};

	traceprof_push("work");
	traceprof_pop();
	if (count > 1 && !strcmp(words[1], "closed")) {
		close(0);
		close(1);
	} else {
		sigaction(SIGALRM, &action, NULL);
		setitimer(ITIMER_REAL, &often, NULL);
	}
	return 0;
}
