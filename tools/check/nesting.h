/* SPDX-License-Identifier: MIT */
/*
 * nesting.h - finds slices of one lane that cross.
 *
 * A slice is written when it ends, so children come before their parents and
 * no prefix of the file can be judged by itself.  Start and end of each slice
 * are therefore kept, 16 bytes a slice, and sorted at the end: the one part of
 * `traceprof check` whose memory follows the length of the file.
 */
#ifndef TOOLS_NESTING_H
#define TOOLS_NESTING_H

#include <stddef.h>
#include <stdint.h>

struct nesting {
	struct nesting_lane *lanes;
	size_t lane_count;
};

struct nesting_span {
	int64_t start_ns, end_ns;
};

void nesting_add(struct nesting *nesting, uint32_t lane,
		 struct nesting_span span);

/* Calls crossing() for each slice that begins inside `outer` and ends behind
 * it; slices that only touch, and equal ones, do not cross. */
void nesting_check(struct nesting *nesting,
		   void (*crossing)(void *arg, uint32_t lane,
				    struct nesting_span outer,
				    struct nesting_span span),
		   void *arg);

void nesting_free(struct nesting *nesting);

#endif
