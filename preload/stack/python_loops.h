/* SPDX-License-Identifier: MIT */
/*
 * python_loops.h - in how many loops of a function of Python an instruction
 * lies; what code_loops.h is for machine code.
 *
 * The instructions of CPython 3.11 to 3.15, which rewrites some while they run:
 * those are known, too.  What an exception leads to is no way.  A `while` of
 * which a `continue` comes behind the instruction may count twice.  What a
 * `for` loop goes through lies on the function's stack for as long:
 * caller_turns.h sees by it when the loop turns.  The main thread alone.
 */
#ifndef PRELOAD_PYTHON_LOOPS_H
#define PRELOAD_PYTHON_LOOPS_H

#include "preload/stack/code_loops.h"

/* Instructions and what belongs to them, of two bytes each. */
#define PYTHON_UNITS_MAX 4096u

/* The loops around what lies at unit `at`, in 3.`minor`; `innermost` and
 * `within` are one more than the units that they begin with.  False: can't be
 * told. */
bool python_loops_around(uint32_t minor, const unsigned char *code,
			 uint32_t units, uint32_t at, struct code_loops *loops);

#endif
