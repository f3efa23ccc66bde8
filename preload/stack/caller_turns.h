/* SPDX-License-Identifier: MIT */
/*
 * caller_turns.h - whether a loop of Python's has turned since the last call
 * from a place; for callers.c.
 *
 * What lies between a line of Python and a region may be unknown: code that was
 * made while the program ran, a table of jumps.  But what a `for` loop goes
 * through, a range, a list, lies on its function's stack and says how far it
 * has come.  So it is seen, not concluded, that a region comes once in each
 * turn.  By CPython's own memory alone, as python_frames.h reads it: no time,
 * no lock, and the same in each run.
 *
 * It refuses where anything else may be around the loop: a `while`, what isn't
 * counted (a generator), a library that calls Python.  The main thread alone.
 */
#ifndef PRELOAD_CALLER_TURNS_H
#define PRELOAD_CALLER_TURNS_H

#include "preload/stack/caller_loops.h"

/* The types of what counts: asks the loader. */
void caller_turns_prepare(void);

/* The first call from a place: which loops are looked at.  `depth`: as marks
 * have it, 0 unknown. */
void caller_turns_note(uint32_t place, const struct caller_python *python,
		       uint32_t depth);

/* Each call from it: which of them have turned since the one before. */
enum search_turn caller_turns_look(uint32_t place,
				   const struct caller_python *python);

/* In a forked child. */
void caller_turns_forget(void);

#endif
