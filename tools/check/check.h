/* SPDX-License-Identifier: MIT */
/*
 * check.h - one trace file against all rules of the format.
 */
#ifndef TOOLS_CHECK_H
#define TOOLS_CHECK_H

#include "tools/check/fault_list.h"

struct check_result {
	uint64_t events;
	uint64_t faults, warnings;
	bool readable;
};

/* Reads the file and prints each fault on `out`, then a summary line; what
 * keeps it from being read goes to `out` too.  0, or -errno of the reader. */
int check_trace(const char *path, FILE *out, struct check_result *result);

#endif
