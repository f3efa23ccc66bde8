/* SPDX-License-Identifier: MIT */
/* loop_level.c - what a group of hits cuts the marks into; see loop_level.h. */
#include "writer/loops/loop_level.h"

#include <string.h>

/* Of 100: turns that are about as long as the median; marks at sites that come
 * in each turn. */
#define DIFFER_MOST	  40u
#define DIFFER_IN_CONTEXT 20u
#define DIFFER_BY_CONTENT 20u
#define FEW_TURNS	  24u
#define HITS_IN_CONTEXT	  10u
#define NEIGHBOURS	  60u
#define ALWAYS		  95u
#define MASS_BY_CONTENT	  0.98
#define HELD_BY_CONTENT	  6u
#define MASS_LEAST	  0.7
/* Of turns of any length. */
#define BODY_TURNS	  15u
#define BODY_MASS	  0.9
/* At times: in one of so many turns, or fewer. */
#define SELDOM		  2u
/* So many times as often as on average comes what comes twice as often as in
 * most turns. */
#define TWICE		  1.6
/* Turns more of another site in the same loop. */
#define MISSED_AT_MOST	  2u
/* Of 10 marks of the run so many lie in turns that are all alike. */
#define STRICT		  9u
#define STRICT_OF	  10u

uint64_t loop_median(uint64_t *values, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		const uint64_t value = values[i];
		size_t at = i;

		for (; at && values[at - 1] > value; at--)
			values[at] = values[at - 1];
		values[at] = value;
	}
	return values[count / 2];
}

/* The median of what lies between hits: marks, or time where marks are given.
 * Where the turns are too many, of some. */
static uint64_t median(const struct loop_mark *marks, const uint32_t *hits,
		       size_t turns)
{
	const size_t count = turns < LOOP_SAMPLES ? turns : LOOP_SAMPLES;
	uint64_t values[LOOP_SAMPLES];

	for (size_t i = 0; i < count; i++) {
		const uint32_t *hit =
			hits +
			(turns <= LOOP_SAMPLES ? i : i * turns / LOOP_SAMPLES);

		values[i] = marks ? marks[hit[1]].ticks - marks[hit[0]].ticks
				  : hit[1] - hit[0];
	}
	return loop_median(values, count);
}

/* Hits that are far from all others are not the loop's, nor is what its body
 * does in part before the first turn or after the last. */
static void trim(const uint32_t **hits, size_t *count)
{
	const size_t length = median(NULL, *hits, *count - 1);
	const size_t far = 4 * length + 16;

	while (*count > 2 && (*hits)[1] - (*hits)[0] > far) {
		++*hits;
		--*count;
	}
	while (*count > 2 && (*hits)[*count - 1] - (*hits)[*count - 2] > far)
		--*count;
	/* Of many turns two that differ don't matter. */
	if (*count > FEW_TURNS || *count < HITS_IN_CONTEXT)
		return;
	if (((*hits)[*count - 1] - (*hits)[*count - 2]) * 2 < length)
		--*count;
	if (((*hits)[1] - (*hits)[0]) * 2 < length) {
		++*hits;
		--*count;
	}
}

/* A few turns that are alike by chance prove nothing, and of sites in context
 * there are many. */
static size_t may_differ(size_t turns, unsigned int context)
{
	if (turns < FEW_TURNS)
		return turns / 6;
	return turns * (context ? DIFFER_IN_CONTEXT : DIFFER_MOST) / 100;
}

/* Turns that aren't as long as most: more than `more` / `less` of that, or less
 * than the inverse. */
static size_t count_differing(const uint32_t *hits, size_t turns, size_t length,
			      unsigned int more, unsigned int less)
{
	size_t differ = 0;

	for (size_t i = 0; i < turns; i++) {
		const size_t this = hits[i + 1] - hits[i];

		differ += this * more < length * less ||
			  this * less > length * more;
	}
	return differ;
}

/* Of 100 hits so many have the same neighbour, before them or behind. */
static bool has_neighbour(const struct loop_groups *groups,
			  const uint32_t *hits, size_t count, int distance,
			  unsigned int percent)
{
	const size_t shift = (size_t)(int64_t)distance;
	uint32_t usual = 0;
	size_t votes = 0;
	size_t same = 0;

	/* The majority's, if there is one. */
	for (size_t i = 0; i < count; i++) {
		if (hits[i] + shift >= groups->count)
			continue;
		if (!votes)
			usual = groups->site[hits[i] + shift];
		if (groups->site[hits[i] + shift] == usual)
			votes++;
		else
			votes--;
	}
	for (size_t i = 0; i < count; i++)
		same += hits[i] + shift < groups->count &&
			groups->site[hits[i] + shift] == usual;
	return same * 100 >= count * percent;
}

