/* SPDX-License-Identifier: MIT */
/*
 * no_gil.h - what is said of an interpreter without the GIL.
 *
 * Several find that they can't ask it: all of them say the same, so that the
 * session has one note.
 */
#ifndef PRELOAD_NO_GIL_H
#define PRELOAD_NO_GIL_H

#define NO_GIL_WHY "it runs without the GIL"

#define NO_GIL_NOTE                                                            \
	"Python's calls, functions in stacks, data loading and compilations "  \
	"are left out: " NO_GIL_WHY

#endif
