/* SPDX-License-Identifier: MIT */
/* gpu_links.c - from work to the slices around its launch; see gpu_links.h. */
#include "writer/gpu/gpu_links.h"

#include <string.h>

/* More only a damaged session has, or a program that makes threads without end:
 * their work is drawn without an operation. */
#define THREADS_MOST	 8192u
/* Spans on streams, of all annotations that wait: 64 MiB. */
#define PROJECTIONS_MOST (1u << 20)
/* Slices whose work has arrived are kept nevertheless, since a call may come
 * late. */
#define KEPT		 1024u
/* Slices that share an entry of `lows`. */
#define FEW		 64u

struct gpu_link_thread *gpu_links_known(const struct gpu_links *links,
					uint32_t tid)
{
	struct gpu_link_thread *thread = links->buckets[tid % GPU_LINK_BUCKETS];

	while (thread && thread->tid != tid)
		thread = thread->in_bucket;
	return thread;
}

struct gpu_link_thread *gpu_links_thread(struct gpu_links *links, uint32_t tid)
{
	struct gpu_link_thread *thread = gpu_links_known(links, tid);

	if (thread)
		return thread;
	if (links->count >= THREADS_MOST)
		return NULL;
	thread = arena_alloc(&links->arena, sizeof(*thread));
	if (!thread)
		return NULL;
	links->count++;
	thread->tid = tid;
	thread->older = links->newest;
	links->newest = thread;
	thread->in_bucket = links->buckets[tid % GPU_LINK_BUCKETS];
	links->buckets[tid % GPU_LINK_BUCKETS] = thread;
	return thread;
}

/* --- spans on streams ----------------------------------------------------- */

static void cut(struct gpu_links *links, struct gpu_link *link)
{
	links->cut += !link->is_cut;
	link->is_cut = true;
}

/* NULL: there is no room for it. */
static struct gpu_projection *new_projection(struct gpu_links *links)
{
	struct gpu_projection *one = links->free;

	if (one) {
		links->free = one->next;
		return one;
	}
	if (links->projections >= PROJECTIONS_MOST)
		return NULL;
	one = arena_alloc(&links->arena, sizeof(*one));
	links->projections += one != NULL;
	return one;
}

static void free_projections(struct gpu_links *links, struct gpu_link *link)
{
	struct gpu_projection **last = &link->first;

	while (*last)
		last = &(*last)->next;
	*last = links->free;
	links->free = link->first;
	link->first = NULL;
}

static void widen(struct gpu_links *links, struct gpu_link *link,
		  uint32_t device, uint32_t stream, struct lane_span span)
{
	struct gpu_projection **at = &link->first;
	struct gpu_projection *one;

	while (*at && ((*at)->device != device || (*at)->stream != stream))
		at = &(*at)->next;
	one = *at;
	if (one) {
		one->span.start_ns = min_u64(one->span.start_ns, span.start_ns);
		one->span.end_ns = max_u64(one->span.end_ns, span.end_ns);
		return;
	}
	one = new_projection(links);
	if (!one) {
		cut(links, link);
		return;
	}
	*one = (struct gpu_projection){NULL, device, stream, span};
	*at = one;
}

/* --- slices that are open ------------------------------------------------- */

static struct gpu_link *find_open(struct gpu_link_thread *thread,
				  uint64_t start_ticks)
{
	for (unsigned int i = 0; i < OPEN_SLICES_MAX; i++) {
		if (thread->open[i].start_ticks == start_ticks)
			return &thread->open[i];
	}
	return NULL;
}

static struct gpu_link *make_open(struct gpu_link_thread *thread,
				  uint64_t start_ticks)
{
	struct gpu_link *link = find_open(thread, start_ticks);
	struct gpu_link *oldest = &thread->open[0];

	if (link)
		return link;
	for (unsigned int i = 0; i < OPEN_SLICES_MAX; i++) {
		/* A free one has start 0; else the oldest can only be one whose
		 * end was lost. */
		if (thread->open[i].start_ticks < oldest->start_ticks)
			oldest = &thread->open[i];
	}
	/* Its list of spans is left to the arena. */
	*oldest = (struct gpu_link){.start_ticks = start_ticks};
	return oldest;
}

