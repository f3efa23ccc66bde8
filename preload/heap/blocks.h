/* SPDX-License-Identifier: MIT */
/*
 * blocks.h - the sizes of large blocks, for allocators that won't tell.
 *
 * A table in the session, by address: each block may lie in one of
 * BLOCKS_WINDOW slots from where its hash points, so nothing needs to be left
 * behind when it is taken out.  Lock-free; any thread.
 */
#ifndef PRELOAD_BLOCKS_H
#define PRELOAD_BLOCKS_H

#include "collector/session/session.h"

#define BLOCKS_SLOTS  16384u
#define BLOCKS_WINDOW 16u

/* Makes the table for blocks of at least `min_bytes`.  Without memory for it
 * nothing is ever remembered. */
void blocks_start(struct session *session, uint64_t min_bytes);

/* Remembers a block.  False: too small, or no slot was free. */
bool blocks_add(const void *ptr, uint64_t bytes);

/* Forgets a block.  False: it wasn't there. */
bool blocks_take(const void *ptr, uint64_t *bytes);

#endif
