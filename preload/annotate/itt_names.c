/* SPDX-License-Identifier: MIT */
/*
 * itt_names.c - two tables that only grow, by hash; see itt_names.h.
 *
 * A place is taken by its text, which nvtx_text.h keeps.  PyTorch asks for the
 * string at each operator, so that the way to one that is known is short.
 */
#include "preload/annotate/itt_names.h"

#include "preload/annotate/nvtx_text.h"
#include "preload/process/hook.h"
#include <string.h>

#define DOMAINS 256u
#define STRINGS 4096u
#define PROBES	32u

static struct itt_domain domains[DOMAINS];
static struct itt_string strings[STRINGS];

static uint32_t hash_of(const char *text)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	while (*text)
		hash = (hash ^ (unsigned char)*text++) *
		       UINT64_C(0x100000001b3);
	return (uint32_t)(hash >> 20);
}

/* True: the place is the text's, by now or as ever. */
static bool take(const char *_Atomic *place, const char *text)
{
	/* ACQUIRE pairs with RELEASE below: the text. */
	const char *there = load_acquire(place);
	const struct nvtx_string *kept;

	if (there)
		return !strcmp(there, text);
	kept = nvtx_text_register(NVTX_KIND_STRING, NULL, 0, text);
	/* RELEASE pairs with ACQUIRE above; ACQUIRE with another's RELEASE. */
	return kept && (atomic_compare_exchange_strong_explicit(
				place, &there, kept->text, memory_order_acq_rel,
				memory_order_acquire) ||
			(there && !strcmp(there, text)));
}

struct itt_string *itt_string_create(const char *text)
{
	const uint32_t first = text ? hash_of(text) : 0;

	for (uint32_t i = 0; text && i < PROBES; i++) {
		struct itt_string *one = &strings[(first + i) % STRINGS];

		if (take((const char *_Atomic *)&one->text, text))
			return one;
	}
	hook_unfollowed();
	return NULL;
}

struct itt_domain *itt_domain_create(const char *name)
{
	const uint32_t first = name ? hash_of(name) : 0;

	for (uint32_t i = 0; name && i < PROBES; i++) {
		struct itt_domain *one = &domains[(first + i) % DOMAINS];

		if (!take((const char *_Atomic *)&one->name, name))
			continue;
		/* The program may have switched it off. */
		if (!one->is_made)
			one->flags = one->is_made = 1;
		return one;
	}
	hook_unfollowed();
	return NULL;
}
