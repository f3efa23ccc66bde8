/* SPDX-License-Identifier: MIT */
/*
 * search.h - TRACEPROF_STEP=auto: what the writer and the stepping thread tell
 * each other while a step is searched for.
 *
 * The writer looks at the events that it drains anyway
 * (writer/steps/step_finder.h). Once it knows a marker the thread whose loop it
 * is takes over, so that steps are counted where they happen; and since neither
 * waits, that takes three turns:
 *
 *	ON	the writer searches.  With a schedule no window is open, yet the
 *		gate is
 *	FOUND	the marker is known, and whose it is
 *	JOINED	a step of the thread's began, and it counts them from then on
 *	LIVE	the writer has counted those before: the thread knows the
 *		number of its step, and goes on as with any marker.  With a
 *		schedule only if what is recorded has not changed since the step
 *		that the writer knows of; else it is JOINED again
 *
 *	NONE	steps come from elsewhere
 *	OVER	there is no step; the run is recorded whole
 *
 * A step call of the program's ends it in any state.  It lies in the session,
 * so that the run of a process that was killed meanwhile is whole, too.
 */
#ifndef COLLECTOR_SEARCH_H
#define COLLECTOR_SEARCH_H

#include "collector/system/base.h"

/* Sites before a marker that may belong to it. */
#define SEARCH_CONTEXT_MAX  8u

/* Places from which regions are called that are told apart; where those of one
 * region tell sites apart, in all; and behind them those of calls that put work
 * on a GPU. */
#define SEARCH_CALLERS_MAX  96u
#define SEARCH_CALLERS_TELL 32u
#define SEARCH_PLACES_MAX   160u
/* Of such calls the first are all looked at, and later some. */
#define SEARCH_CALLS_LOOKED 4096u

/* A region's place; and whether a loop that a counter tells of has turned since
 * the last call from there. */
#define SEARCH_CALLER	    0x00ffu
#define SEARCH_TURN(caller) ((caller) >> 8 & 3u)

/* ... it was asked when most are no longer, since its site came seldom. */
#define SEARCH_LATE	    0x0400u

enum search_turn {
	SEARCH_TURN_UNKNOWN,
	SEARCH_TURN_SAME,
	SEARCH_TURN_NEXT,  /* of the innermost loop that is told of */
	SEARCH_TURN_ROUND, /* of one around that, or it is the first call */
};

/* With a region's place: a member of a team of several begins it, and chance
 * may say which member. */
#define SEARCH_IN_TEAM	     0x8000u

/* Regions, or calls of CUDA, and their places of which it is known in what
 * loops they lie; so many of them are for regions alone. */
#define SEARCH_LOOPS_MAX     192u
#define SEARCH_LOOPS_REGIONS 128u

enum search_state {
	SEARCH_NONE,
	SEARCH_ON,
	SEARCH_FOUND,
	SEARCH_JOINED,
	SEARCH_LIVE,
	SEARCH_OVER
};

enum search_family {
	SEARCH_REGIONS,
	SEARCH_RANGES,
	SEARCH_CALLS,
	SEARCH_BARRIERS, /* of one region; */
	SEARCH_BACKWARD	 /* PyTorch's; both are the writer's alone */
};

/* A level of the nest of loops as a person was shown it
 * (tools/steps_command.c): its sites' names, the marker's last. */
struct search_wanted {
	uint32_t count; /* 0: none is wanted */
	uint32_t family;
	uint64_t names[SEARCH_CONTEXT_MAX + 1]; /* search_label() */
};

/* The marks that the writer has seen (writer/steps/step_log.h), which alone
 * knows it while it lives. */
struct search_log {
	uint64_t first, last; /* blocks, 0 none */
	uint64_t blocks;
	uint64_t is_cut; /* there was no room for all */
};

/* The loops around a region's call, by the code of all that called it. */
struct search_loops {
	uint64_t id;	 /* search_region() */
	uint64_t key;	 /* of the innermost one, 0 not known; */
	uint64_t within; /* ... of the one around that, 0 none, or not known */
	uint16_t loop;	 /* the same as a small number, in the order in which
			   they came */
	uint8_t depth;	 /* how many, and 1; 0 not known */
	uint8_t is_always : 1; /* it comes in each turn of the innermost */
	uint8_t is_around : 1; /* others may lie within that, in code that
				     can't be read */
	uint8_t is_needed : 1; /* nothing in the innermost counts its turns */
	_Atomic uint32_t is_gone; /* other code lies there since */
};

/* By what the parts of a whole run that are closed have steps: the fields of
 * the same names below. */
struct search_part {
	uint32_t is_known;
	uint32_t tid, family, context, is_begin, is_end, every, leaves_teams;
	uint64_t id, key, begin_ticks, first_ticks;
};

