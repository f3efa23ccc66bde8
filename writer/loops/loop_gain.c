/* SPDX-License-Identifier: MIT */
/* loop_gain.c - the turns of two levels, counted together; see loop_gain.h. */
#include "writer/loops/loop_gain.h"

#include "writer/loops/loop_midst.h"
#include <string.h>

/* Of 10 turns of a training so many are one of its forward passes; the others
 * are evaluations, too, of so many passes on average. */
#define SINGLE_OF     10u
#define SINGLE	      6u
#define MANY_AT_TIMES 4u
#define ONCE	      2u
#define PASS_SITES    2u
#define SHORTER	      7u
#define MOST	      9u
#define SELDOM	      4u
/* Longer than a turn by more than a quarter. */
#define LONGER	      5u
#define LONGER_OF     4u
/* A step that is rich holds so many sites. */
#define MANY_HELD     12u
#define VERY_MANY     24u
/* Turns from one report to the next: at most, and a multiple of these. */
#define MOST_BETWEEN  25u
#define DECIMAL	      5u
/* ... or one more than of these: it takes a turn itself.  Of 6 or 16 it may be
 * layers or classes just as well. */
#define TENS	      10u
/* Few outer turns tell nothing if each has more inner ones. */
#define TURNS_OF_FEW  7u
/* A step that adds up a few batches has no more of them. */
#define FEW_ADDED     8u
/* Marks of which the code was asked. */
#define ASKED_LEAST   2u
/* A little: less than one of so many parts of a turn, after no more turns. */
#define LITTLE	      3u
#define MOST_WITHIN   64.0
/* Outer turns to compare the end of the marks with. */
#define TURNS_LOOKED  4u

/* The inner level's turns, with the outer one's hits among them. */
struct turns {
	size_t usual;	      /* inner ones to an outer one */
	size_t same;	      /* outer turns that have as many */
	size_t single;	      /* ... that have one, */
	size_t more;	      /* ... and inner turns of all others */
	size_t head;	      /* inner ones before the first outer hit, */
	size_t within;	      /* ... since the last one */
	size_t hits;	      /* outer ones */
	size_t with, without; /* inner turns, with an outer hit and without */
	size_t longer;	      /* ... with, by more than what is new, */
	size_t shorter;	      /* ... without, that are a third shorter, */
	size_t lesser;	      /* and with, that are shorter than most are */
};

static void count_turn(struct turns *turns, bool is_outer)
{
	if (is_outer) {
		if (turns->hits++) {
			turns->same += turns->within == turns->usual;
			turns->single += turns->within <= 1;
			turns->more += turns->within > 1 ? turns->within : 0;
		} else {
			turns->head = turns->within;
		}
		turns->within = 0;
	}
}

/* How often each site comes in the one and in the other turns. */
static void compare_turns(const struct loop_groups *groups,
			  struct loop_scratch *scratch,
			  const struct loop_candidate *inner,
			  const struct loop_candidate *outer, size_t added,
			  struct turns *turns)
{
	/* Beyond a long pause there may be a last turn. */
	const size_t end = groups->count - 1;
	const size_t sites = min_u64(groups->sites, LOOP_SITES_MAX);
	size_t begin = inner->level.first;
	bool is_with = false;

	memset(scratch->inside, 0, sites * sizeof(scratch->inside[0]));
	memset(scratch->turns, 0, sites * sizeof(scratch->turns[0]));
	for (size_t i = min_u64(begin, outer->level.first); i <= end; i++) {
		const bool is_outer =
			i >= outer->level.first &&
			loop_level_is_hit(&outer->level, groups->marks, i);
		const bool is_inner =
			i >= inner->level.first && i <= inner->level.last &&
			loop_level_is_hit(&inner->level, groups->marks, i);

		if (is_inner && i > inner->level.first) {
			uint32_t *into =
				is_with ? scratch->inside : scratch->turns;

			turns->with += is_with;
			turns->without += !is_with;
			turns->longer +=
				is_with &&
				(i - begin) * LONGER_OF >
					(inner->level.length + added) * LONGER;
			turns->shorter +=
				!is_with &&
				(i - begin) * 3 <= outer->level.length * 2;
			turns->lesser +=
				is_with && i - begin < inner->level.length;
			for (; begin < i; begin++) {
				if (groups->site[begin] < LOOP_SITES_MAX)
					into[groups->site[begin]]++;
			}
		}
		is_with = (is_with && !is_inner) || is_outer;
		count_turn(turns, is_outer);
		turns->within += is_inner;
	}
}

