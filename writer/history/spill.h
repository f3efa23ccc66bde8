/* SPDX-License-Identifier: MIT */
/*
 * spill.h - packed chunks go to the session's file.
 */
#ifndef WRITER_SPILL_H
#define WRITER_SPILL_H

#include "writer/state/writer_state.h"

/* Packed chunks that memory is to hold: a quarter of the buffer. */
uint64_t spill_limit(const struct writer_state *state);

/* Writes full packed chunks to the spool, the oldest first, until half of that
 * is left or the file is as large as it may be. */
void spill(struct writer_state *state);

/* Nothing more goes there. */
bool spill_is_full(const struct writer_state *state);

/* Of pack.c: the chunk is stood in; one store that links; its parts. */
bool pack_is_held(const struct ring_reader *reader, uint64_t at);
void pack_link(struct chunk *chunk, uint64_t used, uint64_t next);
uint64_t pack_used(const struct chunk *chunk);
uint64_t pack_next(const struct chunk *chunk);
struct chunk *pack_make(struct writer_state *state, enum chunk_form form,
			uint64_t *at);
/* What is free again: the pool's, or the spare one. */
void pack_give(struct writer_state *state, uint64_t chunk);

#endif
