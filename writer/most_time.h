/* SPDX-License-Identifier: MIT */
/*
 * most_time.h - the names with the largest sums, for the line at the end of a
 * run whose verdict would take too long.
 */
#ifndef WRITER_MOST_TIME_H
#define WRITER_MOST_TIME_H

#include "writer/state/totals.h"

/* Writes them; a member's share of a region has the region's name.  Returns the
 * nanoseconds of all that threads did, one beside the other. */
uint64_t most_time(struct totals *totals, char *text, size_t bytes);

#endif
