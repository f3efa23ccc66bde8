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

#endif
