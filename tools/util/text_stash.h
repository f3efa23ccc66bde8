/* SPDX-License-Identifier: MIT */
/*
 * text_stash.h - copies of texts that stay where they are until all of them are
 * dropped at once.
 */
#ifndef TOOLS_TEXT_STASH_H
#define TOOLS_TEXT_STASH_H

#include <stddef.h>

struct text_stash {
	struct text_stash_block *newest; /* texts lie in this and older ones */
};

/* A copy with a NUL behind it. */
const char *text_stash_add(struct text_stash *stash, const char *text,
			   size_t len);

/* All copies; the memory of most is kept for the next ones. */
void text_stash_drop_all(struct text_stash *stash);

static inline void text_stash_drop(struct text_stash *stash)
{
	if (stash->newest)
		text_stash_drop_all(stash);
}

void text_stash_free(struct text_stash *stash);

#endif