uint64_t gpu_links_reserved(struct gpu_link_thread *thread,
			    uint64_t start_ticks)
{
	const struct gpu_link *link = find_open(thread, start_ticks);

	return link ? link->id : 0;
}

static uint32_t depth_of(const struct thread *live)
{
	uint32_t depth;

	if (!live)
		return 0;
	/* ACQUIRE pairs with RELEASE in thread_open(). */
	depth = load_acquire(&((struct thread *)live)->depth);
	return depth < OPEN_SLICES_MAX ? depth : OPEN_SLICES_MAX;
}

/* 0: it has ended already, while others around it go on. */
static uint64_t open_start(const struct open_slice *slice)
{
	return slice->kind == EVENT_NONE ? 0 : slice->start_ticks;
}

void gpu_links_look(struct gpu_link_thread *thread, const struct thread *live)
{
	const uint32_t depth = depth_of(live);

	thread->was_depth = 0;
	for (uint32_t at = 0; at < depth; at++) {
		const uint64_t start = open_start(&live->open[at]);

		if (start)
			thread->was_open[thread->was_depth++] = start;
	}
	thread->is_looked = true;
}

/* --- slices that have ended ----------------------------------------------- */

static struct gpu_link *ended_at(const struct gpu_link_thread *thread,
				 size_t number)
{
	return (struct gpu_link *)thread->ended.base + number;
}

/* False: no memory. */
static bool add_ended(struct gpu_link_thread *thread,
		      const struct gpu_link *link)
{
	const size_t at = thread->count;
	uint64_t *low;

	if (array_reserve(&thread->ended, (at + 1) * sizeof(*link)) ||
	    array_reserve(&thread->lows, (at / FEW + 1) * sizeof(*low)))
		return false;
	low = (uint64_t *)thread->lows.base + at / FEW;
	*low = at % FEW ? min_u64(*low, link->start_ticks) : link->start_ticks;
	*ended_at(thread, at) = *link;
	thread->count++;
	return true;
}