/* Few turns may be regular by chance, but then they are in no order. */
static bool has_order(const struct loop_groups *groups, const uint32_t *hits,
		      size_t count)
{
	return count >= FEW_TURNS ||
	       (has_neighbour(groups, hits, count, -1, NEIGHBOURS) &&
		has_neighbour(groups, hits, count, 1, NEIGHBOURS));
}

/* Turns that differ in length by no more than half hold the same, and always
 * begin or end with it: an iteration that does more and more of one thing. */
static bool is_by_content(const struct loop_groups *groups,
			  const uint32_t *hits,
			  const struct loop_candidate *candidate)
{
	const struct loop_level *level = &candidate->level;

	return level->turns >= FEW_TURNS && level->mass >= MASS_BY_CONTENT &&
	       level->held >= HELD_BY_CONTENT &&
	       count_differing(hits, level->turns - 1, level->length, 2, 1) *
			       100 <=
		       level->turns * DIFFER_BY_CONTENT &&
	       (has_neighbour(groups, hits, level->turns, -1, ALWAYS) ||
		has_neighbour(groups, hits, level->turns, 1, ALWAYS));
}

static void count_sites(const struct loop_groups *groups, const uint32_t *hits,
			size_t turns, struct loop_scratch *scratch)
{
	const size_t bytes = min_u64(groups->sites, LOOP_SITES_MAX) *
			     sizeof(scratch->turn[0]);

	memset(scratch->turn, 0, bytes);
	memset(scratch->turns, 0, bytes);
	memset(scratch->inside, 0, bytes);
	for (size_t t = 0; t < turns; t++) {
		for (size_t i = hits[t]; i < hits[t + 1]; i++) {
			const uint32_t site = groups->site[i];

			if (site >= LOOP_SITES_MAX)
				continue;
			scratch->inside[site]++;
			scratch->turns[site] += scratch->turn[site] != t + 1;
			scratch->turn[site] = (uint32_t)t + 1;
		}
	}
}

/* One of 20 turns may lack a site, and one in any case if they are some. */
static size_t may_miss(size_t turns)
{
	const size_t misses = turns / 20;

	return misses ? misses : turns >= 8;
}

static void weigh(const struct loop_groups *groups, size_t turns,
		  const struct loop_scratch *scratch,
		  struct loop_candidate *candidate)
{
	const size_t sites = min_u64(groups->sites, LOOP_SITES_MAX);
	struct loop_level *level = &candidate->level;

	for (size_t s = 0; s < sites; s++) {
		level->mass += (double)scratch->inside[s] *
			       (double)scratch->turns[s] / (double)turns;
		if (!scratch->turns[s] ||
		    scratch->turns[s] + may_miss(turns) < turns)
			continue;
		candidate->held[s / 64] |= UINT64_C(1) << s % 64;
		level->held++;
		level->missing += turns - scratch->turns[s];
	}
	level->mass /= (double)(level->last - level->first);
}

/* The sites that it holds, into `held`, and how often each comes at least in a
 * turn that is two, into scratch->turns. */
static size_t expect_twice(const struct loop_groups *groups, size_t turns,
			   struct loop_scratch *scratch,
			   const struct loop_candidate *candidate,
			   uint32_t *held)
{
	const size_t sites = min_u64(groups->sites, LOOP_SITES_MAX);
	size_t count = 0;

	memset(scratch->turn, 0, sites * sizeof(scratch->turn[0]));
	for (uint32_t s = 0; s < sites; s++) {
		const double all = TWICE * (double)scratch->inside[s];
		uint32_t least = (uint32_t)(all / (double)turns);

		if (!loop_holds(candidate, s))
			continue;
		least += (double)least * (double)turns < all;
		scratch->turns[s] = least;
		held[count++] = s;
	}
	return count;
}

/* Turns in which all that the level holds comes about twice as often as in
 * others.  Only a marker with context can fall out: something came before it.
 */
static size_t count_missed(const struct loop_groups *groups,
			   const uint32_t *hits, size_t turns,
			   struct loop_scratch *scratch,
			   const struct loop_candidate *candidate)
{
	uint32_t held[LOOP_SITES_MAX];
	const size_t count =
		expect_twice(groups, turns, scratch, candidate, held);
	size_t missed = 0;

	for (size_t t = 0; t < turns; t++) {
		size_t twice = 0;

		for (size_t i = hits[t] + 1; i <= hits[t + 1]; i++) {
			if (groups->site[i] < LOOP_SITES_MAX)
				scratch->turn[groups->site[i]]++;
		}
		for (size_t i = 0; i < count; i++)
			twice += scratch->turn[held[i]] >=
				 scratch->turns[held[i]];
		for (size_t i = hits[t] + 1; i <= hits[t + 1]; i++) {
			if (groups->site[i] < LOOP_SITES_MAX)
				scratch->turn[groups->site[i]] = 0;
		}
		missed += twice == count;
	}
	return missed;
}

