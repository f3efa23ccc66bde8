/* SPDX-License-Identifier: MIT */
/*
 * heap_account.h - what a log of memory comes to: for each memory and each
 * stack what was allocated, what was live at the peak and at the end, and what
 * was freed at once; and how what is live went on from step to step.
 */
#ifndef TOOLS_HEAP_ACCOUNT_H
#define TOOLS_HEAP_ACCOUNT_H

#include "tools/memory/heap_log.h"

/* What is live after a step; only where it changed. */
struct heap_point {
	uint32_t step;
	int64_t live;
};

/* One stack in one memory. */
struct heap_site {
	uint32_t stack, space;
	int64_t calls, bytes, frees;
	int64_t live, live_blocks;
	int64_t peak, peak_blocks; /* at the memory's peak */
	int64_t temporary; /* freed by what the thread did next with memory */
	int64_t foreign;   /* freed by another thread */
	uint64_t peak_number; /* of that peak */
	struct heap_point *points;
	size_t point_count, point_capacity;
};

/* Shorter runs without steps grow by nature: nothing is said of them. */
#define HEAP_SECONDS_MIN 10

/* What was asked for, or (heap_log_count_asked()) is held. */
struct heap_measure {
	int64_t bytes, live, peak;
};

struct heap_sum {
	int64_t calls, bytes, frees, live, live_blocks;
	int64_t peak, peak_ns;
	struct heap_measure other; /* in the log's other measure */
	int64_t temporary, foreign;
	int64_t strange_frees; /* of blocks that are older than the trace */
	uint64_t peak_number;
	int64_t *live_at; /* of each point */
	int64_t sizes[HEAP_SIZES];
};

struct heap_account {
	const struct heap_log *log;
	struct key_table table; /* rows: struct heap_site */
	struct heap_sum sums[HEAP_SPACES_MAX];
	int64_t *point_ns; /* the ends of steps, or of equal parts */
	bool *told;	   /* of sites: a row says what was live in it */
	size_t points;
	bool points_are_steps;
};

/* Between two times; INT64_MIN and INT64_MAX: all of it. */
void heap_account_make(struct heap_account *account, const struct heap_log *log,
		       int64_t from_ns, int64_t to_ns);
void heap_account_free(struct heap_account *account);

static inline size_t heap_account_sites(const struct heap_account *account)
{
	return account->table.count;
}

static inline struct heap_site *
heap_account_site(const struct heap_account *account, size_t number)
{
	return key_table_row(&account->table, number);
}

#endif
