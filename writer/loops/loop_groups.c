/* SPDX-License-Identifier: MIT */
/* loop_groups.c - sites and groups of marks; see loop_groups.h. */
#include "writer/loops/loop_groups.h"

#include <string.h>

/* Of a site's marks so many at least tell where it was called from, or half of
 * them: none is asked after the run's first thousands. */
#define ASKED_LEAST   16u
#define ASKED_OF      2u
/* Turns more of another site in the same loop. */
#define ASKED_BESIDES 2u
/* Loops around each other: at most. */
#define NESTED_MOST   16u

static size_t slots_for(size_t count)
{
	size_t slots = 64;

	while (slots < count * 2)
		slots *= 2;
	return slots;
}

size_t loop_groups_room(size_t count)
{
	return count * sizeof(uint64_t) + (count * 4 + 2) * sizeof(uint32_t) +
	       slots_for(count) * sizeof(uint32_t) +
	       LOOP_SITES_MAX * sizeof(struct loop_code);
}

static void lay_out(struct loop_groups *groups, void *room)
{
	const size_t count = groups->count;

	groups->keys = room;
	groups->site = (uint32_t *)(groups->keys + count);
	groups->order = groups->site + count;
	groups->group = groups->order + count;
	groups->start = groups->group + count;
	groups->table = groups->start + count + 2;
	groups->slots = slots_for(count);
	groups->code = (struct loop_code *)(groups->table + groups->slots);
}

/* A call in no loop is one before all of them, or behind: it tells nothing of
 * the others. */
static void add_code(struct loop_code *code, const struct loop_mark *mark)
{
	if (mark->depth == LOOP_DEPTH_NONE)
		return;
	code->hits++;
	if (!mark->caller)
		return;
	code->always += mark->is_always;
	code->needed += mark->is_needed;
	code->early += !mark->is_late;
	code->turned += mark->turn == SEARCH_TURN_NEXT && !mark->is_late;
	if (!code->asked++) {
		code->loop = mark->loop;
		code->depth = mark->depth;
		code->caller = mark->caller;
		return;
	}
	if (code->loop != mark->loop)
		code->loop = 0;
	if (code->depth != mark->depth)
		code->depth = 0;
	if (code->caller != mark->caller)
		code->caller = 0;
}

/* The place of most calls, if one has more than all others: each of those takes
 * one away. */
static void vote(struct loop_code *code, const struct loop_mark *mark)
{
	if (mark->depth == LOOP_DEPTH_NONE || !mark->caller || mark->is_late)
		return;
	if (!code->placed) {
		code->place = mark->caller;
		code->around = mark->loop;
	}
	if (code->place == mark->caller)
		code->placed++;
	else
		code->placed--;
}

/* How many those were. */
static void count_places(struct loop_groups *groups)
{
	for (size_t s = 0; s < LOOP_SITES_MAX; s++)
		groups->code[s].placed = 0;
	for (size_t i = 0; i < groups->count; i++) {
		const struct loop_mark *mark = &groups->marks[i];
		const uint32_t site = groups->site[i];

		if (site < LOOP_SITES_MAX && mark->depth != LOOP_DEPTH_NONE &&
		    mark->caller && !mark->is_late)
			groups->code[site].placed +=
				mark->caller == groups->code[site].place;
	}
}

/* By the code each of them comes once in each turn of a loop, and yet one comes
 * far more often (a turn that is left in the midst has some of them): a call
 * through a pointer, layers of several kinds.  What lies in that loop is known
 * to lie in so many, and no more. */
static void doubt_pointers(struct loop_groups *groups)
{
	const size_t sites = min_u64(groups->sites, LOOP_SITES_MAX);
	uint32_t least[LOOP_LOOPS_MAX], most[LOOP_LOOPS_MAX] = {0};

	memset(least, 0xff, sizeof(least));
	for (size_t s = 0; s < sites; s++) {
		const struct loop_code *code = &groups->code[s];

		if (!code->caller || !code->early ||
		    code->loop >= LOOP_LOOPS_MAX || code->always < code->asked)
			continue;
		least[code->loop] = min_u32(least[code->loop], code->early);
		most[code->loop] =
			(uint32_t)max_u64(most[code->loop], code->early);
	}
	for (size_t s = 0; s < sites; s++) {
		const uint16_t loop = groups->code[s].loop;

		if (loop < LOOP_LOOPS_MAX &&
		    most[loop] > 2 * least[loop] + ASKED_BESIDES)
			groups->code[s].loop = groups->code[s].around = 0;
	}
}

static void read_code(struct loop_groups *groups)
{
	memset(groups->code, 0, LOOP_SITES_MAX * sizeof(*groups->code));
	for (size_t i = 0; i < groups->count; i++) {
		const uint32_t site = groups->site[i];

		if (groups->marks[i].loop < LOOP_LOOPS_MAX &&
		    groups->marks[i].within)
			groups->within[groups->marks[i].loop] =
				groups->marks[i].within;
		if (site >= LOOP_SITES_MAX)
			continue;
		add_code(&groups->code[site], &groups->marks[i]);
		vote(&groups->code[site], &groups->marks[i]);
	}
	count_places(groups);
	doubt_pointers(groups);
}

bool loop_groups_is_once(const struct loop_groups *groups, size_t site)
{
	const struct loop_code *code = &groups->code[site];

	return site < LOOP_SITES_MAX && code->loop && code->caller &&
	       (code->asked >= min_u64(code->hits, ASKED_LEAST) ||
		(code->asked >= LOOP_HITS_LEAST &&
		 code->asked * ASKED_OF >= code->hits));
}

