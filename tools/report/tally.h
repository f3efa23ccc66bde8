/* SPDX-License-Identifier: MIT */
/*
 * tally.h - calls and time per category and name.
 */
#ifndef TOOLS_TALLY_H
#define TOOLS_TALLY_H

#include "tools/util/histogram.h"
#include "tools/util/key_table.h"
#include "tools/util/text_buffer.h"

struct total {
	const char *category, *name; /* filled in by tally_list() */
	int64_t calls;
	int64_t total_ns; /* one inside another of its name counted once */
	int64_t sum_ns;	  /* of all calls */
	int64_t min_ns, max_ns;
	int64_t bytes;
	int64_t self_ns;	   /* without what lies inside; -1 not known */
	int64_t gpu_ns;		   /* of what was launched inside */
	int64_t gpu_self_ns;	   /* and in no other name inside; by name */
	int64_t counted;	   /* of the calls, in the histogram */
	double mean_ns, square_ns; /* of those, and sum of squared distances */
	struct histogram *histogram;
	bool is_estimated; /* scaled up from some of the calls */
};

struct tally {
	struct key_table rows;	/* struct total, by category, NUL, name */
	struct key_table nests; /* struct tally_nest, by row and lane */
	struct text_buffer key; /* scratch */
};

/* A slice. */
struct tally_call {
	uint32_t lane;
	int64_t start_ns, dur_ns, bytes;
};

/* Of the calls of one name on one lane the last ones are kept to tell which
 * lies in which; beyond so many the oldest are joined. */
#define TALLY_KEPT 256u

enum tally_order {
	ORDER_TOTAL,
	ORDER_SELF,
	ORDER_CALLS,
	ORDER_AVERAGE,
	ORDER_MEDIAN,
	ORDER_P95,
	ORDER_P99,
	ORDER_MIN,
	ORDER_MAX,
	ORDER_DEVIATION,
	ORDER_GPU,
	ORDER_GPU_SELF,
	ORDER_NAME,
};

/* Between the calls; what isn't known of sums that others made is 0. */
double total_deviation_ns(const struct total *row);
int64_t total_quantile_ns(const struct total *row, double share);

/* The number of its row. */
uint32_t tally_add(struct tally *tally, const char *category, const char *name,
		   size_t name_len, struct tally_call call);

/* Sums that somebody else has made. */
void tally_put(struct tally *tally, const char *category, const char *name,
	       size_t name_len, const struct total *sums);

/* The row of a name that has calls, NULL none; valid until one is added. */
struct total *tally_find(const struct tally *tally, const char *category,
			 const char *name);

/* The rows of one category, largest first (names: from a to z), equal ones by
 * their total; free() them.  *count may become 0. */
struct total *tally_list(const struct tally *tally, const char *category,
			 enum tally_order order, size_t *count);

/* Calls back once for each category: the host's, the GPU's, then the others. */
void tally_categories(const struct tally *tally,
		      void (*category)(void *arg, const char *name), void *arg);

void tally_free(struct tally *tally);

#endif