static uint64_t key_of(const struct loop_mark *marks, size_t at,
		       unsigned int context)
{
	uint64_t ids[SEARCH_CONTEXT_MAX + 1];

	for (unsigned int i = 0; i <= context; i++)
		ids[i] = marks[at - context + i].id;
	return search_key(ids, context);
}

/* In its own loop another site comes more often, each turn of that: it is what
 * some turns do besides.  Where the code isn't told of all its hits, since
 * it came from other places later, that counts which was asked. */
static bool is_in_some_turns(const struct loop_groups *groups, size_t hits,
			     size_t turns, uint32_t marker, bool is_own,
			     const struct loop_scratch *scratch)
{
	const size_t sites = min_u64(groups->sites, LOOP_SITES_MAX);
	bool is_part;

	if (marker >= sites || !groups->code[marker].loop)
		return false;
	is_part = hits + MISSED_AT_MOST < groups->code[marker].hits;
	for (uint32_t s = 0; s < sites; s++) {
		const bool is_more =
			scratch->inside[s] > turns + MISSED_AT_MOST ||
			groups->code[s].hits > hits + MISSED_AT_MOST;

		/* Its own is: a loop of it alone in each turn. */
		if (is_own && s == marker)
			continue;
		if ((is_more && is_part && loop_groups_is_once(groups, s) &&
		     groups->code[s].loop == groups->code[marker].loop) ||
		    (is_more && loop_groups_is_besides(groups, marker, s)) ||
		    loop_groups_outnumbers(groups, s, marker, MISSED_AT_MOST))
			return true;
	}
	return false;
}

/* By the code what comes before a hit lies in another loop, and not in one
 * within the marker's: each hit is the first of its loop's turns, when that is
 * entered, and it is entered no more often. */
static bool is_entry(const struct loop_groups *groups, size_t hits,
		     const struct loop_level *level)
{
	const struct loop_code *code = groups->code;
	const uint32_t marker = groups->site[level->first];
	size_t entries = 0;

	if (!level->context || marker >= LOOP_SITES_MAX)
		return false;
	for (size_t i = 1; i < groups->count; i++) {
		const uint32_t before = groups->site[i - 1];

		if (groups->site[i] != marker || before == marker)
			continue;
		if (before >= LOOP_SITES_MAX || !code[before].loop ||
		    code[before].loop == code[marker].loop ||
		    loop_groups_is_within(groups, before, marker))
			return false;
		entries++;
	}
	return entries <= hits + MISSED_AT_MOST;
}

/* What its loop has once in a turn comes twice from one of its calls to the
 * next: it is what some turns do, and others do something else. */
static bool is_one_way(const struct loop_groups *groups, uint32_t site)
{
	uint32_t turn[LOOP_SITES_MAX] = {0};
	uint32_t now = 0;

	for (size_t i = 0; i < groups->count; i++) {
		const uint32_t other = groups->site[i];

		now += other == site;
		if (!now || other == site || other >= LOOP_SITES_MAX)
			continue;
		if (turn[other] == now && loop_groups_is_once(groups, other) &&
		    groups->code[other].loop == groups->code[site].loop)
			return true;
		turn[other] = now;
	}
	return false;
}

/* Nothing comes more than a few times but what lies in the same loop, and that
 * is the only one. */
static bool is_alone(const struct loop_groups *groups, uint32_t site)
{
	const size_t sites = min_u64(groups->sites, LOOP_SITES_MAX);
	const bool is_turn = loop_groups_is_turn(groups, site);

	if (groups->sites > sites ||
	    (!is_turn && (groups->code[site].depth != 1 + 1 ||
			  !loop_groups_is_once(groups, site))))
		return false;
	for (uint32_t s = 0; s < sites; s++) {
		if (groups->code[s].hits < LOOP_HITS_LEAST)
			continue;
		if (is_turn && s != site && !groups->code[s].loop)
			return false;
		if (groups->code[s].loop != groups->code[site].loop ||
		    groups->code[s].hits > groups->code[site].hits)
			return false;
	}
	return is_turn || !is_one_way(groups, site);
}

