/* SPDX-License-Identifier: MIT */
/* thin.c - sites, marks, and the look back; see thin.h. */
#include "collector/session/thin.h"

#include "collector/system/float_state.h"

#include <string.h>

#define PROBES	   8u
/* A heap event, until it is measured. */
#define EVENT_PS   20000u
#define SLICE_PS   50000u
#define REGION_PS  90000u
#define MEMBER_PS  400000u
#define THINNED_PS 30000u
#define MARKED_PS  50000u
#define LOCKS_PS   15000u

static struct thin_site *site_at(const struct thread *thread, uint32_t number)
{
	return &thin_sites(thread)[thread->thin.place[number]];
}

COLD void thin_start(struct thread *thread)
{
	/* What was marked may still be in the ring, with its site. */
	for (uint32_t i = 0; i < thread->thin.used; i++)
		site_at(thread, i)->mask = 0;
	thread->thin.since_ticks = 0;
	thread->thin.sums = 0;
	thread->thin.window = THIN_NO_WINDOW;
	thread->thin.heap_since = 0;
	thread->thin.left = 1;
	thread->thin.over = 0;
	thread->thin.under = 0;
	thread->thin.frame = (struct thin_frame){0};
	thread->thin.wait_ticks = 0;
}

/* The table, with the first site: false without room, or without a bound. */
static bool make_sites(struct thread *thread)
{
	struct session *session = load_relaxed(&session_here);
	uint64_t at = 0;

	if (session && session->head->options.max_overhead)
		at = session_alloc(session,
				   THIN_SITES * sizeof(struct thin_site));
	if (!at)
		thread->thin.is_off = 1;
	else
		thread->thin.sites = at - thread->ring.at;
	return at;
}

COLD struct thin_site *thin_site_find(struct thread *thread, uint64_t code,
				      uint64_t what)
{
	const uint32_t hash = thin_hash(code, what);

	if (!thread->thin.sites && !make_sites(thread))
		return NULL;
	for (uint32_t i = 0; i < PROBES; i++) {
		struct thin_site *site =
			&thin_sites(thread)[(hash + i) % THIN_SITES];

		if (site->what == what && site->code == code)
			return site;
		if (site->kind)
			continue;
		site->code = code;
		site->what = what;
		thread->thin.place[thread->thin.used++] =
			(uint8_t)(site - thin_sites(thread));
		return site;
	}
	return NULL;
}

/* --- marks ---------------------------------------------------------------- */

/* They were counted as committed one by one. */
static void refuse(struct thread *thread, const struct event *marks)
{
	const struct thin_site *sites = thin_sites(thread);

	for (uint32_t i = 0; i < marks->name; i++) {
		const uint32_t at = event_mark_site(marks->words[i]);

		thread->ring.committed--;
		ring_refuse(&thread->ring, (enum event_kind)sites[at].kind,
			    marks->end_ticks);
	}
}

static void flush(struct thread *thread)
{
	struct event *marks = &thread->thin.marks;
	struct event *event = ring_reserve(&thread->ring, 1);

	if (likely(event)) {
		*event = *marks;
		ring_commit(&thread->ring, 1, 0);
		prefetch_to_write(event + 1);
	} else {
		refuse(thread, marks);
	}
	marks->name = 0;
}

/* --- sums ----------------------------------------------------------------- */

uint64_t thin_first(const struct thin *thin, const struct thin_site *sites)
{
	uint64_t first = thin->marked;

	for (uint32_t i = 0; i < thin->used && i < THIN_SITES; i++)
		first -= sites[thin->place[i]].count;
	return first;
}

static void clear(struct thin_site *site)
{
	site->count = 0;
	site->sum = 0;
	site->above = 0;
	site->most = 0;
}

/* Where there is no room they wait on, or are refused if they `must` go. */
static void flush_sums(struct thread *thread, uint64_t now_ticks, bool must)
{
	struct thin *thin = &thread->thin;
	uint64_t number = thin_first(thin, thin_sites(thread));

	for (uint32_t i = 0; i < thin->used; i++) {
		struct thin_site *site = site_at(thread, i);
		struct event *event;

		if (!site->count)
			continue;
		event = ring_reserve(&thread->ring, 1);
		if (!event && !must)
			return;
		if (event) {
			*event = thin_sums(thin, thin_sites(thread),
					   thin->place[i], number, now_ticks);
			ring_commit(&thread->ring, 1, 0);
		}
		for (uint32_t n = 0; !event && n < site->count; n++) {
			thread->ring.committed--;
			ring_refuse(&thread->ring, (enum event_kind)site->kind,
				    now_ticks);
		}
		number += site->count;
		clear(site);
	}
	thin->sums_ticks = now_ticks;
}