/* Inner turns to an outer one, on average. */
static size_t usual_turns(const struct loop_groups *groups,
			  const struct loop_candidate *inner,
			  const struct loop_candidate *outer)
{
	const size_t from = max_u64(inner->level.first, outer->level.first);
	const size_t to = min_u64(inner->level.last, outer->level.last);
	const size_t turns = outer->level.turns - 1;
	size_t hits = 0;

	for (size_t i = from; i < to; i++)
		hits += loop_level_is_hit(&inner->level, groups->marks, i);
	return (hits + turns / 2) / turns;
}

/* The marks end where within the last outer turns the inner one always went on,
 * in its own sites, and the outer one never came. */
static bool ends_within(const struct loop_groups *groups,
			const struct loop_candidate *inner,
			const struct loop_candidate *outer)
{
	const size_t length = inner->level.length;
	const size_t back = TURNS_LOOKED * outer->level.length;
	const uint32_t *end = groups->site + groups->count - length;
	const size_t first = outer->level.first + length;
	bool was_seen = false;

	if (!loop_holds(inner, end[length - 1]))
		return false;
	for (size_t at = groups->count - 1;
	     at-- > first && groups->count - at < back;) {
		if (memcmp(groups->site + at + 1 - length, end,
			   length * sizeof(*end)))
			continue;
		if (!loop_holds(inner, groups->site[at + 1]))
			return false;
		was_seen = true;
	}
	return was_seen;
}

/* A loop's body begins with one thing and ends with another. */
static bool is_bracketed(const struct loop_groups *groups,
			 struct loop_scratch *scratch,
			 const struct loop_candidate *inner,
			 const struct loop_candidate *outer)
{
	const size_t sites = min_u64(groups->sites, LOOP_SITES_MAX);
	size_t begin = inner->level.first, end = inner->level.last + 1;
	bool has_begin = false, has_end = false;

	memset(scratch->inside, 0, sites * sizeof(scratch->inside[0]));
	memset(scratch->turns, 0, sites * sizeof(scratch->turns[0]));
	for (size_t i = 0; i < begin; i++) {
		if (groups->site[i] < sites)
			scratch->inside[groups->site[i]]++;
	}
	for (size_t i = end; i < groups->count; i++) {
		if (groups->site[i] < sites)
			scratch->turns[groups->site[i]]++;
	}
	for (uint32_t s = 0; s < sites; s++) {
		if (!loop_holds(outer, s) || loop_holds(inner, s))
			continue;
		has_begin |= scratch->inside[s] && !scratch->turns[s];
		has_end |= scratch->turns[s] && !scratch->inside[s];
	}
	return has_begin && has_end;
}

/* The outer marker begins an inner turn behind something of the outer one's
 * own, and that comes behind the last inner turn, too: the last outer turn is
 * whole, though no other follows it. */
static bool is_closed(const struct loop_groups *groups,
		      const struct loop_candidate *inner,
		      const struct loop_candidate *outer)
{
	const size_t first = outer->level.first;
	uint32_t own;

	if (!outer->level.context || !loop_holds(inner, groups->site[first]))
		return false;
	own = groups->site[first - 1];
	if (!loop_holds(outer, own) || loop_holds(inner, own))
		return false;
	for (size_t i = inner->level.last + 1; i < groups->count; i++) {
		if (groups->site[i] == own)
			return true;
	}
	return false;
}

/* By the code it comes in some turns of the inner one's loop, or in a loop that
 * lies in it: an evaluation. */
static bool is_in_some(const struct loop_groups *groups,
		       const struct loop_candidate *inner, uint32_t site)
{
	for (uint32_t s = 0; s < min_u64(groups->sites, LOOP_SITES_MAX); s++) {
		if (loop_holds(inner, s) &&
		    (loop_groups_is_besides(groups, site, s) ||
		     loop_groups_is_within(groups, site, s)))
			return true;
	}
	return false;
}

static bool is_besides(const struct loop_groups *groups,
		       const struct loop_candidate *inner,
		       const struct loop_candidate *outer)
{
	for (uint32_t s = 0; s < min_u64(groups->sites, LOOP_SITES_MAX); s++) {
		if (loop_holds(outer, s) && !loop_holds(inner, s) &&
		    !is_in_some(groups, inner, s))
			return false;
	}
	return true;
}

/* By the code one of the outer level's sites comes in some turns of the inner
 * one's loop, and all others come as often as that. */
