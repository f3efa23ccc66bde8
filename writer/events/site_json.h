/* SPDX-License-Identifier: MIT */
/*
 * site_json.h - lines of TRACEPROF_MALLOC=sites: what changed of the heap's
 * account as a whole, and after it of each stack's, since their last lines.
 *
 * All are differences but the peak: what was live when all together had most.
 * Their peaks are numbered; of a stack that has no line since the last one, its
 * share is what is live of it.  What was asked for, less than what blocks hold,
 * has a peak of its own.
 */
#ifndef WRITER_SITE_JSON_H
#define WRITER_SITE_JSON_H

#include "writer/state/writer_state.h"

#define SITE_SIZES 48 /* powers of two */

struct site_peak {
	int64_t bytes, blocks;
	uint64_t number;
};

/* In bytes that blocks hold, and in those that were asked for. */
struct site_peaks {
	struct site_peak held, asked;
};

struct site_sums {
	uint64_t calls, bytes, frees;
	int64_t spare, spare_live; /* of bytes and live: not asked for */
	int64_t live, blocks;
	uint64_t temporary; /* freed by the thread's next call */
	uint64_t foreign;   /* freed by another thread */
};

struct heap_sums {
	struct site_sums sums;
	uint64_t strange; /* frees of unknown blocks */
	uint64_t lost;	  /* blocks that nobody could note */
	uint64_t peak_ns, asked_peak_ns;
	uint64_t sizes[SITE_SIZES];
};

/* A peak of number 0 is not known. */
void site_json(struct writer_state *state, uint64_t ts_ns, uint32_t stack,
	       const struct site_sums *sums, const struct site_peaks *peaks);
void site_json_all(struct writer_state *state, uint64_t ts_ns,
		   const struct heap_sums *all, const struct site_peaks *peaks);

#endif
