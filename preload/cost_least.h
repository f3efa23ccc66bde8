/* SPDX-License-Identifier: MIT */
/*
 * cost_least.h - for cost.c: several batches of each kind are timed, and the
 * least of each counts.
 */
#ifndef PRELOAD_COST_LEAST_H
#define PRELOAD_COST_LEAST_H

#include "collector/system/base.h"

/* One batch of each of `kinds` in turn, `rounds` times: what lengthens some of
 * them for a while is in few of one kind. */
static inline void cost_least(uint64_t *least, int kinds, int rounds,
			      uint64_t (*batch)(void *of, int kind), void *of)
{
	for (int kind = 0; kind < kinds; kind++)
		least[kind] = UINT64_MAX;
	for (int round = 0; round < rounds; round++) {
		for (int kind = 0; kind < kinds; kind++)
			least[kind] = min_u64(least[kind], batch(of, kind));
	}
}

#endif
