/* SPDX-License-Identifier: MIT */
/* unpack.c - from groups to events; see unpack.h. */
#include "writer/state/unpack.h"

#include "writer/state/spool.h"
#include <string.h>

/* Bytes of the chunk that hold something, its head included; 0 damaged. */
static uint32_t used_of(const struct chunk *chunk)
{
	/* ACQUIRE pairs with RELEASE in pack.c's link(): what was added. */
	const uint64_t used = load_acquire(&((struct chunk *)chunk)->next) >>
			      CHUNK_USED_SHIFT;

	return used >= sizeof(*chunk) && used <= CHUNK_BYTES ? (uint32_t)used
							     : 0;
}

static void rewind_to(struct unpack *unpack, uint64_t at)
{
	unpack->chunk = at;
	unpack->first = 1;
	unpack->count = 0;
	unpack->place = 0;
	unpack->at = 0;
}

/* Takes the group at `from`, of which `bytes` may be read.  0 it is none. */
static bool take_group(struct unpack *unpack, const uint8_t *from, size_t bytes)
{
	size_t length = 0;
	const size_t slots = packed_read(from, bytes, unpack->slots, &length);

	unpack->first += unpack->count;
	unpack->count = (uint32_t)slots;
	unpack->at += (uint32_t)length;
	return slots;
}

/* The next group of a packed chunk.  *is_end: there is none. */
static bool next_packed(struct unpack *unpack, const struct chunk *chunk,
			uint32_t used, bool *is_end)
{
	const uint32_t at = (uint32_t)sizeof(*chunk) + unpack->at;

	*is_end = at == used;
	if (at >= used)
		return *is_end;
	return take_group(unpack, (const uint8_t *)chunk + at, used - at);
}

/* So much of the file from there as is there and has room here. */
static bool read_at(struct unpack *unpack, uint64_t at, uint32_t bytes)
{
	const uint64_t from = unpack->read_at;

	bytes = min_u32(bytes, sizeof(unpack->read));
	if (at >= from && at + bytes <= from + unpack->read_bytes)
		return true;
	unpack->read_at = at;
	unpack->read_bytes = bytes;
	if (spool_read(unpack->spool, at, unpack->read, bytes)) {
		unpack->read_bytes = 0;
		return false;
	}
	return true;
}

static bool next_spooled(struct unpack *unpack, const struct chunk *chunk,
			 uint32_t used, uint32_t slot, bool *is_end)
{
	const struct spool_place *places =
		(const struct spool_place *)(chunk + 1);
	const uint32_t count =
		(used - (uint32_t)sizeof(*chunk)) / sizeof(*places);
	const struct spool_place *place = &places[unpack->place];
	uint32_t left;

	*is_end = unpack->place >= count;
	if (*is_end)
		return true;
	if (unpack->at >= place->bytes) {
		unpack->place++;
		unpack->at = 0;
		return unpack->place < UINT32_MAX;
	}
	/* Passed over without a look, where nobody wants it. */
	if (!unpack->at &&
	    slot - unpack->first - unpack->count >= place->slots) {
		unpack->first += unpack->count + place->slots;
		unpack->count = 0;
		unpack->at = place->bytes;
		return true;
	}
	left = place->bytes - unpack->at;
	if (!unpack->spool || !read_at(unpack, place->at + unpack->at, left))
		return false;
	return take_group(unpack,
			  unpack->read +
				  (place->at + unpack->at - unpack->read_at),
			  min_u32(left, unpack->read_bytes));
}

bool unpack_find(struct unpack *unpack, const struct session *session,
		 const struct chunk *chunk, uint32_t slot,
		 const struct event **event, uint32_t *left)
{
	const uint64_t at = session_offset(session, chunk);
	const uint32_t used = used_of(chunk);
	bool is_end = false;

	*event = NULL;
	if (!used || chunk->form >= CHUNK_FORMS)
		return false;
	if (unpack->chunk != at || slot < unpack->first)
		rewind_to(unpack, at);
	while (slot - unpack->first >= unpack->count) {
		const bool is_whole =
			chunk->form == CHUNK_SPOOLED
				? next_spooled(unpack, chunk, used, slot,
					       &is_end)
				: next_packed(unpack, chunk, used, &is_end);

		if (!is_whole) {
			unpack->chunk = 0;
			return false;
		}
		if (is_end)
			return true;
	}
	*event = &unpack->slots[slot - unpack->first];
	*left = unpack->count - (slot - unpack->first);
	return true;
}

uint32_t unpack_slots(const struct chunk *chunk)
{
	const uint32_t used = used_of(chunk);
	uint32_t at = sizeof(*chunk);
	uint32_t slots = 0;
	uint32_t head[2];

	for (; at + sizeof(head) <= used; at += head[0]) {
		memcpy(head, (const char *)chunk + at, sizeof(head));
		slots += head[1];
	}
	return slots;
}