/* Most of the run is one site so many times, and then another so many times, of
 * which the marker is the last: they prove something though they are but two.
 * More of them in a turn may be some turns of a shorter loop. */
static bool are_alike(const struct loop_groups *groups,
		      const struct loop_candidate *candidate)
{
	const struct loop_level *level = &candidate->level;
	const uint32_t *site = groups->site;
	size_t changes = 0;

	if (!level->context || level->held < 2 ||
	    level->first + level->length > level->last ||
	    level->marks * STRICT_OF < groups->count * STRICT)
		return false;
	for (size_t i = level->first; i < level->first + level->length; i++)
		changes += site[i] != site[i + 1];
	for (size_t i = level->first + level->length; i <= level->last; i++) {
		if (site[i] != site[i - level->length])
			return false;
	}
	return changes == 2 && site[level->first] != site[level->first + 1];
}

/* The share of what comes in each turn of all but what the code says some turns
 * do besides, in a loop of its own as often as it needs: parameters that are
 * fitted each tenth turn. */
static double mass_of_each(const struct loop_groups *groups,
			   const struct loop_scratch *scratch,
			   const struct loop_candidate *candidate)
{
	const struct loop_level *level = &candidate->level;
	const uint32_t marker = groups->site[level->first];
	size_t besides = 0;

	if (marker >= LOOP_SITES_MAX ||
	    groups->code[marker].always < groups->code[marker].asked)
		return level->mass;
	for (size_t s = 0; s < min_u64(groups->sites, LOOP_SITES_MAX); s++) {
		if (!loop_holds(candidate, (uint32_t)s) &&
		    scratch->turns[s] * SELDOM < level->turns &&
		    loop_groups_is_within(groups, s, marker))
			besides += scratch->inside[s];
	}
	return level->mass * (double)level->marks /
	       (double)(level->marks - besides);
}

/* How many hits of a group lie between two of a site's: by one more or less
 * always as many? */
static bool is_even(const struct loop_groups *groups, const uint32_t *hits,
		    size_t count, uint32_t site)
{
	size_t at = 0, before = 0, times = 0;
	size_t least = SIZE_MAX, most = 0;

	for (size_t i = 0; i <= groups->count; i++) {
		for (; at < count && hits[at] < i; at++)
			;
		if (i < groups->count && groups->site[i] != site)
			continue;
		/* What comes before the first, or after the last, if any. */
		if ((times++ && i < groups->count) || at > before) {
			least = min_u64(least, at - before);
			most = max_u64(most, at - before);
		}
		before = at;
	}
	return most <= least + 1;
}

/* A loop around it that turns but a few times, now with so many turns and now
 * with others: a search from three places. */
static bool is_in_a_few(const struct loop_groups *groups, const uint32_t *hits,
			size_t count)
{
	const uint32_t marker = groups->site[hits[0]];

	for (uint32_t s = 0; s < min_u64(groups->sites, LOOP_SITES_MAX); s++) {
		if (groups->code[s].hits > 1 &&
		    groups->code[s].hits < LOOP_HITS_LEAST &&
		    loop_groups_is_within(groups, marker, s) &&
		    !is_even(groups, hits, count, s))
			return true;
	}
	return false;
}

/* Turns of any length, of which the code says that each has it: sentences, or
 * levels of a graph, as many as there are. */
static bool is_body(const struct loop_groups *groups, const uint32_t *hits,
		    const struct loop_candidate *candidate)
{
	const struct loop_level *level = &candidate->level;
	const uint32_t marker = groups->site[level->first];

	return level->turns >= BODY_TURNS && level->held > 1 &&
	       level->mass >= BODY_MASS &&
	       loop_groups_is_once(groups, marker) &&
	       groups->code[marker].always == groups->code[marker].asked &&
	       !is_in_a_few(groups, hits, level->turns);
}

/* A loop of one site proves nothing: it may come several times in a step. */
static bool is_proved(const struct loop_groups *groups, const uint32_t *hits,
		      enum loop_told told, bool is_strict,
		      const struct loop_scratch *scratch,
		      const struct loop_candidate *candidate)
{
	const struct loop_level *level = &candidate->level;

	switch (told) {
	case LOOP_BY_LENGTH:
		return mass_of_each(groups, scratch, candidate) >= MASS_LEAST &&
		       (level->held > 1 + !!level->context || is_strict);
	case LOOP_BY_CONTENT: return is_by_content(groups, hits, candidate);
	case LOOP_BY_BODY: return is_body(groups, hits, candidate);
	case LOOP_AROUND: return true;
	default: return is_alone(groups, groups->site[hits[0]]);
	}
}