COLD void thin_flush(struct thread *thread)
{
	if (thread->thin.marks.name)
		flush(thread);
	if (thread->thin.sums)
		flush_sums(thread, clock_ticks(), true);
}

/* The first call that ends in a window. */
static COLD void turn(struct thread *thread)
{
	const struct session *session = load_relaxed(&session_here);
	/* ACQUIRE pairs with RELEASE in gate_turn(): the window's start. */
	const uint32_t now = load_acquire(&gate_page.openings);
	uint64_t opened;

	flush_sums(thread, clock_ticks(), true);
	thread->thin.window = now;
	thread->thin.window_ticks = UINT64_MAX;
	if (!session)
		return;
	/* ACQUIRE pairs with RELEASE in publish(): the window's start. */
	opened = load_acquire(&session->head->windows.opened);
	if (opened)
		thread->thin.window_ticks =
			session->head->windows
				.window[(opened - 1) % WINDOWS_MAX]
				.start_ticks;
	thread->thin.sums_ticks = thread->thin.window_ticks;
}

static void mark(struct thread *thread, const struct thin_site *site,
		 uint64_t start_ticks, uint64_t end_ticks)
{
	struct event *marks = &thread->thin.marks;
	const uint64_t took = end_ticks - start_ticks;
	uint64_t after = end_ticks - marks->start_ticks;
	uint32_t count = marks->name;

	if (count && unlikely(after > EVENT_MARK_AFTER_MAX)) {
		flush(thread);
		count = 0;
	}
	if (!count) {
		marks->kind = EVENT_OMP_THINNED;
		marks->start_ticks = end_ticks;
		marks->extra = (uint32_t)thread->thin.marked;
		after = 0;
	}
	marks->words[count] =
		event_mark((uint32_t)(site - thin_sites(thread)), after, took);
	marks->end_ticks = end_ticks;
	thread->thin.marked++;
	thread->ring.committed++;
	marks->name = count + 1;
	if (count + 1 == EVENT_MARKS)
		flush(thread);
}

bool thin_mark(struct thread *thread, struct thin_site *site,
	       uint64_t start_ticks, uint64_t end_ticks)
{
	struct thin *thin = &thread->thin;
	struct thread *was;

	if (unlikely(end_ticks - start_ticks > UINT32_MAX))
		return false;
	was = thread_fill();
	if (!thin->sums)
		mark(thread, site, start_ticks, end_ticks);
	else if (thin->window != gate_openings())
		turn(thread);
	thread_unbusy(was);
	return !thin->sums || thin_add(thread, site, start_ticks, end_ticks);
}

/* Marks are for the search of the step, and for windows that are cut from what
 * is kept: else sums do. */
static void choose(struct thread *thread, const struct session_header *head,
		   uint64_t now_ticks)
{
	const struct step_search *search = &head->search;
	const uint32_t state = search_state(search);
	const bool is_over =
		state == SEARCH_NONE || state == SEARCH_OVER ||
		(state == SEARCH_LIVE && load_relaxed(&search->live_ticks));
	const uint32_t sums = is_over && !head->flight.is_on;

	if (thread->thin.sums)
		flush_sums(thread, now_ticks, !sums);
	else if (sums && thread->thin.marks.name)
		flush(thread);
	if (sums != thread->thin.sums)
		thread->thin.window = THIN_NO_WINDOW;
	thread->thin.sums = sums;
}

/* --- the look back -------------------------------------------------------- */

static uint64_t drawn_of(uint64_t calls, uint32_t mask)
{
	return mask == THIN_ALL ? 0 : calls / (mask + 1u);
}

/* What one call takes that is thinned, and the locks that are none of a
 * team's. */
static uint64_t thinned_ps(const struct thread *thread,
			   const struct thin_site *site,
			   const struct session_cost *cost)
{
	const bool locks = site->kind == EVENT_OMP_REGION && site->team <= 1;

	return (thread->thin.sums ? cost->thinned_ps : cost->marked_ps) +
	       (locks ? cost->locks_ps : 0);
}

/* Picoseconds that the site's calls since the last look cost with that mask. */
static uint64_t cost_of(const struct thread *thread,
			const struct thin_site *site,
			const struct session_cost *cost, uint32_t mask)
{
	const uint64_t calls = site->calls - site->looked;
	const uint64_t drawn = drawn_of(calls, mask);
	uint64_t each = cost->slice_ps;

	/* All members of a team wait for each other's: of this one's time. */
	if (site->kind == EVENT_OMP_REGION)
		each = site->team > 1 ? cost->member_ps : cost->region_ps;
	return drawn * each + (calls - drawn) * thinned_ps(thread, site, cost);
}

