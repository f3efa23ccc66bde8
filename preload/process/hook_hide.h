/* SPDX-License-Identifier: MIT */
/*
 * hook_hide.h - takes hooks that nobody wants out of the loader's sight: then
 * they cost the program nothing.
 */
#ifndef PRELOAD_HOOK_HIDE_H
#define PRELOAD_HOOK_HIDE_H

#include "collector/system/base.h"

/* Where the functions of a family lie. */
struct hook_range {
	const char *low, *high;
	/* No name of theirs is found from now on.  Else only what nobody else
	 * has is taken back, where it is asked for by a weak name. */
	bool is_hidden;
	/* What was bound to them before stays so. */
	bool keeps_bound;
};

/* In our constructor. */
void hook_hide(const struct hook_range *ranges, uint32_t count);

/* Where the file that begins at `base` calls that function of others, it calls
 * `to`.  False: not all of its calls can be changed. */
bool hook_redirect(uintptr_t base, const char *name, void *to);

#endif
