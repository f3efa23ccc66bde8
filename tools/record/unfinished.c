/* SPDX-License-Identifier: MIT */
/* unfinished.c - `record` waits until the traces are whole. */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "tools/record/record.h"

#define LOOK_NS	       50000000
#define PATIENCE_LOOKS 200u
#define BAR_WIDTH      30u

static void show(const struct recovery_left *left)
{
	const unsigned int done =
		left->events ? (unsigned int)((double)left->written *
					      BAR_WIDTH / (double)left->events)
			     : 0;

	fputs("\rtraceprof record: writing the trace [", stderr);
	for (unsigned int i = 0; i < BAR_WIDTH; i++)
		fputc(i < done ? '#' : '.', stderr);
	fprintf(stderr, "] %3u %%", done * 100 / BAR_WIDTH);
	fflush(stderr);
}

/* Another file, other events in one, or time that it took. */
static bool is_further(const struct recovery_left *left,
		       const struct recovery_left *last)
{
	return left->files != last->files || left->written != last->written ||
	       left->cpu_ns != last->cpu_ns;
}

void unfinished_wait(const char *folder, int record_pid)
{
	const struct timespec pause = {0, LOOK_NS};
	const bool is_seen = isatty(STDERR_FILENO);
	struct recovery_left left, last = {0};
	unsigned int looks = 0;
	bool is_shown = false;

	for (;;) {
		recovery_look_left(folder, record_pid, &left);
		looks = is_further(&left, &last) ? 0 : looks + 1;
		last = left;
		if (!left.files || looks == PATIENCE_LOOKS)
			break;
		if (is_seen)
			show(&left);
		is_shown = is_seen;
		nanosleep(&pause, NULL);
	}
	if (is_shown)
		fputs("\r\033[K", stderr);
	if (left.files)
		fprintf(stderr,
			"traceprof record: %u trace%s not finished: who writes "
			"gets no further; when that has ended, traceprof "
			"recover %s finishes what is missing\n",
			left.files, left.files == 1 ? " is" : "s are", folder);
}