/* Of those that can be thinned more. */
static struct thin_site *dearest(const struct thread *thread,
				 const struct session_cost *cost)
{
	struct thin_site *found = NULL;
	uint64_t most = 0;

	for (uint32_t i = 0; i < thread->thin.used; i++) {
		struct thin_site *site = site_at(thread, i);
		const uint64_t now = cost_of(thread, site, cost, site->wanted);

		if (site->kind != EVENT_OMP_REGION ||
		    site->wanted >= THIN_MOST || now <= most)
			continue;
		most = now;
		found = site;
	}
	return found;
}

/* Of these kinds what is short isn't drawn any more. */
static uint64_t sum_up(const struct thread *thread,
		       const struct session_cost *cost, uint32_t kinds,
		       uint64_t sum)
{
	for (uint32_t i = 0; i < thread->thin.used; i++) {
		struct thin_site *site = site_at(thread, i);

		if (!(kinds >> site->kind & 1))
			continue;
		sum -= cost_of(thread, site, cost, 0);
		sum += cost_of(thread, site, cost, THIN_ALL);
		site->wanted = THIN_ALL;
	}
	return sum;
}

/* The least masks with which what was done since the last look would have cost
 * no more than `share_ps`. */
static void plan(const struct thread *thread, const struct session_cost *cost,
		 uint64_t share_ps)
{
	struct thin_site *site;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < thread->thin.used; i++) {
		site = site_at(thread, i);
		site->wanted = 0;
		sum += cost_of(thread, site, cost, 0);
	}
	if (sum <= share_ps)
		return;
	sum = sum_up(thread, cost, 1u << EVENT_OMP_WAIT, sum);
	if (sum > share_ps)
		sum = sum_up(thread, cost,
			     1u << EVENT_OMP_EXPLICIT | 1u << EVENT_OMP_CREATE |
				     1u << EVENT_OMP_ACQUIRED,
			     sum);
	while (sum > share_ps && (site = dearest(thread, cost))) {
		sum -= cost_of(thread, site, cost, site->wanted);
		site->wanted = site->wanted * 2 + 1;
		sum += cost_of(thread, site, cost, site->wanted);
	}
}

/* True if some mask is to grow, or with `down` to shrink. */
static bool differs(const struct thread *thread, bool down)
{
	for (uint32_t i = 0; i < thread->thin.used; i++) {
		const struct thin_site *site = site_at(thread, i);

		if (down ? site->wanted < site->mask
			 : site->wanted > site->mask)
			return true;
	}
	return false;
}

static void change(struct thread *thread)
{
	for (uint32_t i = 0; i < thread->thin.used; i++) {
		struct thin_site *site = site_at(thread, i);

		site->mask = site->wanted;
		site->base = site->calls;
	}
	thread->thin.over = 0;
	thread->thin.under = 0;
}

/* Picoseconds of the time since the last look that recording may take. */
static uint64_t share_of(const struct session_header *head, uint64_t ticks)
{
	const struct float_state was = float_state_leave();
	const uint64_t rate =
		clock_ticks_per_second((struct clock_segments *)&head->clock);
	const double ps = (double)ticks * 1e12 / (double)(rate + 1);

	return float_state_return_with(
		&was,
		(uint64_t)(ps * (double)head->options.max_overhead / 100));
}

static void look(struct thread *thread, const struct session_header *head,
		 uint64_t ticks)
{
	/* The writer measures them in its first pass, for which a busy machine
	 * may let it wait for as long as a short program runs. */
	static const struct session_cost usual = {.slice_ps = SLICE_PS,
						  .region_ps = REGION_PS,
						  .member_ps = MEMBER_PS,
						  .thinned_ps = THINNED_PS,
						  .marked_ps = MARKED_PS,
						  .locks_ps = LOCKS_PS};
	const struct session_cost *cost =
		head->cost.slice_ps ? &head->cost : &usual;
	const uint64_t share = share_of(head, ticks);
	struct thin *thin = &thread->thin;

	plan(thread, cost, share);
	if (differs(thread, false)) {
		thin->under = 0;
		if (++thin->over >= THIN_OVER)
			change(thread);
		return;
	}
	thin->over = 0;
	if (!differs(thread, true)) {
		thin->under = 0;
		return;
	}
	plan(thread, cost, share / 2);
	if (!differs(thread, true) || differs(thread, false))
		thin->under = 0;
	else if (++thin->under >= THIN_UNDER)
		change(thread);
}

/* How long a slice must be that the share has room for. */
static uint64_t long_ticks(struct session_header *head)
{
	const struct float_state was = float_state_leave();
	const double rate = (double)clock_ticks_per_second(&head->clock);
	const uint32_t slice_ps =
		head->cost.slice_ps ? head->cost.slice_ps : SLICE_PS;

	return float_state_return_with(
		&was,
		(uint64_t)(THIN_LONG * (double)slice_ps * 100 /
			   (double)head->options.max_overhead * rate / 1e12));
}

