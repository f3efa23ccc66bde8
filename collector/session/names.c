/* SPDX-License-Identifier: MIT */
/*
 * names.c - the table of interned texts.
 *
 * A text is stored as its length (4 bytes), the bytes and a NUL, in blocks that
 * come from the session; its id is its offset / 8, which fits 32 bits below
 * 32 GiB.  Slots of the table go from 0 to an offset once and never change.
 */
#include "collector/session/names.h"

#include <string.h>

#define PROBES_MAX 512

struct name {
	uint32_t len;
	char text[];
};

static uint64_t hash_text(const char *text, size_t len)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ len;

	for (; len >= 8; len -= 8, text += 8) {
		uint64_t word;

		memcpy(&word, text, 8);
		hash = (hash ^ word) * UINT64_C(0x9fb21c651e98df25);
		hash ^= hash >> 32;
	}
	for (; len; len--, text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	hash ^= hash >> 29;
	return hash * UINT64_C(0xbf58476d1ce4e5b9) >> 16;
}

/* Cuts at a character's first byte. */
static size_t cut_length(const char *text, size_t len, size_t most)
{
	if (len <= most)
		return len;
	len = most;
	while (len > most - 3 && ((unsigned char)text[len] & 0xc0) == 0x80)
		len--;
	return len;
}

static uint64_t store_text(struct session *session, const char *text,
			   size_t len)
{
	const uint64_t at = session_take(session, &session->head->name_space,
					 sizeof(struct name) + len + 1);
	struct name *name;

	if (!at)
		return 0;
	name = session_at(session, at);
	name->len = (uint32_t)len;
	memcpy(name->text, text, len);
	name->text[len] = '\0';
	return at;
}

static uint32_t refuse(struct session *session)
{
	add_relaxed(&session->head->names_refused, 1);
	return NAME_REFUSED;
}

/* The name at an offset, whole: a table that comes from a file may be damaged.
 * NULL if it isn't. */
static const struct name *name_at(const struct session *session, uint64_t at)
{
	const struct name *name =
		session_at_checked(session, at, sizeof(*name) + 1);

	if (!name || name->len > NAME_SYMBOL_MAX ||
	    !session_at_checked(session, at, sizeof(*name) + name->len + 1) ||
	    name->text[name->len])
		return NULL;
	return name;
}

static uint32_t intern(struct session *session, const char *text, size_t len,
		       uint32_t most)
{
	struct session_header *head = session->head;
	uint64_t made = 0;
	uint64_t slot;

	slot = hash_text(text, len) % SESSION_NAMES_MAX;
	for (int i = 0; i < PROBES_MAX; i++) {
		/* ACQUIRE pairs with RELEASE below: the text. */
		uint64_t at = load_acquire(&head->names[slot]);

		if (!at) {
			if (!made && load_relaxed(&head->name_count) < most)
				made = store_text(session, text, len);
			if (!made)
				return refuse(session);
			/* RELEASE pairs with ACQUIRE above and on failure. */
			if (atomic_compare_exchange_strong_explicit(
				    &head->names[slot], &at, made,
				    memory_order_acq_rel,
				    memory_order_acquire)) {
				add_relaxed(&head->name_count, 1);
				return (uint32_t)(made >> 3);
			}
		}
		const struct name *name = name_at(session, at);

		if (name && name->len == len && !memcmp(name->text, text, len))
			return (uint32_t)(at >> 3);
		slot = (slot + 1) % SESSION_NAMES_MAX;
	}
	return refuse(session);
}

uint32_t names_intern(struct session *session, const char *text, size_t len)
{
	return intern(session, text, cut_length(text, len, NAME_BYTES_MAX),
		      SESSION_NAMES_MAX);
}

uint32_t names_intern_spare(struct session *session, const char *text,
			    size_t len)
{
	return intern(session, text, cut_length(text, len, NAME_BYTES_MAX),
		      SESSION_NAMES_MAX / 4 * 3);
}

uint32_t names_intern_string(struct session *session, const char *text)
{
	return names_intern(session, text, strnlen(text, NAME_BYTES_MAX + 1));
}

uint32_t names_intern_symbol(struct session *session, const char *text)
{
	const size_t len = strnlen(text, NAME_SYMBOL_MAX + 1);

	return intern(session, text, cut_length(text, len, NAME_SYMBOL_MAX),
		      SESSION_NAMES_MAX);
}

static const char *fixed_text(const char *text, size_t *len)
{
	if (len)
		*len = strlen(text);
	return text;
}

const char *names_text(const struct session *session, uint32_t id, size_t *len)
{
	const struct name *name;

	if (!id)
		return fixed_text("", len);
	if (id == NAME_REFUSED)
		return fixed_text("(name table full)", len);
	name = name_at(session, (uint64_t)id << 3);
	if (!name)
		return fixed_text("(unknown name)", len);
	if (len)
		*len = name->len;
	return name->text;
}
