/* SPDX-License-Identifier: MIT */
/* call_places.c - a table by calls' numbers; see call_places.h. */
#include "preload/stack/call_places.h"

#include "collector/control/search.h"
#include "collector/session/session.h"
#include "collector/steps/steps.h"
#include "preload/stack/callers.h"
#include <string.h>

/* Powers of two. */
#define CALLS	    65536u
#define SYMBOLS	    256u
#define SITES	    256u
/* Calls that are looked at, whatever they are; those called back for; and how
 * often a site may have come, to be looked at between the two. */
#define LOOKED_MOST 4096u
#define CALLS_MOST  65536u
#define SELDOM	    16u

/* By the call's number: that above its place. */
static _Atomic uint64_t places[CALLS];

/* All the main thread's own, but for `came`. */
static struct {
	_Atomic uint32_t came;
	uint32_t last; /* call: the driver's is within the runtime's */
	struct {
		const char *text;
		uint64_t id;
	} symbol[SYMBOLS];
	struct {
		uint64_t id;
		uint32_t came;
	} site[SITES];
} calls;

bool call_places_are_wanted(const struct session *session)
{
	return session && steps_source() == STEP_AUTO &&
	       search_state(&session->head->search) == SEARCH_ON &&
	       load_relaxed(&calls.came) < CALLS_MOST;
}

/* A name's address is good for as long as its module. */
static uint64_t id_of(const char *symbol)
{
	const size_t at = ((uintptr_t)symbol >> 3) % SYMBOLS;

	if (calls.symbol[at].text != symbol) {
		calls.symbol[at].id = search_kernel(symbol);
		calls.symbol[at].text = symbol;
	}
	return calls.symbol[at].id;
}

/* Of two sites in one slot the second never is. */
static bool is_seldom(uint64_t id)
{
	const size_t at = (id ^ id >> 32) % SITES;

	if (!calls.site[at].id)
		calls.site[at].id = id;
	return calls.site[at].id == id && calls.site[at].came++ < SELDOM;
}

void call_places_note(const struct thread *thread, uint32_t correlation,
		      const char *symbol, uint64_t call)
{
	const struct session *session = load_relaxed(&session_here);
	uint32_t came, place;
	bool is_looked_at;
	uint64_t id;

	if (!session || thread->tid != (uint32_t)session->head->pid ||
	    correlation == calls.last || !call_places_are_wanted(session))
		return;
	calls.last = correlation;
	came = add_relaxed(&calls.came, 1);
	id = symbol ? id_of(symbol) : call;
	is_looked_at = is_seldom(id) | (came < LOOKED_MOST);
	place = is_looked_at ? callers_number_of_call(thread, id) : 0;
	if (place)
		store_relaxed(&places[correlation % CALLS],
			      (uint64_t)correlation << 32 | place);
}

uint32_t call_places_of(uint32_t correlation)
{
	const uint64_t found = load_relaxed(&places[correlation % CALLS]);

	return found >> 32 == correlation ? (uint32_t)found : 0;
}

void call_places_forget(void)
{
	if (!load_relaxed(&calls.came))
		return;
	memset(&calls, 0, sizeof(calls));
	for (uint32_t i = 0; i < CALLS; i++)
		if (load_relaxed(&places[i]))
			store_relaxed(&places[i], 0);
}
