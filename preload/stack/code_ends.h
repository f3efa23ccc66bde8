/* SPDX-License-Identifier: MIT */
/*
 * code_ends.h - calls that nothing comes back from, for code_loops.c.
 *
 * What stands behind the call of a function that throws or ends the program is
 * no way on, though the code alone doesn't say so: it may be the loop's start.
 * Such functions are other files' mostly, which are called through a slot of
 * the linker's; the file says which function's it is, whether or not it was
 * ever called.  The main thread alone.
 */
#ifndef PRELOAD_CODE_ENDS_H
#define PRELOAD_CODE_ENDS_H

#include "collector/system/base.h"
#include <link.h>

/* Whether a call of `target`, a slot of the file's, never comes back. */
bool code_ends(const struct link_map *file, uint64_t target);

/* Whether a function is known to be one of those. */
bool code_ends_by_name(const char *name);

#endif