bool loop_groups_is_turn(const struct loop_groups *groups, size_t site)
{
	const struct loop_code *code = &groups->code[site];

	/* Before the first of them nothing was known. */
	return site < LOOP_SITES_MAX && code->caller &&
	       code->early >= min_u64(code->hits, ASKED_LEAST) &&
	       code->turned + 1 == code->early;
}

bool loop_groups_is_besides(const struct loop_groups *groups, size_t site,
			    size_t other)
{
	const struct loop_code *code = groups->code;

	return site < LOOP_SITES_MAX && code[site].loop &&
	       loop_groups_is_once(groups, other) &&
	       code[other].loop == code[site].loop &&
	       code[other].early > code[site].early + ASKED_BESIDES;
}

bool loop_groups_is_within(const struct loop_groups *groups, size_t site,
			   size_t other)
{
	const struct loop_code *code = groups->code;
	uint32_t loop = site < LOOP_SITES_MAX ? code[site].loop : 0;

	if (!loop_groups_is_once(groups, other))
		return false;
	for (unsigned int i = 0; i < NESTED_MOST && loop; i++) {
		loop = loop < LOOP_LOOPS_MAX ? groups->within[loop] : 0;
		if (loop == code[other].loop)
			return true;
	}
	return false;
}

bool loop_groups_may_be_around(const struct loop_groups *groups, size_t site,
			       size_t other)
{
	const struct loop_code *code = groups->code;
	const uint32_t loop = other < LOOP_SITES_MAX ? code[other].loop : 0;

	if (site >= LOOP_SITES_MAX || !code[site].depth ||
	    code[site].depth >= code[other].depth)
		return false;
	/* The next loop around is known by its number. */
	return code[site].depth + 1 < code[other].depth || !loop ||
	       loop >= LOOP_LOOPS_MAX || !code[site].loop ||
	       groups->within[loop] == code[site].loop;
}

bool loop_groups_is_at_times(const struct loop_groups *groups, size_t site,
			     size_t other)
{
	const struct loop_code *code = groups->code;

	return site < LOOP_SITES_MAX && other < LOOP_SITES_MAX &&
	       code[site].around && code[site].around == code[other].around &&
	       code[site].placed > ASKED_BESIDES &&
	       code[other].placed > code[site].placed + ASKED_BESIDES;
}

bool loop_groups_outnumbers(const struct loop_groups *groups, size_t site,
			    size_t other, size_t margin)
{
	const struct loop_code *code = &groups->code[site];

	return code->loop && code->loop == groups->code[other].loop &&
	       !code->caller &&
	       code->asked >= min_u64(code->hits, ASKED_LEAST) &&
	       code->placed > groups->code[other].early + margin;
}

/* What two groups stand for together. */
static uint64_t pair(uint32_t before, uint32_t at)
{
	return (uint64_t)before << 32 | at;
}

/* From the groups in a smaller context, as they are now: a site with one before
 * it is two sites; two runs that meet in one mark are twice as long a run. */
static void make_keys(struct loop_groups *groups, unsigned int context)
{
	const uint32_t *group = groups->group;

	if (!context) {
		for (size_t i = 0; i < groups->count; i++)
			groups->keys[i] = groups->marks[i].id;
		return;
	}
	for (size_t i = context; i < groups->count; i++)
		groups->keys[i] =
			context <= 2 ? pair(group[i - 1], groups->site[i])
				     : pair(group[i - context / 2], group[i]);
}

static size_t slot_of(const struct loop_groups *groups, uint64_t key)
{
	key = (key ^ key >> 32) * UINT64_C(0x9e3779b97f4a7c15);
	return (key ^ key >> 29) & (groups->slots - 1);
}

/* The group of a key; found by a mark that is in it. */
static uint32_t group_of(struct loop_groups *groups, size_t mark)
{
	const uint64_t key = groups->keys[mark];
	size_t slot = slot_of(groups, key);

	for (;; slot = (slot + 1) & (groups->slots - 1)) {
		const uint32_t other = groups->table[slot];

		if (!other) {
			groups->table[slot] = (uint32_t)mark + 1;
			return (uint32_t)groups->groups++;
		}
		if (groups->keys[other - 1] == key)
			return groups->group[other - 1];
	}
}

void loop_groups_make(struct loop_groups *groups, unsigned int context)
{
	uint32_t sum = 0;

	groups->groups = 0;
	memset(groups->table, 0, groups->slots * sizeof(uint32_t));
	memset(groups->start, 0, (groups->count + 2) * sizeof(uint32_t));
	make_keys(groups, context);
	for (size_t i = context; i < groups->count; i++) {
		groups->group[i] = group_of(groups, i);
		groups->start[groups->group[i] + 1]++;
	}
	for (size_t i = 0; i <= groups->groups; i++) {
		sum += groups->start[i];
		groups->start[i] = sum;
	}
	/* Each group's start moves to its end while it is filled. */
	for (size_t i = context; i < groups->count; i++)
		groups->order[groups->start[groups->group[i]]++] = (uint32_t)i;
	for (size_t i = groups->groups; i; i--)
		groups->start[i] = groups->start[i - 1];
	groups->start[0] = 0;
}

void loop_groups_start(struct loop_groups *groups,
		       const struct loop_mark *marks, size_t count, void *room)
{
	*groups = (struct loop_groups){.marks = marks, .count = count};
	lay_out(groups, room);
	loop_groups_make(groups, 0);
	memcpy(groups->site, groups->group, count * sizeof(uint32_t));
	groups->sites = groups->groups;
	read_code(groups);
}
