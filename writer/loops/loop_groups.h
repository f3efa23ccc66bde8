/* SPDX-License-Identifier: MIT */
/*
 * loop_groups.h - the marks of one thread, sorted for loop_nest.c: which site
 * each of them is, and which of them are hits of the same site in the same
 * context.
 */
#ifndef WRITER_LOOP_GROUPS_H
#define WRITER_LOOP_GROUPS_H

#include "writer/loops/loop.h"

/* Sites that are told apart, in the order in which they first came. */
#define LOOP_SITES_MAX	1024u

/* A mark's depth that is in no loop. */
#define LOOP_DEPTH_NONE 1u

/* What all marks of a site tell of the code around it. */
struct loop_code {
	uint16_t loop, depth; /* as in a mark; 0 not known, or not always */
	uint32_t caller;      /* the one place, 0 there are others */
	uint32_t hits, asked; /* marks, and those that tell it, */
	uint32_t early;	      /* ... when all others did, too */
	uint16_t place;	 /* the one that most come from, if there is one, */
	uint32_t placed; /* ... how many, */
	uint16_t around; /* ... and its innermost loop, 0 unknown */
	uint32_t always; /* marks that come in each turn of it, by the code */
	uint32_t needed; /* ... of a loop whose turns nothing counts */
	uint32_t turned; /* marks before which one loop alone turned */
};

/* Loops by number that are told apart. */
#define LOOP_LOOPS_MAX 256u

struct loop_groups {
	const struct loop_mark *marks;
	size_t count;
	uint64_t *keys;	 /* what tells groups apart, of each mark */
	uint32_t *site;	 /* of each mark: the group without context */
	uint32_t *order; /* marks, sorted by group */
	uint32_t *group; /* of each mark */
	uint32_t *start; /* of each group in `order`; one more than groups */
	uint32_t *table; /* marks by key, one of each group, plus 1 */
	size_t slots;
	size_t groups;
	size_t sites;
	struct loop_code *code;		/* of each site below LOOP_SITES_MAX */
	uint8_t within[LOOP_LOOPS_MAX]; /* of each loop the one around, 0 none,
					   or unknown */
};

/* The bytes that they take, and the same laid out in a room of that size. */
size_t loop_groups_room(size_t count);
void loop_groups_start(struct loop_groups *groups,
		       const struct loop_mark *marks, size_t count, void *room);

/* Groups all marks anew, each in the context of so many before it: 0, 1, 2,
 * then twice as many each, one after the other. */
void loop_groups_make(struct loop_groups *groups, unsigned int context);

/* The marks of group i, in order. */
static inline const uint32_t *loop_groups_hits(const struct loop_groups *groups,
					       size_t i, size_t *count)
{
	*count = groups->start[i + 1] - groups->start[i];
	return groups->order + groups->start[i];
}

/* A site is called from one place alone, once in each turn of a loop. */
bool loop_groups_is_once(const struct loop_groups *groups, size_t site);

/* It was seen to come once in each turn of a loop, and that to be in no other
 * that turns. */
bool loop_groups_is_turn(const struct loop_groups *groups, size_t site);

/* By the code it comes in some turns of the loop in which another comes once in
 * each: in the part of the run in which they were asked that came more often.
 */
bool loop_groups_is_besides(const struct loop_groups *groups, size_t site,
			    size_t other);

/* By the code it lies in a loop within the one in which another comes once in
 * each turn. */
bool loop_groups_is_within(const struct loop_groups *groups, size_t site,
			   size_t other);

/* By the code it lies in fewer loops than the other, and nothing says that they
 * are others: a test behind an epoch's batches has a loop of its own. */
bool loop_groups_may_be_around(const struct loop_groups *groups, size_t site,
			       size_t other);

/* The place of most of its calls lies in the same loop as that of another site,
 * and comes less often: whatever else calls them, before the loop, say. */
bool loop_groups_is_at_times(const struct loop_groups *groups, size_t site,
			     size_t other);

/* It is called from several places, all in the loop of another site, and one of
 * them comes once in each turn: more often than the other site. */
bool loop_groups_outnumbers(const struct loop_groups *groups, size_t site,
			    size_t other, size_t margin);

#endif
