/* SPDX-License-Identifier: MIT */
/* aliases.c - the calls of traceprof_aliases.h, in C and in C++ alike. */
#include "traceprof_aliases.h"
#include <stdio.h>

static void each(const struct traceprof_total *total, void *arg)
{
	(void)total;
	++*(int *)arg;
}

static void work(void)
{
	PROFILE_FUNCTION();
	{
		PROFILE_SCOPE("inside");
	}
}

int main(void)
{
	int count = 0;

	profiler_start("aliases");
	work();
	profiler_end();
	profiler_get_results(each, &count);
	profiler_reset();
	profiler_report(0);
	puts("done");
	return 0;
}
