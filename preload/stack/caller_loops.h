/* SPDX-License-Identifier: MIT */
/*
 * caller_loops.h - in which loops of the program a call lies, by the code of
 * all functions from the one that calls up to main(); for callers.c.
 *
 * The main thread alone.
 */
#ifndef PRELOAD_CALLER_LOOPS_H
#define PRELOAD_CALLER_LOOPS_H

#include "collector/control/search.h"
#include "preload/stack/code_loops.h"
#include "preload/stack/python_frames.h"

/* Return addresses that are asked for, main()'s callers among them; and with
 * the interpreter's. */
#define CALLER_LOOPS_FRAMES  16u
/* Between main() and the program's first code, in which the last return address
 * lies, glibc has two functions. */
#define CALLER_START_CALLS   3u
#define CALLER_PYTHON_FRAMES 96u

/* Where functions of Python led to the call. */
struct caller_python {
	struct python_frame frames[PYTHON_FRAMES_MAX]; /* innermost first */
	uint32_t count;				       /* 0 none */
	uint32_t below;	    /* return addresses before the interpreter's loop */
	uint64_t low, high; /* the interpreter's file */
};

static inline bool caller_is_python(const struct caller_python *python,
				    uint64_t code)
{
	return code - python->low < python->high - python->low;
}

/* Whether the search knows the site's place already, and no code went since it
 * was looked at. */
bool caller_loops_has(const struct step_search *search, uint64_t id);

/* Tells the search: `codes` are return addresses, the innermost first.  The
 * place is told by `placed` of them: what others tell may hold for this call
 * alone.  Where Python led there, by those that aren't the interpreter's, and
 * by its functions. */
void caller_loops_note(struct step_search *search, uint64_t id,
		       const uint64_t *codes, unsigned int count,
		       unsigned int placed, const struct caller_python *python,
		       code_find_range *find);

/* Code is gone; another may lie there.  A place that comes again is read once
 * more, and where that says something else its loops aren't known. */
void caller_loops_forget(void);

/* --- barriers --------------------------------------------------------------*/

/* Waits for the team of which the loops are looked for: those that came from
 * one place from the first to the last of these calls within one region, and
 * whenever they are looked at later. */
#define CALLER_BARRIERS	      64u /* a power of two */
#define CALLER_BARRIERS_READ  16u
#define CALLER_BARRIER_FIRST  4u
#define CALLER_BARRIER_LAST   16u
#define CALLER_BARRIER_LOOKED 64u /* at most, before they are known */

struct caller_barrier {
	uint64_t site; /* 0 none */
	uint64_t region, place;
	uint32_t came, looked;
	bool is_known;
};

struct caller_barriers {
	struct caller_barrier of[CALLER_BARRIERS];
	uint32_t read;
	bool is_used;
};

/* Of one more call.  NULL: of two sites in one slot the second is none. */
static inline struct caller_barrier *
caller_barrier_of(struct caller_barriers *barriers, uint64_t site,
		  uint64_t region)
{
	const uint64_t hash = site * UINT64_C(0x9e3779b97f4a7c15);
	struct caller_barrier *barrier =
		&barriers->of[(size_t)(hash >> 40) % CALLER_BARRIERS];

	barriers->is_used = true;
	if (unlikely(!barrier->site))
		barrier->site = site;
	if (barrier->site != site)
		return NULL;
	if (barrier->region != region)
		barrier->came = 0;
	barrier->region = region;
	barrier->came++;
	return barrier;
}

/* Known ones are now and then. */
static inline bool caller_barrier_is_looked_at(const struct caller_barrier *one)
{
	const uint32_t came = one->came;

	return one->is_known ? !(came & (came - 1))
			     : came >= CALLER_BARRIER_FIRST &&
				       came <= CALLER_BARRIER_LAST &&
				       one->looked < CALLER_BARRIER_LOOKED;
}

/* It is to be known: it came from that place each time.  `place` is asked for
 * at each look. */
static inline bool caller_barrier_knows(struct caller_barriers *barriers,
					struct caller_barrier *one,
					uint64_t place)
{
	if (one->is_known)
		return true;
	one->looked++;
	if (one->came == CALLER_BARRIER_FIRST)
		one->place = place;
	/* From now on it isn't looked at. */
	if (one->place != place)
		one->looked = CALLER_BARRIER_LOOKED;
	if (one->place != place || one->came < CALLER_BARRIER_LAST ||
	    barriers->read == CALLER_BARRIERS_READ)
		return false;
	barriers->read++;
	one->is_known = true;
	return true;
}

#endif
