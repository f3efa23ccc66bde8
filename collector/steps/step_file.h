/* SPDX-License-Identifier: MIT */
/*
 * step_file.h - TRACEPROF_STEP=@FILE: what `traceprof steps -o FILE` wrote.
 *
 * The first line is a value of TRACEPROF_STEP.  If it is auto a level may
 * follow, which is then the step, whatever else the search would find: a line
 * "regions", "ranges" or "calls", and the names of its sites as traces have
 * them, one a line, the marker's last.
 */
#ifndef COLLECTOR_STEP_FILE_H
#define COLLECTOR_STEP_FILE_H

#include "collector/control/search.h"

/* 0, or -ENOENT where it can't be read or holds no level after all. */
int step_file_read(const char *path, char *first, size_t bytes,
		   struct search_wanted *wanted);

/* "regions", by enum search_family; NULL beyond. */
const char *step_file_family(uint32_t family);

#endif
