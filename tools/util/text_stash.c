/* SPDX-License-Identifier: MIT */
/*
 * text_stash.c - blocks of texts, each twice as large as the one before.
 */
#include "tools/util/text_stash.h"

#include <stdlib.h>
#include <string.h>

#include "tools/util/memory.h"

#define FIRST_BYTES 4096u

struct text_stash_block {
	struct text_stash_block *older;
	size_t used, bytes;
	char text[];
};

static void grow(struct text_stash *stash, size_t needed)
{
	const struct text_stash_block *last = stash->newest;
	size_t bytes = last ? last->bytes * 2 : FIRST_BYTES;
	struct text_stash_block *block;

	if (bytes < needed)
		bytes = needed;
	block = memory_resize(NULL, sizeof(*block) + bytes, 1);
	block->older = stash->newest;
	block->used = 0;
	block->bytes = bytes;
	stash->newest = block;
}

const char *text_stash_add(struct text_stash *stash, const char *text,
			   size_t len)
{
	struct text_stash_block *block = stash->newest;
	char *copy;

	if (!block || block->bytes - block->used <= len) {
		grow(stash, len + 1);
		block = stash->newest;
	}
	copy = block->text + block->used;
	memcpy(copy, text, len);
	copy[len] = '\0';
	block->used += len + 1;
	return copy;
}

static void free_from(struct text_stash_block *block)
{
	while (block) {
		struct text_stash_block *older = block->older;

		free(block);
		block = older;
	}
}

void text_stash_drop_all(struct text_stash *stash)
{
	free_from(stash->newest->older);
	stash->newest->older = NULL;
	stash->newest->used = 0;
}

void text_stash_free(struct text_stash *stash)
{
	free_from(stash->newest);
	stash->newest = NULL;
}