static bool is_at_times(const struct loop_groups *groups,
			const struct loop_candidate *inner,
			const struct loop_candidate *outer)
{
	const uint32_t sites = (uint32_t)min_u64(groups->sites, LOOP_SITES_MAX);
	size_t least = SIZE_MAX, most = 0;
	bool is_one = false;

	for (uint32_t s = 0; s < sites; s++) {
		if (!loop_holds(outer, s) || loop_holds(inner, s))
			continue;
		least = min_u64(least, groups->code[s].hits);
		most = max_u64(most, groups->code[s].hits);
		for (uint32_t o = 0; o < sites && !is_one; o++)
			is_one = loop_holds(inner, o) &&
				 loop_groups_is_at_times(groups, s, o);
	}
	return is_one && most - least <= 1;
}

/* What lies in an inner turn, or in some of them, lies in no fewer loops: there
 * is a loop around. */
static bool is_outside(const struct loop_groups *groups,
		       const struct loop_candidate *inner,
		       const struct loop_candidate *outer)
{
	const struct loop_code *code = groups->code;
	const uint32_t marker = groups->site[inner->level.first];

	if (marker >= LOOP_SITES_MAX)
		return false;
	for (uint32_t s = 0; s < min_u64(groups->sites, LOOP_SITES_MAX); s++) {
		if (loop_holds(outer, s) && !loop_holds(inner, s) &&
		    code[s].loop && code[s].asked >= ASKED_LEAST &&
		    code[s].always == code[s].asked &&
		    code[s].hits <= outer->level.turns + 1 &&
		    loop_groups_may_be_around(groups, s, marker))
			return true;
	}
	return false;
}

/* By the code all of it lies in one loop, and nothing comes in each turn of
 * that: a function that calls itself, on grids that are coarser and coarser. */
static bool is_in_no_turns(const struct loop_groups *groups,
			   const struct loop_candidate *candidate)
{
	const struct loop_code *code = groups->code;
	const uint32_t marker = groups->site[candidate->level.first];

	if (marker >= LOOP_SITES_MAX || !code[marker].loop)
		return false;
	for (uint32_t s = 0; s < min_u64(groups->sites, LOOP_SITES_MAX); s++) {
		if (loop_holds(candidate, s) &&
		    (code[s].loop != code[marker].loop || code[s].always ||
		     code[s].asked < LOOP_HITS_LEAST))
			return false;
	}
	return true;
}

/* After so many turns something is copied, and that is all: of what may be a
 * report it is one, since a step that is around them has more of its own.  But
 * a few turns may be layers. */
static bool is_copied(const struct gain *gain)
{
	const size_t turns = gain->usual;

	if (gain->copy == COPY_NOT)
		return false;
	return turns % DECIMAL == 0 || turns % TENS == 1 ||
	       (gain->copy == COPY_ALONE && turns > GAIN_FEW_WITHIN);
}

struct gain loop_gain(const struct loop_groups *groups,
		      struct loop_scratch *scratch,
		      const struct loop_candidate *inner,
		      const struct loop_candidate *outer)
{
	struct turns turns = {.usual = usual_turns(groups, inner, outer)};
	struct gain gain = {.usual = turns.usual,
			    .ratio = (double)inner->level.turns /
				     (double)outer->level.turns};

	for (size_t w = 0; w < LOOP_SITES_MAX / 64; w++) {
		gain.sites += (size_t)__builtin_popcountll(outer->held[w] &
							   ~inner->held[w]);
		gain.lost += (size_t)__builtin_popcountll(inner->held[w] &
							  ~outer->held[w]);
	}
	compare_turns(groups, scratch, inner, outer, gain.sites, &turns);
	for (uint32_t s = 0; s < min_u64(groups->sites, LOOP_SITES_MAX); s++)
		gain.again += turns.with && turns.without &&
			      loop_holds(inner, s) &&
			      (double)scratch->inside[s] / (double)turns.with >
				      1.2 * (double)scratch->turns[s] /
						      (double)turns.without +
					      0.2;
	gain.is_single =
		turns.single * SINGLE_OF >= (turns.hits - 1) * SINGLE &&
		turns.more >= MANY_AT_TIMES * (turns.hits - 1 - turns.single);
	gain.is_pass = gain.sites >= PASS_SITES &&
		       turns.shorter * SINGLE_OF >= turns.without * SHORTER;
	gain.is_less = turns.lesser * SINGLE_OF >= turns.with * MOST;
	gain.is_late = turns.without > ONCE && turns.head >= turns.without;
	gain.is_once = turns.hits - 1 <= turns.single + ONCE;
	gain.is_constant = turns.same * 10 >= (turns.hits - 1) * 9;
	gain.is_full = turns.head + turns.within == turns.usual;
	gain.is_whole = gain.is_full && (!turns.head || !turns.within);
	gain.is_besides =
		gain.sites && (is_besides(groups, inner, outer) ||
			       (!gain.lost && gain.ratio >= 1.5 &&
				loop_is_in_midst(groups, inner, outer)));
	/* Else it may be what the first turn of the inner loop does. */
	if (gain.sites && gain.is_constant && !gain.is_whole)
		gain.is_besides |= is_at_times(groups, inner, outer);
	gain.is_between =
		turns.head == turns.usual && turns.within == turns.usual;
	gain.is_whole |= gain.is_between && is_closed(groups, inner, outer);
	if (gain.ratio >= 1.5 && gain.is_constant)
		gain.copy = loop_copy_of(groups, inner, outer, gain.usual);
	gain.is_besides |= is_copied(&gain);
	gain.is_bracketed = is_bracketed(groups, scratch, inner, outer);
	/* An evaluation before some of them is no part of each. */
	gain.is_outside = gain.sites && is_outside(groups, inner, outer);
	/* Nor is one what a function does that calls itself. */
	if (gain.is_outside && is_in_no_turns(groups, inner))
		gain.again = 0;
	gain.is_seldom =
		gain.again && turns.longer * SINGLE_OF < turns.with * SELDOM;
	if (gain.is_seldom &&
	    (gain.is_outside || (gain.is_bracketed && gain.sites > 1)))
		gain.again = 0;
	gain.is_cut = !gain.is_whole &&
		      (!turns.head || turns.head == turns.usual) &&
		      turns.within <= turns.usual &&
		      ends_within(groups, inner, outer);
	return gain;
}

