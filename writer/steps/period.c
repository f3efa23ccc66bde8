/* SPDX-License-Identifier: MIT */
/*
 * period.c - the choice of a step's marker; see period.h.
 *
 * For each order of context the marks are grouped by site, and each group is
 * examined: does it mark the turns of a loop?  Of the loops found so, one is
 * the step.
 */
#include "writer/steps/period.h"

#include "writer/steps/period_loop.h"
#include <errno.h>
#include <string.h>

#define LOOPS_MAX     256u

/* A loop around a short one with at most so many turns of it may be the step;
 * a short one must turn so often before that can be told. */
#define INNER_MOST    40u
#define INNER_REPEATS 128u
/* Of 100 sites, those that two loops share if they are of one kind. */
#define SHARED_LEAST  80u

static const unsigned int contexts[] = {0, 1, 2, 4, SEARCH_CONTEXT_MAX};

#define CONTEXTS (sizeof(contexts) / sizeof(contexts[0]))

struct finder {
	struct period_groups groups;
	const struct period_needs *needs;
	struct period_loop loops[LOOPS_MAX];
	size_t loop_count;
};

size_t period_room(size_t count)
{
	return align_up(sizeof(struct finder), CACHE_LINE) +
	       period_groups_room(count);
}

static bool is_same_loop(const struct period_loop *a,
			 const struct period_loop *b)
{
	return a->hits * 10 >= b->hits * 7 && b->hits * 10 >= a->hits * 7;
}

/* With context only what a loop has no better marker for without. */
static void keep(struct finder *finder, const struct period_loop *loop)
{
	for (size_t i = 0; loop->context && i < finder->loop_count; i++) {
		const struct period_loop *other = &finder->loops[i];

		if (other->context < loop->context &&
		    other->unlike <= loop->unlike && is_same_loop(other, loop))
			return;
	}
	if (finder->loop_count < LOOPS_MAX)
		finder->loops[finder->loop_count++] = *loop;
}

static bool is_going_on(const struct finder *finder,
			const struct period_loop *c)
{
	return finder->needs->is_over ||
	       finder->groups.count - c->last <= 4 * c->length + 16;
}

/* The best marker of the loop that `any` is one of: of those that have about
 * the fewest exceptions the one with the least context, then the one that comes
 * last in the first turn.  What only training does, and not evaluation, stands
 * at its end. */
static const struct period_loop *best_of(const struct finder *finder,
					 const struct period_loop *any)
{
	const struct period_loop *best = NULL;
	size_t unlike = any->unlike;
	size_t first = any->first;

	for (size_t i = 0; i < finder->loop_count; i++) {
		const struct period_loop *loop = &finder->loops[i];

		if (!is_same_loop(loop, any))
			continue;
		unlike = min_u64(unlike, loop->unlike);
		first = min_u64(first, loop->first);
	}
	for (size_t i = 0; i < finder->loop_count; i++) {
		const struct period_loop *loop = &finder->loops[i];

		if (!is_same_loop(loop, any) ||
		    loop->unlike > unlike + unlike / 8 + 1 ||
		    loop->first > first + any->length)
			continue;
		if (!best || loop->context < best->context ||
		    (loop->context == best->context &&
		     loop->first > best->first))
			best = loop;
	}
	return best ? best : any;
}

/* The innermost loop among those that hold most of the marks. */
static const struct period_loop *innermost(const struct finder *finder)
{
	const struct period_loop *inner = NULL;
	size_t most = 0;

	for (size_t i = 0; i < finder->loop_count; i++) {
		if (finder->loops[i].marks > most)
			most = finder->loops[i].marks;
	}
	for (size_t i = 0; i < finder->loop_count; i++) {
		const struct period_loop *c = &finder->loops[i];

		if (c->marks * 2 < most || !is_going_on(finder, c))
			continue;
		if (!inner || c->hits > inner->hits)
			inner = c;
	}
	return inner;
}

/* The next loop around one. */
static const struct period_loop *around(const struct finder *finder,
					const struct period_loop *inner)
{
	const struct period_loop *next = NULL;

	for (size_t i = 0; i < finder->loop_count; i++) {
		const struct period_loop *c = &finder->loops[i];

		if (c->hits * 2 > inner->hits || c->marks * 2 < inner->marks ||
		    !is_going_on(finder, c))
			continue;
		if (!next || c->hits > next->hits)
			next = c;
	}
	return next;
}

