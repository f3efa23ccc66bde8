/* SPDX-License-Identifier: MIT */
/*
 * code_loops.h - in how many loops a call lies, by the code around it.
 *
 * Who looks for the step sees a region that comes again and again, and nothing
 * else: it may be what an iteration does, or one of twenty sweeps in it.  The
 * code tells.  All instructions of the function are read and where each may
 * lead; a loop is a part in which each can be reached from each, and what is
 * left of it without the instruction at which it is entered may hold another.
 *
 * Parts of the function that the compiler put elsewhere are read, too.  It
 * answers or refuses: a switch's jump in a loop around the call, a loop that is
 * entered in several places of which none is passed by all turns, code that
 * isn't known.  The main thread alone.
 */
#ifndef PRELOAD_CODE_LOOPS_H
#define PRELOAD_CODE_LOOPS_H

#include "collector/system/base.h"

/* A function's code, or a part of it. */
struct code_range {
	uint64_t begin, bytes;
	bool has_pads; /* an exception may come back to it anywhere */
	bool is_end;   /* asked: is it a slot whose function never returns? */
	bool is_bare;  /* at the address that was asked for: has no frame */
};

struct code_loops {
	uint32_t count;
	bool calls_itself;
	bool is_always;	  /* in each turn of the innermost; where there is none,
			   whenever the function is called */
	bool may_be_more; /* around all of them: an exception leads back */
	bool is_needed;	  /* nothing in the innermost counts, so it turns for as
			   long as what it does says so (x86-64) */
	uint64_t innermost; /* its first instruction; 0 there is none; */
	uint64_t within;    /* ... that of the loop around it, 0 none */
	uint32_t counted;   /* Python's: `for` loops */
	bool is_mixed;	    /* another kind of loop is around one of those */
};

/* Finds the range that an address lies in.  False: it can't be told, or the
 * code can't be read.  With `is_end` set before, a call's target: whether that
 * never comes back, which is all that is told. */
typedef bool code_find_range(uint64_t code, struct code_range *range);

/* The loops around the call that returns to `code`.  False: can't be told. */
bool code_loops_around(uint64_t code, code_find_range *find,
		       struct code_loops *loops);

#endif