struct step_search {
	_Atomic uint32_t state;
	uint32_t is_whole; /* no schedule: everything is recorded anyway */
	uint64_t from_ticks;

	struct search_wanted wanted; /* set before ON */

	/* The marker: set before FOUND. */
	uint32_t tid;
	uint32_t family; /* enum search_family */
	uint32_t context;
	uint32_t is_begin; /* a hit begins a step; else it ends one, and the
			      next begins with whatever comes next */
	uint64_t id;
	uint64_t key;
	uint32_t is_end; /* a range: the step is over when it is, and the next
			    begins then */
	uint32_t every;	 /* hits to a step; 0 as 1 */
	uint32_t name;	 /* is_end: the range's, as it is interned */
	uint32_t leaves_teams; /* SEARCH_IN_TEAM are no sites, */
	uint32_t keeps_teams;  /* or they are */

	/* The stepping thread's own, but for joined_ticks. */
	uint64_t history[SEARCH_CONTEXT_MAX + 1]; /* newest last */
	uint32_t was_hit;      /* the next site begins a step */
	uint64_t since;	       /* steps from the first one it saw */
	uint64_t joined_ticks; /* of that one; set before JOINED */
	uint64_t joined_call;  /* and its correlation, 0 no call */

	uint64_t before; /* steps before it; set before LIVE */
	int64_t known;	 /* up to this step windows are the writer's */
	_Atomic uint64_t live_ticks; /* its first step, 0 not yet */
	uint64_t passed; /* steps that a schedule did not count, since what they
			    did was no longer there when they were known */
	uint64_t own_ticks; /* when the program marked its first step itself;
			       set before NONE */

	/* For a recovery: the writer's own. */
	struct search_log log;
	uint64_t kept_ticks;  /* what began before it may be gone, 0 none */
	uint64_t begin_ticks; /* of the first turn, */
	uint64_t first_ticks; /* ... and of its hit; set before FOUND */
	struct search_part part;

	/* The main thread's own; of those below `loop_count` nothing but
	 * is_gone changes. */
	_Atomic uint32_t loop_count;
	struct search_loops loops[SEARCH_LOOPS_MAX];
};

/* The loops around a region's call; zeros where nothing is known of them. */
struct search_loops search_loops_of(const struct step_search *search,
				    uint64_t code, uint32_t caller);

/* The small number of a loop that is a place's innermost one; 0 none is. */
uint16_t search_loop_number(const struct step_search *search, uint64_t key);

/* What a site is in the context of those before it: ids[0] is the oldest of
 * `context` + 1, the last is the site itself. */
uint64_t search_key(const uint64_t *ids, unsigned int context);

static inline uint32_t search_state(const struct step_search *search)
{
	/* ACQUIRE pairs with RELEASE in search_move(): the fields that the new
	 * state stands for. */
	return load_acquire(&((struct step_search *)search)->state);
}

/* The gate is open though no window is. */
static inline bool search_is_on(const struct step_search *search)
{
	const uint32_t state = search_state(search);

	return state >= SEARCH_ON && state <= SEARCH_JOINED &&
	       !search->is_whole;
}

/* From one state to the next.  False: it is another one by now. */
bool search_move(struct step_search *search, uint32_t from, uint32_t to);

/* A site of the marker's family was hit by the marker's thread: does a step
 * begin with it?  To be called for each. */
bool search_step(struct step_search *search, uint64_t id);

/* A region as a site: the code that names it, and the place that it is called
 * from where it is to be told by that too, else 0. */
static inline uint64_t search_region(uint64_t code, uint32_t caller)
{
	return code ^ (uint64_t)caller << 56;
}

static inline uint64_t search_region_code(uint64_t id)
{
	return id & ((UINT64_C(1) << 56) - 1);
}

static inline bool search_is_by_caller(const struct step_search *search)
{
	return search->family == SEARCH_REGIONS && search->id >> 56;
}

/* A wait for the team as a site, by the lower half of its call's address; and
 * the one place by which its loops are known. */
#define SEARCH_BARRIER_PLACE 1u

static inline uint64_t search_barrier(uint32_t from)
{
	return from | UINT64_C(1) << 40;
}

/* A call that puts work on a GPU as a site: which one it is, or for the launch
 * of a kernel that one's symbol. */
uint64_t search_call(bool is_driver, uint32_t cbid);
uint64_t search_kernel(const char *symbol);
bool search_is_kernel(uint64_t id);

/* A range's name as a site: numbers in it don't count.  `prefix` may be NULL,
 * else it stands in front with ": " behind it.  0: one of oneDNN's or of XLA's
 * below a module, or compiling, which begin no step. */
uint64_t search_name(const char *prefix, const char *text);

/* A site's name as traces have it. */
uint64_t search_label(uint32_t family, const char *text);

/* A range that is called so is likely a step: "train_step", "Iteration 12". */
bool search_is_step_like(const char *text);

#endif
