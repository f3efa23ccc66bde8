/* SPDX-License-Identifier: MIT */
/* progress.c - a bar on the terminal; see progress.h. */
#include "tools/util/progress.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FIRST_NS 500000000u
#define EACH_NS	 100000000u
#define CELLS	 40u

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void progress_begin(struct progress *progress, const char *what, uint64_t total)
{
	*progress = (struct progress){
		.what = what,
		.total = isatty(STDERR_FILENO) ? total : 0,
		.shown_ns = now_ns() + FIRST_NS - EACH_NS,
	};
}

void progress_at(struct progress *progress, uint64_t done)
{
	static const char full[] = "########################################";
	uint64_t now;
	unsigned int cells;

	if (!progress->total)
		return;
	now = now_ns();
	if (now < progress->shown_ns + EACH_NS)
		return;
	if (done > progress->total)
		done = progress->total;
	cells = (unsigned int)((double)done * CELLS / (double)progress->total);
	progress->shown_ns = now;
	progress->is_drawn = 1;
	fprintf(stderr, "\r%s [%-*.*s] %3.0f %%", progress->what, CELLS,
		(int)cells, full, (double)done * 100 / (double)progress->total);
	fflush(stderr);
}

void progress_end(struct progress *progress)
{
	if (progress->is_drawn)
		fprintf(stderr, "\r%*s\r",
			(int)(strlen(progress->what) + CELLS + 9), "");
	progress->is_drawn = 0;
}
