/* SPDX-License-Identifier: MIT */
/*
 * gpu_behind.h - a GPU that is busy with what was launched before the file
 * begins.
 *
 * A window has the work that is launched in it.  Where the GPU is seconds
 * behind the host all of that runs later.  Of what runs meanwhile the file has,
 * without a call, what was launched between two windows, and nothing of what
 * belongs to an earlier one.  But a stream does one thing after another:
 *
 *	until the last work that was launched before the file begins it has no
 *	need of the host, whether it runs or waits;
 *
 *	if the first work that was launched in the file waits once its call is
 *	over, the stream has other work till then.
 *
 * So what lies before that, and is no work of the stream in the file, is work
 * that the file doesn't have.
 */
#ifndef TOOLS_GPU_BEHIND_H
#define TOOLS_GPU_BEHIND_H

#include "tools/model/run_timeline.h"

struct gpu_unseen {
	int64_t start_ns, end_ns;
};

struct gpu_behind {
	/* When some stream was at work that isn't in the file; they are apart,
	 * and by time. */
	struct gpu_unseen *unseen;
	size_t count, capacity;
	/* Until when some stream had what was launched before; INT64_MIN: none
	 * had. */
	int64_t until_ns;
	int64_t kernels, kernels_ns; /* in the file, launched before it */
};

/* After timeline_finish(), of a file that something was before. */
void gpu_behind_find(struct gpu_behind *behind,
		     const struct timeline *timeline);
void gpu_behind_free(struct gpu_behind *behind);

#endif