COLD void thin_look(struct thread *thread, uint64_t now_ticks)
{
	struct session *session = load_relaxed(&session_here);
	const uint64_t since = thread->thin.since_ticks;
	struct thread *was = thread_fill();

	thread->thin.left = THIN_CALLS;
	thread->thin.since_ticks = now_ticks;
	if (session) {
		choose(thread, session->head, now_ticks);
		thread->thin.long_ticks = long_ticks(session->head);
	}
	/* The first look back has nothing to look at. */
	if (since && session)
		look(thread, session->head, now_ticks - since);
	for (uint32_t i = 0; i < thread->thin.used; i++) {
		struct thin_site *site = site_at(thread, i);
		const uint64_t calls = site->calls - site->looked;

		/* The rest of a team waits meanwhile. */
		if (session)
			thread->thin.marked_ps +=
				(calls - drawn_of(calls, site->mask)) *
				thinned_ps(thread, site, &session->head->cost) *
				(site->team > 1 ? site->team : 1);
		site->looked = site->calls;
	}
	thread_unbusy(was);
}

/* --- the heap ------------------------------------------------------------- */

/* Picoseconds that so many calls cost with that mask, beyond their being
 * counted.  Half of them are allocations, which alone have a stack. */
static uint64_t heap_cost(const struct session_header *head, uint64_t calls,
			  uint32_t mask)
{
	const struct float_state was = float_state_leave();
	const double rate = (double)clock_ticks_per_second(
				    (struct clock_segments *)&head->clock) +
			    1;
	const uint64_t timed = load_relaxed(&head->stacks.timed);
	uint64_t each = EVENT_PS;

	if (head->cost.event_ps)
		each = head->cost.event_ps -
		       min_u64(head->cost.counted_ps, head->cost.event_ps);
	if (head->heap_has_stacks && timed)
		each += (uint64_t)((double)load_relaxed(
					   &head->stacks.timed_ticks) /
				   (double)timed * 1e12 / rate) /
			2;
	return float_state_return_with(&was, calls / (mask + 1u) * each);
}

static void raise(_Atomic uint32_t *word, uint32_t wanted)
{
	uint32_t mask = load_relaxed(word);

	while (mask < wanted &&
	       !atomic_compare_exchange_weak_explicit(word, &mask, wanted,
						      memory_order_relaxed,
						      memory_order_relaxed))
		;
}

static void thin_heap(struct session_header *head, uint32_t wanted)
{
	raise(&head->heap_most, wanted);
	raise(&head->heap_mask, wanted);
	gate_thin_heap();
}

/* The least mask with which so many calls cost no more than `share_ps`. */
static uint32_t heap_plan(const struct session_header *head, uint64_t calls,
			  uint32_t mask, uint64_t share_ps)
{
	while (mask < THIN_MOST && heap_cost(head, calls, mask) > share_ps)
		mask = mask * 2 + 1;
	return mask;
}

/* Back, if nobody needs it.  The gate stays: events then tell what was passed
 * over before them. */
static void thicken_heap(struct session_header *head, uint64_t calls,
			 uint32_t mask, uint64_t share_ps, uint64_t now)
{
	const uint32_t less = heap_plan(head, calls, 0, share_ps / 2);
	const uint64_t second = clock_ticks_per_second(&head->clock);

	if (less >= mask)
		store_relaxed(&head->heap_since, now);
	else if (now - load_relaxed(&head->heap_since) > second)
		/* Unless another thread has made it larger meanwhile. */
		atomic_compare_exchange_strong_explicit(
			&head->heap_mask, &mask, less, memory_order_relaxed,
			memory_order_relaxed);
}

COLD void thin_heap_look(struct thread *thread, struct session *session)
{
	struct session_header *head = session->head;
	struct thin *thin = &thread->thin;
	const uint64_t calls =
		thread->ring.heap_allocs + thread->ring.heap_frees;
	const uint64_t made = calls - thin->heap_calls;
	const uint64_t now = clock_ticks(), since = thin->heap_since;
	const int64_t most =
		(int64_t)share_of(head, clock_ticks_per_second(&head->clock));
	const uint32_t mask = load_relaxed(&head->heap_mask);
	uint64_t share;

	thin->heap_calls = calls;
	thin->heap_since = now;
	if (!since)
		thin->heap_left_ps = most;
	if (!since)
		return;
	share = share_of(head, now - since);
	thin->heap_left_ps +=
		(int64_t)share - (int64_t)heap_cost(head, made, mask);
	if (thin->heap_left_ps > most)
		thin->heap_left_ps = most;
	if (thin->heap_left_ps >= 0) {
		if (mask)
			thicken_heap(head, made, mask, share, now);
		return;
	}
	/* What it does from now on is judged anew. */
	thin->heap_left_ps = 0;
	store_relaxed(&head->heap_since, now);
	thin_heap(head, heap_plan(head, made, mask, share));
}
