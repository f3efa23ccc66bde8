/* SPDX-License-Identifier: MIT */
/* sources.c - the list of sources; see sources.h. */
#include "writer/sources.h"

#include "writer/writer.h"
#include <errno.h>
#include <string.h>

#define SOURCES_MAX 8u

static struct {
	_Atomic uint32_t count;
	struct {
		void (*poll)(void *arg);
		void *arg;
	} source[SOURCES_MAX];
} sources;

void sources_poll(void)
{
	/* ACQUIRE pairs with RELEASE in writer_add_source(). */
	const uint32_t count = load_acquire(&sources.count);

	for (uint32_t i = 0; i < count && i < SOURCES_MAX; i++) {
		/* ACQUIRE as above: a slot is counted before it is filled. */
		if (__atomic_load_n(&sources.source[i].poll, __ATOMIC_ACQUIRE))
			sources.source[i].poll(sources.source[i].arg);
	}
}

int writer_add_source(void (*poll)(void *arg), void *arg)
{
	const uint32_t at = add_relaxed(&sources.count, 1);

	if (at >= SOURCES_MAX)
		return -ENOSPC;
	sources.source[at].arg = arg;
	/* RELEASE pairs with ACQUIRE in sources_poll(): the argument. */
	__atomic_store_n(&sources.source[at].poll, poll, __ATOMIC_RELEASE);
	return 0;
}

void sources_forget(void)
{
	memset(&sources, 0, sizeof(sources));
}
