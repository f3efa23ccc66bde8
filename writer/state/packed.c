/* SPDX-License-Identifier: MIT */
/* packed.c - slots as differences; see packed.h. */
#include "writer/state/packed.h"

#include <string.h>

#define WORDS	  8u
#define LIKES	  64u /* slots that others may be like */
#define START	  2u  /* words of an event: its times */
#define END	  3u
#define LIKE_WORD 5u /* what events of one place have in common */
#define LIKE_BITS 6

/* What both sides know before a slot. */
struct known {
	uint64_t like[LIKES][WORDS];
	uint64_t last_end;
};

static uint64_t zigzag(uint64_t difference)
{
	return difference << 1 ^ (uint64_t)((int64_t)difference >> 63);
}

static uint64_t unzigzag(uint64_t number)
{
	return number >> 1 ^ -(number & 1);
}

/* An event's start follows the last one's end, its end its start. */
static inline uint64_t expected(const struct known *known, uint32_t like,
				unsigned int word, const uint64_t *words)
{
	if (word == START)
		return known->last_end;
	return word == END ? words[START] : known->like[like][word];
}

static inline uint8_t *put(uint8_t *at, uint64_t number)
{
	for (; number > 127; number >>= 7)
		*at++ = (uint8_t)(number | 128);
	*at++ = (uint8_t)number;
	return at;
}

static inline const uint8_t *get(const uint8_t *at, const uint8_t *end,
				 uint64_t *number)
{
	unsigned int shift = 0;

	*number = 0;
	while (at < end && shift < 64) {
		*number |= (uint64_t)(*at & 127) << shift;
		if (*at++ < 128)
			return at;
		shift += 7;
	}
	return NULL;
}

static inline uint32_t like_of(const uint64_t *words)
{
	return (uint32_t)((words[0] ^ words[LIKE_WORD]) *
				  UINT64_C(0x9e3779b97f4a7c15) >>
			  (64 - LIKE_BITS));
}

static inline uint8_t *write_slot(struct known *known, const struct event *slot,
				  uint8_t *at)
{
	uint64_t words[WORDS];
	uint8_t *differs = at + 1;
	uint32_t like;

	memcpy(words, slot, sizeof(words));
	like = like_of(words);

	at[0] = (uint8_t)like;
	at[1] = 0;
	at += 2;
	for (unsigned int i = 0; i < WORDS; i++) {
		const uint64_t difference =
			words[i] - expected(known, like, i, words);

		if (!difference)
			continue;
		*differs |= (uint8_t)(1u << i);
		at = put(at, zigzag(difference));
	}
	memcpy(known->like[like], words, sizeof(known->like[like]));
	known->last_end = words[END];
	return at;
}

static inline const uint8_t *read_slot(struct known *known, const uint8_t *at,
				       const uint8_t *end, struct event *slot)
{
	uint64_t words[WORDS];
	uint32_t like, differs;

	if (end - at < 2 || *at >= LIKES)
		return NULL;
	like = at[0];
	differs = at[1];
	at += 2;
	for (unsigned int i = 0; i < WORDS; i++) {
		uint64_t number = 0;

		if (differs >> i & 1)
			at = get(at, end, &number);
		if (!at)
			return NULL;
		words[i] = expected(known, like, i, words) + unzigzag(number);
	}
	memcpy(known->like[like], words, sizeof(known->like[like]));
	memcpy(slot, words, sizeof(words));
	known->last_end = words[END];
	return at;
}

size_t packed_write(const struct event *slots, size_t count, uint8_t *group,
		    size_t room, size_t *taken)
{
	struct known known = {.last_end = 0};
	uint8_t *at = group + PACKED_HEAD;
	uint32_t head[2];
	size_t done = 0;

	while (done < count && done < PACKED_SLOTS_MAX) {
		const size_t two = slots[done].flags & EVENT_TWO_SLOTS ? 2 : 1;

		if (done + two > count || done + two > PACKED_SLOTS_MAX ||
		    (size_t)(at - group) + two * PACKED_SLOT_MOST > room)
			break;
		for (size_t i = 0; i < two; i++)
			at = write_slot(&known, &slots[done + i], at);
		done += two;
	}
	*taken = done;
	if (!done)
		return 0;
	head[0] = (uint32_t)(at - group);
	head[1] = (uint32_t)done;
	memcpy(group, head, sizeof(head));
	return head[0];
}

size_t packed_read(const uint8_t *group, size_t bytes,
		   struct event slots[PACKED_SLOTS_MAX], size_t *length)
{
	struct known known = {.last_end = 0};
	const uint8_t *at = group + PACKED_HEAD;
	uint32_t head[2];

	if (bytes < PACKED_HEAD)
		return 0;
	memcpy(head, group, sizeof(head));
	if (head[0] > bytes || head[0] < PACKED_HEAD ||
	    head[1] > PACKED_SLOTS_MAX)
		return 0;
	for (uint32_t i = 0; at && i < head[1]; i++)
		at = read_slot(&known, at, group + head[0], &slots[i]);
	*length = head[0];
	return at ? head[1] : 0;
}
