/* SPDX-License-Identifier: MIT */
/* unfinished.c - `record` waits until the traces are whole. */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "tools/record/record.h"

#define LOOK_NS	  50000000
#define BAR_WIDTH 30u

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

void unfinished_wait(const char *folder)
{
	const struct timespec pause = {0, LOOK_NS};
	const bool is_seen = isatty(STDERR_FILENO);
	struct recovery_left left;
	bool is_shown = false;

	for (;;) {
		recovery_look_left(folder, &left);
		if (!left.files)
			break;
		if (is_seen)
			show(&left);
		is_shown = is_seen;
		nanosleep(&pause, NULL);
	}
	if (is_shown)
		fputs("\r\033[K", stderr);
}
