/* SPDX-License-Identifier: MIT */
/* call_places.c - a table by calls' numbers; see call_places.h. */
#include "preload/stack/call_places.h"

#include "collector/control/search.h"
#include "collector/session/session.h"
#include "collector/steps/steps.h"
#include "preload/stack/callers.h"
#include <string.h>

/* Powers of two. */
#define CALLS	   65536u
#define SYMBOLS	   256u
#define SITES	   256u
/* Calls that are called back for; and how often a site may have come, to be
 * looked at behind the first SEARCH_CALLS_LOOKED.  Of one that comes more often
 * some are, one after the other: a program's second phase. */
#define CALLS_MOST 65536u
#define SELDOM	   16u
#define EACH	   64u
#define IN_A_ROW   4u

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
static bool is_chosen(uint64_t id)
{
	const size_t at = (id ^ id >> 32) % SITES;
	uint32_t came;

	if (!calls.site[at].id)
		calls.site[at].id = id;
	if (calls.site[at].id != id)
		return false;
	came = calls.site[at].came++;
	return came < SELDOM || came % EACH < IN_A_ROW;
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
	is_looked_at = is_chosen(id) | (came < SEARCH_CALLS_LOOKED);
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
