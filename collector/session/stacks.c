/* SPDX-License-Identifier: MIT */
/*
 * stacks.c - the table of call stacks.
 *
 * As the table of names: slots go from 0 to an id once and never change, and an
 * id is the stack's offset / 8.  Table and stacks take a quarter of the session
 * at most, so that events keep the rest.
 *
 * A program that loads PyTorch allocates under more different stacks than any
 * bound, most of them once, while it loads: without the shortened ones there
 * would be none left for what it does afterwards.  Most are of constructors of
 * C++, hundreds of thousands of which one line of Python loads: the last of the
 * table is left to the lines of Python alone.
 */
#include "collector/session/stacks.h"

#include "collector/control/stack_choice.h"
#include "collector/session/names.h"
#include "collector/system/log.h"
#include <string.h>

/* A stack takes a part of a second in so many at most, and, once so many were
 * timed, so many times the mean. */
#define TIMED_PARTS 5000u
#define TIMED_KNOWN 8u
#define TIMED_TIMES 8u

#define SLOTS_MIN   1024u
#define SLOTS_MAX   (512u * 1024)
#define SLOT_BYTES  256u /* of the session, for each slot */
#define PROBES_MAX  64
#define PART	    4u
#define HASH_A	    UINT64_C(0x9fb21c651e98df25)
#define HASH_B	    UINT64_C(0x9e3779b97f4a7c15)

void stacks_start(struct session *session)
{
	struct stack_table *table = &session->head->stacks;
	uint64_t slots = SLOTS_MIN;
	uint64_t at;

	while (slots < SLOTS_MAX &&
	       slots * SLOT_BYTES * 2 <= session->head->ceiling_bytes)
		slots *= 2;
	at = session_alloc(session, slots * sizeof(uint32_t));
	if (!at)
		return;
	table->limit_bytes = session->head->ceiling_bytes / PART;
	table->slots = (uint32_t)slots;
	table->at = at;
}

static inline uint32_t hash_frames(const uint64_t *frames, uint32_t count)
{
	uint64_t hash = count;
	uint32_t i = 0;

	/* Four at a time: this is run for each event. */
	for (; i + 3 < count; i += 4) {
		hash = (hash ^ frames[i]) * HASH_A;
		hash = (hash ^ frames[i + 1]) * HASH_B;
		hash = (hash ^ frames[i + 2]) * HASH_A;
		hash = (hash ^ frames[i + 3]) * HASH_B;
	}
	for (; i < count; i++)
		hash = (hash ^ frames[i]) * HASH_A;
	return (uint32_t)(hash >> 32);
}

static uint32_t refuse(struct session *session)
{
	add_relaxed(&session->head->stacks.refused, 1);
	return 0;
}

static uint32_t store(struct session *session, uint32_t hash,
		      const uint64_t *frames, uint32_t count)
{
	struct stack_table *table = &session->head->stacks;
	const uint64_t bytes = sizeof(struct stack) + count * sizeof(frames[0]);
	struct stack *stack;
	uint64_t at;

	if (load_relaxed(&table->bytes) + bytes > table->limit_bytes)
		return 0;
	at = session_take(session, &table->space, bytes);
	if (!at)
		return 0;
	add_relaxed(&table->bytes, bytes);
	stack = session_at(session, at);
	stack->hash = hash;
	stack->count = count;
	memcpy(stack->frame, frames, count * sizeof(frames[0]));
	return (uint32_t)(at >> 3);
}

static inline bool is_same(const struct stack *stack, uint32_t hash,
			   const uint64_t *frames, uint32_t count)
{
	return stack && stack->hash == hash && stack->count == count &&
	       !memcmp(stack->frame, frames, count * sizeof(frames[0]));
}

/* Whether so many sixteenths of it are full; of the slots as of twenty, since
 * in a full table nothing is found in time. */
static bool is_filled(const struct stack_table *table, uint32_t parts)
{
	return load_relaxed(&table->count) >= table->slots / 20 * parts ||
	       load_relaxed(&table->bytes) >= table->limit_bytes / 16 * parts;
}

