/* SPDX-License-Identifier: MIT */
/*
 * packed.h - events that wait, in a seventh of their room.
 *
 * A group is up to PACKED_SLOTS_MAX slots of one ring, each as its difference
 * from one before it that was like it: mostly the times and a number or two.
 * What comes out is what went in, bit for bit.  Groups stand by themselves, in
 * chunks of the session and in its spool file:
 *
 *	bytes u32, slots u32	of the group, this head included
 *	per slot		one byte: like which; one: which words differ;
 *				for each of those a number of 7 bits a byte
 */
#ifndef WRITER_PACKED_H
#define WRITER_PACKED_H

#include "collector/session/event.h"

#define PACKED_SLOTS_MAX 256u
#define PACKED_HEAD	 8u
#define PACKED_SLOT_MOST (2u + 8u * 10u)
#define PACKED_MOST	 (PACKED_HEAD + PACKED_SLOTS_MAX * PACKED_SLOT_MOST)

/* Packs what fits of `count` slots, an event's two never parted.  Returns the
 * bytes of the group, 0 nothing fits; *taken gets the slots. */
size_t packed_write(const struct event *slots, size_t count, uint8_t *group,
		    size_t room, size_t *taken);

/* The group that begins there, of which `bytes` are to be read.  Returns its
 * slots, 0 it is no group; *length gets its bytes. */
size_t packed_read(const uint8_t *group, size_t bytes,
		   struct event slots[PACKED_SLOTS_MAX], size_t *length);

#endif
