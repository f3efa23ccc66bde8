/* SPDX-License-Identifier: MIT */
/*
 * stock.h - free chunks whose pages are there before a hook needs them.
 *
 * The first touch of a chunk costs as much as the hooks that fill it: the
 * kernel finds memory, clears it and maps it, 16 pages one by one.  The writer
 * does that ahead, here, in its own time:
 *
 *	at first	a sixteenth of the buffer; with TRACEPROF_MALLOC=all a
 *			quarter
 *	then		a few free ones, and twice what the rings took since the
 *			last look: a burst that goes on finds more each time
 *
 * Chunks come back (collector/pool.h) and stay touched, so this ends; what it
 * takes is part of TRACEPROF_BUFFER_MB.  The writer's thread alone.
 */
#ifndef WRITER_STOCK_H
#define WRITER_STOCK_H

#include "collector/session.h"

struct stock {
	unsigned int in_rings; /* chunks, at the last look */
};

/* Between events of a pass: only what the rings are running out of. */
void stock_refill(struct stock *stock, struct session *session);

/* The same, and a step towards what the mode is likely to need.  True: there is
 * more to do. */
bool stock_extend(struct stock *stock, struct session *session);

#endif
