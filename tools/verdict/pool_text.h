/* SPDX-License-Identifier: MIT */
/*
 * pool_text.h - for how long a program's threads had a core, where nothing else
 * is known of their work.
 */
#ifndef TOOLS_POOL_TEXT_H
#define TOOLS_POOL_TEXT_H

#include "tools/util/text_buffer.h"
#include "tools/verdict/verdict.h"

/* Adds "on a core: crunch (12) 98 %, ...", those that worked most first; how
 * many lines it takes.  Nothing where samples were taken, which tell more. */
unsigned int pool_text_add(struct text_buffer *lines,
			   const struct verdict *verdict, unsigned int columns);

#endif