/* Its id; 0 where it isn't there, and no room for it. */
static uint32_t look(struct session *session, const uint64_t *frames,
		     uint32_t count, bool may_store)
{
	struct stack_table *table = &session->head->stacks;
	const uint32_t hash = hash_frames(frames, count);
	_Atomic uint32_t *slots = session_at(session, table->at);
	uint32_t made = 0;

	for (uint32_t i = 0; i < PROBES_MAX; i++) {
		_Atomic uint32_t *slot =
			&slots[(hash + i) & (table->slots - 1)];
		/* ACQUIRE pairs with RELEASE below: the stack. */
		uint32_t id = load_acquire(slot);

		if (!id) {
			if (!made && may_store)
				made = store(session, hash, frames, count);
			if (!made)
				return 0;
			/* RELEASE pairs with ACQUIRE above, on failure and in
			 * stacks_put(). */
			if (atomic_compare_exchange_strong_explicit(
				    slot, &id, made, memory_order_acq_rel,
				    memory_order_acquire)) {
				add_relaxed(&table->count, 1);
				return made;
			}
		}
		if (is_same(session_at(session, (uint64_t)id << 3), hash,
			    frames, count))
			return id;
	}
	return 0;
}

static uint32_t shorten(const uint64_t *frames, uint32_t count, uint64_t *kept)
{
	uint32_t found = min_u32(count, STACK_SHORT);
	uint32_t named = found;

	memcpy(kept, frames, found * sizeof(*kept));
	while (named < count && !(frames[named] & STACK_NAMED))
		named++;
	for (uint32_t i = named; i < count && i < named + STACK_SHORT; i++)
		kept[found++] = frames[i];
	return found;
}

/* Of one with names so many of the innermost names alone. */
static uint32_t shorten_more(const uint64_t *frames, uint32_t count,
			     uint32_t names, uint64_t *kept)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < count && found < names; i++)
		if (frames[i] & STACK_NAMED)
			kept[found++] = frames[i];
	return found ? found : shorten(frames, count, kept);
}

/* Where it isn't in its first slot. */
static COLD uint32_t look_further(struct session *session,
				  const uint64_t *frames, uint32_t count)
{
	struct stack_table *table = &session->head->stacks;
	uint64_t kept[2 * STACK_SHORT];
	uint32_t id = look(session, frames, count, !is_filled(table, 11));
	uint32_t left;

	if (id)
		return id;
	left = shorten(frames, count, kept);
	id = look(session, kept, left, !is_filled(table, 13));
	if (!id) {
		left = shorten_more(frames, count, STACK_SHORT, kept);
		id = look(session, kept, left, !is_filled(table, 15));
	}
	if (!id) {
		left = shorten_more(frames, count, 1, kept);
		id = look(session, kept, left, true);
	}
	if (!id)
		return refuse(session);
	if (left < count)
		add_relaxed(&table->shortened, 1);
	return id;
}

uint32_t stacks_put(struct session *session, const uint64_t *frames,
		    uint32_t count)
{
	const struct stack_table *table = &session->head->stacks;
	const uint32_t hash = hash_frames(frames, count);
	_Atomic uint32_t *slots = session_at(session, table->at);
	uint32_t id;

	if (unlikely(!table->slots))
		return refuse(session);
	/* ACQUIRE pairs with RELEASE in look(): the stack. */
	id = load_acquire(&slots[hash & (table->slots - 1)]);
	if (likely(id && is_same(session_at(session, (uint64_t)id << 3), hash,
				 frames, count)))
		return id;
	return look_further(session, frames, count);
}

size_t stacks_name(const struct session *session, uint64_t frame, char *text)
{
	size_t len;
	const char *file = names_text(session, (uint32_t)frame, &len);
	const size_t part = strnlen(file, len);

	if (part == len)
		return log_format(text, STACK_NAME_BYTES, "%s", file);
	return log_format(text, STACK_NAME_BYTES, "%s(%u): %s", file,
			  (uint32_t)(frame >> STACK_LINE_AT) & STACK_LINE_MAX,
			  file + part + 1);
}

COLD void stacks_timed(struct session *session, uint64_t ticks)
{
	struct stack_table *table = &session->head->stacks;
	const uint64_t second = clock_ticks_per_second(&session->head->clock);
	const uint64_t timed = load_relaxed(&table->timed);
	uint64_t most = second / TIMED_PARTS;

	if (timed >= TIMED_KNOWN)
		most = min_u64(most, TIMED_TIMES *
					     load_relaxed(&table->timed_ticks) /
					     timed);
	add_relaxed(&table->timed, 1);
	add_relaxed(&table->timed_ticks, min_u64(ticks, most));
}

const struct stack *stacks_find(const struct session *session, uint32_t id)
{
	const struct stack *stack =
		session_at_checked(session, (uint64_t)id << 3, sizeof(*stack));

	if (!id || !stack || !stack->count || stack->count > STACK_DEPTH_MAX ||
	    !session_at_checked(session, (uint64_t)id << 3,
				sizeof(*stack) +
					stack->count * sizeof(uint64_t)))
		return NULL;
	return stack;
}
