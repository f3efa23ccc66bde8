/* SPDX-License-Identifier: MIT */
/*
 * gpu_behind.h - a GPU that is busy with what was launched before the file
 * begins.
 *
 * A window has the work that is launched in it.  Where the GPU is seconds
 * behind the host all of that runs later, and of what runs meanwhile nothing is
 * there.  But a stream does one thing after another: if the first work that the
 * file has of it waits once its call is over, the stream has other work, and
 * that was launched before the file begins.
 */
#ifndef TOOLS_GPU_BEHIND_H
#define TOOLS_GPU_BEHIND_H

#include "tools/model/run_timeline.h"

/* Until when some stream had such work, from the file's beginning on; 0: none
 * has.  After timeline_finish(), of a file that something was before. */
int64_t gpu_behind_until(const struct timeline *timeline);

#endif
