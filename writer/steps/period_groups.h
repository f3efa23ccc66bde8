/* SPDX-License-Identifier: MIT */
/*
 * period_groups.h - the marks of one thread, for period.c: what each stretch of
 * them is made of, and which of them are hits of the same site.
 *
 * Sites are sorted into a few buckets, and for each mark the sums over all
 * marks before it are kept; so what a stretch is made of is one subtraction.
 */
#ifndef WRITER_PERIOD_GROUPS_H
#define WRITER_PERIOD_GROUPS_H

#include "writer/steps/period.h"

#define PERIOD_BUCKETS 16u

struct period_groups {
	const struct period_mark *marks;
	size_t count;
	uint32_t (*sums)[PERIOD_BUCKETS]; /* count + 1 of them */
	uint64_t *keys;
	uint32_t *order; /* marks, sorted by group */
	uint32_t *group; /* of each mark */
	uint32_t *start; /* of each group in `order`; one more than groups */
	uint32_t *table; /* marks by key, one of each group, plus 1 */
	size_t slots;
	size_t groups;
};

/* The bytes that they take, and the same laid out in a room of that size. */
size_t period_groups_room(size_t count);
void period_groups_start(struct period_groups *groups,
			 const struct period_mark *marks, size_t count,
			 void *room);

/* Groups all marks anew, each in the context of so many before it. */
void period_groups_make(struct period_groups *groups, unsigned int context);

/* The marks of group i, in order. */
static inline const uint32_t *
period_groups_hits(const struct period_groups *groups, size_t i, size_t *count)
{
	*count = groups->start[i + 1] - groups->start[i];
	return groups->order + groups->start[i];
}

#endif