bool gain_is_undecided(const struct gain *gain, const struct loop_level *inner,
		       const struct loop_level *outer)
{
	return gain->is_constant && gain->is_whole && gain->ratio >= 1.5 &&
	       gain->ratio <= GAIN_FEW_WITHIN && gain->sites > GAIN_FEW_SITES &&
	       gain->sites * 3 < outer->held && inner->held >= MANY_HELD;
}

bool gain_is_a_little(const struct gain *gain, const struct loop_level *inner,
		      const struct loop_level *outer)
{
	const size_t within = gain->usual * inner->length;

	return gain->is_constant && (gain->is_whole || gain->is_between) &&
	       gain->ratio >= 1.5 && gain->ratio <= MOST_WITHIN &&
	       outer->length > within &&
	       (outer->length - within) * LITTLE < inner->length;
}

bool gain_is_round(size_t turns)
{
	return !(turns % DECIMAL) || (turns > TENS && turns % TENS == 1);
}

bool gain_is_other_way(const struct gain *gain)
{
	return (gain->is_less ||
		(gain->is_seldom && gain->again && gain->usual <= FEW_ADDED &&
		 !gain_is_round(gain->usual))) &&
	       gain->sites && !gain->lost && gain->is_constant &&
	       gain->is_full && gain->ratio >= 1.5 &&
	       gain->ratio <= GAIN_FEW_WITHIN;
}

static bool is_few(const struct gain *gain, const struct loop_level *outer)
{
	return outer->turns < GAIN_MANY_TURNS && gain->sites <= GAIN_FEW_SITES;
}

/* A number that people choose from one report to the next; or so many that they
 * are an epoch, a fold or a restart, if those are few. */
static bool is_chosen(const struct gain *gain, const struct loop_level *outer)
{
	const size_t turns = gain->usual;

	if (turns > MOST_BETWEEN)
		return is_few(gain, outer);
	return gain_is_round(turns) ||
	       (turns > TURNS_OF_FEW && is_few(gain, outer));
}

bool gain_may_be_report(const struct gain *gain, const struct loop_level *inner,
			const struct loop_level *outer)
{
	return gain->is_constant && gain->is_whole && gain->ratio >= 1.5 &&
	       !(gain->is_outside && gain->ratio <= GAIN_FEW_WITHIN) &&
	       gain->sites <= inner->held && is_chosen(gain, outer) &&
	       outer->length >= gain->usual * inner->length + gain->sites &&
	       (outer->length <=
			gain->usual * inner->length + 2 * gain->sites ||
		(is_few(gain, outer) && gain->usual > TURNS_OF_FEW));
}

bool gain_is_as_rich(const struct gain *gain, const struct loop_level *inner,
		     const struct loop_level *outer)
{
	return gain->is_constant && gain->ratio >= 1.5 &&
	       gain->ratio <= GAIN_FEW_WITHIN &&
	       gain->sites >= GAIN_FEW_SITES && inner->held >= VERY_MANY &&
	       outer->mass >= GAIN_RICH_MASS &&
	       outer->length >= (gain->usual + 1) * inner->length;
}

bool gain_is_uneven(const struct gain *gain, const struct loop_level *outer)
{
	return !gain->is_constant && !outer->missing &&
	       outer->turns < GAIN_MANY_TURNS && outer->mass >= GAIN_RICH_MASS;
}
