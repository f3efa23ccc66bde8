/* SPDX-License-Identifier: MIT */
/*
 * chunk_prefault.h - free chunks whose pages are there before a hook needs
 * them.
 *
 * The first touch of a chunk costs as much as the hooks that fill it: the
 * kernel finds memory, clears it and maps it, 16 pages one by one.  The writer
 * does that ahead, here, in its own time:
 *
 *	at first	a 64th of the buffer; with TRACEPROF_MALLOC=all a
 *			quarter
 *	then		a few free ones, and twice what the rings took since the
 *			last look: a burst that goes on finds more each time
 *
 * Chunks come back (collector/session/pool.h) and stay touched, so this ends;
 * what it takes is part of TRACEPROF_BUFFER_MB.  The writer's thread alone.
 */
#ifndef WRITER_CHUNK_PREFAULT_H
#define WRITER_CHUNK_PREFAULT_H

#include "collector/session/session.h"

struct chunk_prefault {
	unsigned int in_rings; /* chunks, at the last look */
};

/* Between events of a pass: only what the rings are running out of. */
void chunk_prefault_refill(struct chunk_prefault *prefault,
			   struct session *session);

/* The same, and a step towards what the mode is likely to need.  True: there is
 * more to do. */
bool chunk_prefault_extend(struct chunk_prefault *prefault,
			   struct session *session);

#endif
