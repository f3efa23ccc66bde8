/* SPDX-License-Identifier: MIT */
/*
 * contract.h - one trace file against all rules of the format.
 */
#ifndef TOOLS_CONTRACT_H
#define TOOLS_CONTRACT_H

#include "tools/fault_list.h"

struct contract_result {
	uint64_t events;
	uint64_t faults, warnings;
	bool readable;
};

/* Reads the file and prints each fault on `out`, then a summary line; what
 * keeps it from being read goes to `out` too.  0, or -errno of the reader. */
int contract_check(const char *path, FILE *out, struct contract_result *result);

#endif
