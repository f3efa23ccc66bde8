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

/* Return addresses that are asked for, main()'s callers among them. */
#define CALLER_LOOPS_FRAMES 16u

/* Whether the search knows the site's place already, and no code went since it
 * was looked at. */
bool caller_loops_has(const struct step_search *search, uint64_t id);

/* Tells the search: `codes` are return addresses, the innermost first.  The
 * place is told by `placed` of them: what others tell may hold for this call
 * alone. */
void caller_loops_note(struct step_search *search, uint64_t id,
		       const uint64_t *codes, unsigned int count,
		       unsigned int placed, code_find_range *find);

/* Code is gone; another may lie there.  A place that comes again is read once
 * more, and where that says something else its loops aren't known. */
void caller_loops_forget(void);

#endif