/* What two loops, one in the other, have in common. */
struct shares {
	size_t sites; /* hit as often as the outer one turns */
	size_t own;   /* of them: about as often as the inner one does */
	size_t more;  /* hits of those beyond what its turns take */
	size_t other; /* hits of all others while it turns */
};

static struct shares share(struct finder *finder,
			   const struct period_loop *inner,
			   const struct period_loop *outer)
{
	struct shares shares = {0};
	size_t hits_of_own = 0;

	period_groups_make(&finder->groups, 0);
	for (size_t i = 0; i < finder->groups.groups; i++) {
		size_t within = 0;
		size_t count;
		const uint32_t *hits =
			period_groups_hits(&finder->groups, i, &count);

		for (size_t j = 0; j < count; j++)
			within += hits[j] >= inner->first &&
				  hits[j] < inner->last;
		shares.sites += within * 2 >= outer->hits;
		if (within * 2 >= inner->hits) {
			shares.own++;
			hits_of_own += within;
		} else {
			shares.other += within;
		}
	}
	if (hits_of_own > (inner->hits - 1) * inner->length)
		shares.more = hits_of_own - (inner->hits - 1) * inner->length;
	return shares;
}

/* Layers of a network, nodes of a tree: short, few to the turn of the loop
 * around them, and that loop has sites that they don't.  An evaluation is
 * around a step too, but does mostly what a step does. */
static bool is_part(struct finder *finder, const struct period_loop *inner,
		    const struct period_loop *outer)
{
	const struct shares shares = share(finder, inner, outer);

	return inner->ticks < finder->needs->short_ticks &&
	       inner->hits <= outer->hits * INNER_MOST &&
	       shares.own * 100 < shares.sites * SHARED_LEAST &&
	       shares.more < shares.other;
}

/* Not yet to be told: right before a short loop there are sites that were hit
 * too seldom to know what loop is theirs. */
static bool may_be_part(struct finder *finder, const struct period_loop *inner)
{
	const size_t reach = inner->length + 8;
	const size_t from = inner->first > reach ? inner->first - reach : 0;

	if (finder->needs->is_over ||
	    inner->ticks >= finder->needs->short_ticks)
		return false;
	period_groups_make(&finder->groups, 0);
	for (size_t i = 0; i < finder->groups.groups; i++) {
		size_t count;
		const uint32_t *hits =
			period_groups_hits(&finder->groups, i, &count);

		if (count < PERIOD_LOOP_HITS && hits[0] <= inner->first &&
		    hits[count - 1] >= from)
			return true;
	}
	return false;
}

static void find_loops(struct finder *finder)
{
	struct period_groups *groups = &finder->groups;
	struct period_loop loop;

	for (size_t i = 0; i < CONTEXTS && contexts[i] < groups->count; i++) {
		period_groups_make(groups, contexts[i]);
		for (size_t g = 0; g < groups->groups; g++) {
			if (period_loop_examine(groups, g, contexts[i], &loop))
				keep(finder, &loop);
		}
	}
}

int period_find(const struct period_mark *marks, size_t count,
		const struct period_needs *needs, void *room,
		struct period *found)
{
	struct finder *finder = room;
	const struct period_loop *step;
	const struct period_loop *outer;

	if (count < needs->repeats)
		return -ENOENT;
	memset(finder, 0, sizeof(*finder));
	finder->needs = needs;
	period_groups_start(&finder->groups, marks, count,
			    (char *)room +
				    align_up(sizeof(*finder), CACHE_LINE));
	find_loops(finder);
	step = innermost(finder);
	while (step && (outer = around(finder, step)) &&
	       is_part(finder, step, outer))
		step = outer;
	if (!step)
		return -ENOENT;
	step = best_of(finder, step);
	if (step->hits < needs->repeats ||
	    (step->hits < INNER_REPEATS && may_be_part(finder, step)) ||
	    marks[step->last].ticks - marks[step->first].ticks <
		    needs->span_ticks)
		return -ENOENT;
	*found = (struct period){
		.id = step->id,
		.context = step->context,
		.key = step->key,
		.first = step->first,
		.steps = step->hits,
		.ticks = step->ticks,
		.outer = period_loop_outer(&finder->groups, step)};
	return 0;
}