/* The first one that ends at or after a tick. */
static size_t first_after(const struct gpu_link_thread *thread, uint64_t ticks)
{
	size_t low = 0, high = thread->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (ended_at(thread, middle)->end_ticks < ticks)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The first one from `at` on that began by then; `count` none. */
static size_t next_around(const struct gpu_link_thread *thread, size_t at,
			  uint64_t ticks)
{
	const uint64_t *lows = thread->lows.base;

	while (at < thread->count) {
		if (at % FEW == 0 && lows[at / FEW] > ticks)
			at += FEW;
		else if (ended_at(thread, at)->start_ticks <= ticks)
			return at;
		else
			at++;
	}
	return thread->count;
}

/* The oldest go, whole entries of `lows`. */
static void forget(struct gpu_link_thread *thread, size_t count)
{
	uint64_t *lows = thread->lows.base;

	count -= count % FEW;
	if (!count)
		return;
	thread->forgotten_ticks = ended_at(thread, count - 1)->end_ticks;
	thread->count -= count;
	thread->done -= count;
	memmove(ended_at(thread, 0), ended_at(thread, count),
		thread->count * sizeof(struct gpu_link));
	memmove(lows, lows + count / FEW,
		(thread->count + FEW - 1) / FEW * sizeof(*lows));
}

/* The first `count`. */
static void hand_out(struct gpu_links *links, struct gpu_link_thread *thread,
		     size_t count, gpu_links_each *each, void *arg)
{
	/* The outer ones ended later: they come first. */
	for (size_t i = count; i-- > thread->done;) {
		struct gpu_link *link = ended_at(thread, i);

		if (!link->first)
			continue;
		if (link->text)
			each(link, arg);
		free_projections(links, link);
	}
	thread->done = max_u64(thread->done, count);
	if (thread->done > 2 * KEPT)
		forget(thread, thread->done - KEPT);
}

bool gpu_links_close(struct gpu_links *links, struct gpu_link_thread *thread,
		     const struct gpu_link *slice)
{
	struct gpu_link *open = find_open(thread, slice->start_ticks);
	struct gpu_link link = *slice;

	thread->is_wanted |= link.text != NULL;
	if (open) {
		link.first = open->first;
		link.is_cut = open->is_cut;
		*open = (struct gpu_link){0};
	}
	if (!add_ended(thread, &link) && link.text)
		cut(links, &link);
	return thread->count >=
	       (thread->is_wanted ? GPU_LINKS_MOST : GPU_LINKS_MOST_QUIET);
}

void gpu_links_shed(struct gpu_links *links, struct gpu_link_thread *thread,
		    gpu_links_each *each, void *arg)
{
	const size_t count = thread->count / 4;

	for (size_t i = thread->done; i < count; i++) {
		if (ended_at(thread, i)->text)
			cut(links, ended_at(thread, i));
	}
	hand_out(links, thread, count, each, arg);
	if (thread->count > 3 * count)
		forget(thread, min_u64(thread->done, count));
}

/* The slices that are open or were as of the look, from the innermost out. */
struct around {
	const struct gpu_link_thread *thread;
	const struct thread *live;
	uint32_t depth, was_depth;
};

static struct around open_from(const struct gpu_link_thread *thread,
			       const struct thread *live)
{
	return (struct around){.thread = thread,
			       .live = live,
			       .depth = depth_of(live),
			       .was_depth = thread->was_depth};
}

/* The next one that began by `ticks`: its start, 0 none. */
static uint64_t open_around(struct around *at, uint64_t ticks)
{
	uint64_t start = 0, was = 0;

	while (at->depth) {
		start = open_start(&at->live->open[at->depth - 1]);
		if (start && start <= ticks)
			break;
		start = 0;
		at->depth--;
	}
	while (at->was_depth) {
		was = at->thread->was_open[at->was_depth - 1];
		if (was <= ticks)
			break;
		was = 0;
		at->was_depth--;
	}
	at->depth -= start && start >= was;
	at->was_depth -= was && was >= start;
	return max_u64(start, was);
}

/* It was open as of the look, and has been written in this pass. */
static bool is_ended(const struct gpu_link_thread *thread, uint64_t start,
		     uint64_t ticks)
{
	for (size_t i = next_around(thread, first_after(thread, ticks), ticks);
	     i < thread->count; i = next_around(thread, i + 1, ticks)) {
		if (ended_at(thread, i)->start_ticks == start)
			return true;
	}
	return false;
}

uint64_t gpu_links_find(struct gpu_link_thread *thread,
			const struct thread *live, uint64_t ticks,
			uint64_t *next_id)
{
	struct around at = open_from(thread, live);
	struct gpu_link *link;
	uint64_t start;
	size_t ended;

	thread->is_wanted = true;
	if (ticks <= thread->forgotten_ticks)
		return 0;
	ended = next_around(thread, first_after(thread, ticks), ticks);
	if (ended < thread->count)
		return ended_at(thread, ended)->id;
	start = open_around(&at, ticks);
	if (!start)
		return 0;
	link = make_open(thread, start);
	if (!link->id)
		link->id = ++*next_id;
	return link->id;
}

void gpu_links_miss(struct gpu_links *links,
		    const struct gpu_link_thread *thread, uint64_t ticks)
{
	links->unknown += !thread || ticks <= thread->forgotten_ticks;
}

void gpu_links_work(struct gpu_links *links, struct gpu_link_thread *thread,
		    const struct thread *live, uint64_t ticks, uint32_t device,
		    uint32_t stream, struct lane_span span)
{
	struct around at = open_from(thread, live);
	uint64_t start;

	for (size_t i = next_around(thread, first_after(thread, ticks), ticks);
	     i < thread->count; i = next_around(thread, i + 1, ticks)) {
		struct gpu_link *link = ended_at(thread, i);

		if (!link->text)
			continue;
		if (i < thread->done)
			cut(links, link);
		else
			widen(links, link, device, stream, span);
	}
	while ((start = open_around(&at, ticks))) {
		if (!is_ended(thread, start, ticks))
			widen(links, make_open(thread, start), device, stream,
			      span);
	}
}

void gpu_links_flush(struct gpu_links *links, uint64_t ticks,
		     gpu_links_each *each, void *arg)
{
	for (struct gpu_link_thread *t = links->newest; t; t = t->older)
		hand_out(links, t, first_after(t, ticks), each, arg);
}

void gpu_links_free(struct gpu_links *links)
{
	for (struct gpu_link_thread *t = links->newest; t; t = t->older) {
		array_free(&t->ended);
		array_free(&t->lows);
	}
	arena_free(&links->arena);
	*links = (struct gpu_links){0};
}