bool loop_candidate_examine(const struct loop_groups *groups, size_t group,
			    unsigned int context, enum loop_told told,
			    struct loop_scratch *scratch,
			    struct loop_candidate *candidate)
{
	const size_t all = groups->start[group + 1] - groups->start[group];
	struct loop_level *level = &candidate->level;
	bool is_strict;
	size_t count;
	const uint32_t *hits = loop_groups_hits(groups, group, &count);

	if (count < LOOP_HITS_LEAST)
		return false;
	if (told < LOOP_BY_BODY) /* whose turns are of any length */
		trim(&hits, &count);
	if (count < (context ? HITS_IN_CONTEXT : LOOP_HITS_LEAST))
		return false;
	memset(candidate, 0, sizeof(*candidate));
	level->length = median(NULL, hits, count - 1);
	if (told == LOOP_BY_LENGTH &&
	    (count_differing(hits, count - 1, level->length, 4, 3) >
		     may_differ(count - 1, context) ||
	     !has_order(groups, hits, count)))
		return false;
	level->context = context;
	level->first = hits[0];
	level->last = hits[count - 1];
	level->turns = count;
	level->id = groups->marks[level->first].id;
	level->key = key_of(groups->marks, level->first, context);
	level->ticks = median(groups->marks, hits, count - 1);
	count_sites(groups, hits, count - 1, scratch);
	weigh(groups, count - 1, scratch, candidate);
	level->marks = level->last - level->first;
	is_strict = told == LOOP_BY_LENGTH && are_alike(groups, candidate);
	if (is_in_some_turns(groups, all, count - 1, groups->site[hits[0]],
			     is_strict || is_entry(groups, all, level),
			     scratch))
		return false;
	if (context && level->mass >= MASS_LEAST)
		level->missed = count_missed(groups, hits, count - 1, scratch,
					     candidate);
	candidate->span = level->marks + level->length;
	return is_proved(groups, hits, told, is_strict, scratch, candidate);
}

void loop_level_count(const struct loop_groups *groups,
		      struct loop_level *level)
{
	const struct loop_mark *marks = groups->marks;
	bool is_in_loop = false;

	level->turns = 0;
	for (size_t i = level->first; i < groups->count; i++) {
		if (!loop_level_is_hit(level, marks, i))
			continue;
		if (!is_in_loop && marks[i].depth > LOOP_DEPTH_NONE &&
		    level->turns && level->turns < LOOP_HITS_LEAST) {
			level->begin = level->last + 1;
			level->first = i;
			level->turns = 0;
		}
		is_in_loop |= marks[i].depth != LOOP_DEPTH_NONE;
		level->turns++;
		level->last = i;
	}
}

uint64_t loop_level_next(const struct loop_mark *marks,
			 const struct loop_level *level)
{
	uint64_t next = 0;
	size_t votes = 0;

	for (size_t i = level->first; i < level->last; i++) {
		const uint64_t after = marks[i + 1].id;

		if (!loop_level_is_hit(level, marks, i))
			continue;
		/* The majority, if there is one. */
		if (!votes)
			next = after;
		if (after == next)
			votes++;
		else
			votes--;
	}
	return next;
}

uint64_t loop_level_period(const struct loop_level *level,
			   const struct loop_mark *marks)
{
	const size_t every = level->turns / LOOP_SAMPLES + 1;
	uint64_t ticks[LOOP_SAMPLES];
	uint64_t before = marks[level->first].ticks;
	size_t turns = 0, count = 0;

	for (size_t i = level->first + 1; i <= level->last; i++) {
		if (!loop_level_is_hit(level, marks, i))
			continue;
		if (turns++ % every == 0 && count < LOOP_SAMPLES)
			ticks[count++] = marks[i].ticks - before;
		before = marks[i].ticks;
	}
	return loop_median(ticks, count);
}

bool loop_level_is_in_context(const struct loop_level *level,
			      const struct loop_mark *marks, size_t at)
{
	return at >= level->context &&
	       key_of(marks, at, level->context) == level->key;
}

size_t loop_level_begin(const struct loop_level *level,
			const struct loop_mark *marks, size_t hit, size_t least)
{
	const size_t length = level->length;
	size_t best = hit + 1 > length ? hit + 1 - length : 0;
	size_t nearest = SIZE_MAX;

	if (hit > 2 * length)
		least = max_u64(least, hit - 2 * length);
	best = max_u64(best, least);
	for (size_t i = least; i <= hit; i++) {
		const size_t here = hit - i + 1;
		const size_t off =
			here > length ? here - length : length - here;

		if (marks[i].id == level->next && off < nearest) {
			nearest = off;
			best = i;
		}
	}
	return best;
}
