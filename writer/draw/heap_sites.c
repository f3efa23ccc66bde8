/* SPDX-License-Identifier: MIT */
/* heap_sites.c - the heap's sums by call stack; see heap_sites.h. */
#include "writer/draw/heap_sites.h"

#include "writer/draw/by_time.h"
#include "writer/events/site_json.h"
#include "writer/gpu/gpu_known.h"
#include <errno.h>

#define BLOCKS_AT_FIRST 4096u
/* Each of the first steps has lines, then those so far from another's. */
#define STEPS_AT_FIRST	200u
#define PAUSE_NS	5000000u
#define PAUSE_PART	100u
/* Without any: often enough for a run of ten seconds. */
#define UNMARKED_NS	500000000u

/* One call, or (without a reader) the end of a step. */
struct call {
	uint64_t ticks, address, bytes;
	struct ring_reader *reader;
	uint32_t stack;
	uint32_t spare : 31; /* bytes not asked for, or most that fits */
	uint32_t is_free : 1;
};

struct site {
	uint32_t stack;
	bool is_changed;
	struct site_sums sums; /* since its last line */
	int64_t live, blocks, spare;
	struct site_peaks peaks;
};

/* A block that is live; without a site one whose free came, and whose call may
 * still come. */
struct block {
	uint64_t address; /* 0 empty */
	uint64_t bytes, ticks;
	struct site *site;
	uint32_t tid, spare;
};

struct heap_sites {
	struct by_time calls;
	struct array blocks, list;
	size_t block_count, site_count;
	size_t slots;		 /* of blocks, a power of two */
	struct hash_index index; /* struct site, by stack */
	struct heap_sums all;	 /* since its last line */
	int64_t live, blocks_live, spare;
	struct site_peaks peaks;
	uint64_t last_ticks;
	uint64_t written_ns, begun_ns, steps;
	bool is_changed;
	bool is_whole; /* what was live at first is known */
	bool is_timed; /* lines where no mark is, too */
};

static struct heap_sites *sites_of(struct writer_state *state)
{
	struct heap_sites *sites = state->heap_sites;

	if (sites)
		return sites;
	sites = arena_alloc(&state->arena, sizeof(*sites));
	if (sites)
		/* A recovery's first may not be the run's. */
		sites->is_whole =
			!state->counts.written_by_kind[EVENT_HEAP_ALLOC];
	return state->heap_sites = sites;
}

/* --- blocks ----------------------------------------------------------------*/

static struct block *blocks_of(const struct heap_sites *sites)
{
	return sites->blocks.base;
}

static size_t home_of(const struct heap_sites *sites, uint64_t address)
{
	return hash_u64(address >> 4) & (sites->slots - 1);
}

/* Its slot, or the empty one where it belongs. */
static struct block *find(const struct heap_sites *sites, uint64_t address)
{
	size_t at = home_of(sites, address);

	while (blocks_of(sites)[at].address &&
	       blocks_of(sites)[at].address != address)
		at = (at + 1) & (sites->slots - 1);
	return &blocks_of(sites)[at];
}

/* What follows in the row moves up, or it would not be found any more. */
static void erase(struct heap_sites *sites, struct block *block)
{
	struct block *all = blocks_of(sites);
	const size_t mask = sites->slots - 1;
	size_t hole = (size_t)(block - all);

	for (size_t at = (hole + 1) & mask; all[at].address;
	     at = (at + 1) & mask) {
		const size_t home = home_of(sites, all[at].address);

		if (((at - home) & mask) >= ((at - hole) & mask)) {
			all[hole] = all[at];
			hole = at;
		}
	}
	all[hole].address = 0;
	sites->block_count--;
}

static bool make_room(struct heap_sites *sites)
{
	const size_t slots = sites->slots;
	struct array old = sites->blocks;

	if (sites->block_count * 2 < slots)
		return true;
	sites->blocks = (struct array){0};
	sites->slots = slots ? 2 * slots : BLOCKS_AT_FIRST;
	if (array_reserve(&sites->blocks,
			  sites->slots * sizeof(struct block))) {
		sites->blocks = old;
		sites->slots = slots;
		/* As long as one slot is empty, looking ends. */
		return sites->block_count + 1 < slots;
	}
	for (size_t i = 0; i < slots; i++) {
		const struct block *block = &((struct block *)old.base)[i];

		if (block->address)
			*find(sites, block->address) = *block;
	}
	array_free(&old);
	return true;
}

/* --- sites -----------------------------------------------------------------*/

static bool same_stack(const void *item, const void *key)
{
	return ((const struct site *)item)->stack == *(const uint32_t *)key;
}

static struct site *site_of(struct writer_state *state, uint32_t stack)
{
	struct heap_sites *sites = state->heap_sites;
	struct site *site = hash_index_find(&sites->index, hash_u64(stack),
					    same_stack, &stack);

	if (site)
		return site;
	site = arena_alloc(&state->arena, sizeof(*site));
	if (!site ||
	    array_reserve(&sites->list, (sites->site_count + 1) * sizeof(site)))
		return NULL;
	site->stack = stack;
	if (hash_index_add(&sites->index, hash_u64(stack), site))
		return NULL;
	((struct site **)sites->list.base)[sites->site_count++] = site;
	return site;
}

/* Before what is live changes: what it was at the last peaks. */
static void touch(const struct heap_sites *sites, struct site *site)
{
	const struct site_peaks *all = &sites->peaks;

	if (site->peaks.held.number != all->held.number)
		site->peaks.held = (struct site_peak){site->live, site->blocks,
						      all->held.number};
	if (site->peaks.asked.number != all->asked.number)
		site->peaks.asked =
			(struct site_peak){site->live - site->spare,
					   site->blocks, all->asked.number};
	site->is_changed = true;
}

static void change(struct heap_sites *sites, struct site *site, int64_t bytes,
		   int64_t spare, int64_t blocks)
{
	touch(sites, site);
	site->live += bytes;
	site->blocks += blocks;
	site->spare += spare;
	site->sums.live += bytes;
	site->sums.spare_live += spare;
	site->sums.blocks += blocks;
	sites->live += bytes;
	sites->blocks_live += blocks;
	sites->spare += spare;
	sites->all.sums.live += bytes;
	sites->all.sums.spare_live += spare;
	sites->all.sums.blocks += blocks;
}

static unsigned int size_class(uint64_t bytes)
{
	const unsigned int bits =
		bytes > 1 ? 64 - (unsigned int)__builtin_clzl(bytes - 1) : 0;

	return bits < SITE_SIZES ? bits : SITE_SIZES - 1;
}

/* --- one call --------------------------------------------------------------*/

static void went(struct heap_sites *sites, struct block *block,
		 const struct ring_reader *reader, uint64_t address)
{
	struct site *site = block->site;

	change(sites, site, -(int64_t)block->bytes, -(int64_t)block->spare, -1);
	site->sums.frees++;
	/* Somebody else may have had the address since. */
	if (reader && reader->heap_last == address &&
	    reader->thread->tid == block->tid) {
		site->sums.temporary++;
		sites->all.sums.temporary++;
	}
	if (reader && reader->thread->tid != block->tid) {
		site->sums.foreign++;
		sites->all.sums.foreign++;
	}
}

static void take_free(struct heap_sites *sites, const struct call *call)
{
	struct block *block;

	sites->all.sums.frees++;
	if (!make_room(sites)) {
		sites->all.lost++;
		return;
	}
	block = find(sites, call->address);
	if (block->address && block->site && block->ticks <= call->ticks) {
		went(sites, block, call->reader, call->address);
		erase(sites, block);
		return;
	}
	sites->all.strange++;
	/* Its successor was seen before it. */
	if (block->address && block->site)
		return;
	sites->block_count += !block->address;
	*block = (struct block){.address = call->address, .ticks = call->ticks};
}

static bool is_peak(const struct heap_sites *sites, struct site_peak *peak,
		    int64_t live)
{
	if (live <= peak->bytes)
		return false;
	*peak = (struct site_peak){live, sites->blocks_live, peak->number + 1};
	return true;
}

static void born(struct writer_state *state, struct heap_sites *sites,
		 struct site *site, const struct call *call)
{
	change(sites, site, (int64_t)call->bytes, (int64_t)call->spare, 1);
	if (is_peak(sites, &sites->peaks.held, sites->live))
		sites->all.peak_ns = timeline_ns(&state->timeline, call->ticks);
	if (is_peak(sites, &sites->peaks.asked, sites->live - sites->spare))
		sites->all.asked_peak_ns =
			timeline_ns(&state->timeline, call->ticks);
}

static void take_alloc(struct writer_state *state, struct heap_sites *sites,
		       const struct call *call)
{
	struct site *site = site_of(state, call->stack);
	struct block *block;

	sites->all.sums.calls++;
	sites->all.sums.bytes += call->bytes;
	sites->all.sums.spare += call->spare;
	sites->all.sizes[size_class(call->bytes)]++;
	if (!site || !make_room(sites)) {
		sites->all.lost++;
		return;
	}
	touch(sites, site);
	site->sums.calls++;
	site->sums.bytes += call->bytes;
	site->sums.spare += call->spare;
	block = find(sites, call->address);
	if (block->address && !block->site && block->ticks >= call->ticks) {
		/* It came and went. */
		site->sums.frees++;
		sites->all.strange--;
		erase(sites, block);
		return;
	}
	/* Its free is in no ring: it was refused, say. */
	if (block->address && block->site)
		went(sites, block, NULL, 0);
	sites->block_count += !block->address;
	*block = (struct block){call->address,
				call->bytes,
				call->ticks,
				site,
				call->reader->thread->tid,
				call->spare};
	born(state, sites, site, call);
}

static bool is_past_pause(const struct heap_sites *sites, uint64_t ns)
{
	return ns >=
	       sites->written_ns + max_u64(sites->steps || sites->is_timed
						   ? PAUSE_NS
						   : UNMARKED_NS,
					   (ns - sites->begun_ns) / PAUSE_PART);
}

/* How seldom is seen from the first mark on: what is loaded before it may take
 * far longer than all steps. */
static bool is_due(struct heap_sites *sites, uint64_t ns)
{
	if (!sites->steps)
		sites->begun_ns = ns;
	return sites->steps++ < STEPS_AT_FIRST || is_past_pause(sites, ns);
}

static void write_site(struct writer_state *state, struct site *site,
		       uint64_t ns)
{
	const struct heap_sites *sites = state->heap_sites;

	/* As of the peak that stands in the line before. */
	touch(sites, site);
	site_json(state, ns, site->stack, &site->sums,
		  sites->is_whole ? &site->peaks : &(struct site_peaks){0});
	site->sums = (struct site_sums){0};
	site->is_changed = false;
	if (window_file_is_due(state))
		window_file_flush(state);
}

static void write_all(struct writer_state *state, uint64_t ns)
{
	struct heap_sites *sites = state->heap_sites;
	struct site **list = sites->list.base;

	if (!sites->is_changed || !state->file.is_open)
		return;
	site_json_all(state, ns, &sites->all,
		      sites->is_whole ? &sites->peaks
				      : &(struct site_peaks){0});
	for (size_t i = 0; i < sites->site_count && !state->error; i++) {
		if (list[i]->is_changed)
			write_site(state, list[i], ns);
	}
	sites->all =
		(struct heap_sums){.peak_ns = sites->all.peak_ns,
				   .asked_peak_ns = sites->all.asked_peak_ns};
	sites->is_changed = false;
	sites->written_ns = ns;
}

static void account(struct writer_state *state, const struct call *call)
{
	struct heap_sites *sites = state->heap_sites;

	sites->last_ticks = max_u64(sites->last_ticks, call->ticks);
	if (!sites->begun_ns)
		sites->begun_ns = sites->written_ns =
			timeline_ns(&state->timeline, call->ticks);
	if (!call->reader) {
		const uint64_t ns = timeline_ns(&state->timeline, call->ticks);

		if (is_due(sites, ns))
			write_all(state, ns);
		return;
	}
	if (sites->is_timed || !sites->steps) {
		const uint64_t ns = timeline_ns(&state->timeline, call->ticks);

		if (is_past_pause(sites, ns))
			write_all(state, ns);
	}
	sites->is_changed = true;
	if (call->is_free)
		take_free(sites, call);
	else
		take_alloc(state, sites, call);
	call->reader->heap_last = call->is_free ? 0 : call->address;
}

/* --- by time ---------------------------------------------------------------*/

/* A run goes on where its thread's calls follow one another. */
static bool add(struct writer_state *state, const struct call *call)
{
	struct heap_sites *sites = sites_of(state);
	const struct call *last =
		sites ? by_time_last(&sites->calls, sizeof(*call)) : NULL;

	return sites && by_time_add(&sites->calls, call, sizeof(*call),
				    last && last->reader == call->reader);
}

bool heap_sites_take(struct writer_state *state, struct ring_reader *reader,
		     const struct event *event)
{
	const struct call call = {
		.ticks = event->start_ticks,
		.address = event->heap.address,
		.bytes = event->heap.size_bytes,
		.reader = reader,
		.stack = event->stack,
		.spare = (uint32_t)min_u64(event->heap.spare_bytes, INT32_MAX),
		.is_free = event->kind == EVENT_HEAP_FREE};

	return add(state, &call);
}

void heap_sites_step(struct writer_state *state, uint64_t ticks)
{
	const struct call call = {.ticks = ticks};

	if (state->heap_sites)
		add(state, &call);
}

/* The step may be a GPU's call, which comes when the heap's were taken. */
static bool may_be_gpus(const struct writer_state *state)
{
	const struct ring_reader *reader =
		state->finder ? state->readers : NULL;

	while (reader && !gpu_is_reader(reader))
		reader = reader->older;
	return reader;
}

static void account_next(void *state, void *call, void *next)
{
	(void)next;
	account(state, call);
}

void heap_sites_settle(struct writer_state *state)
{
	struct heap_sites *sites = state->heap_sites;

	if (!sites)
		return;
	sites->is_timed = may_be_gpus(state);
	by_time_settle(&sites->calls, sizeof(struct call), account_next, state);
}

void heap_sites_flush(struct writer_state *state)
{
	if (!state->heap_sites)
		return;
	heap_sites_settle(state);
	write_all(state,
		  timeline_ns(&state->timeline, state->heap_sites->last_ticks));
}

/* --- files -----------------------------------------------------------------*/

void heap_sites_next_file(struct writer_state *state)
{
	struct heap_sites *sites = state->heap_sites;

	if (!sites)
		return;
	for (size_t i = 0; i < sites->site_count; i++) {
		struct site *site = ((struct site **)sites->list.base)[i];

		site->sums.live = site->live;
		site->sums.blocks = site->blocks;
		site->sums.spare_live = site->spare;
		site->is_changed |= site->live || site->peaks.held.bytes ||
				    site->peaks.asked.bytes;
	}
	sites->all.sums.live = sites->live;
	sites->all.sums.blocks = sites->blocks_live;
	sites->all.sums.spare_live = sites->spare;
	sites->is_changed = true;
}

void heap_sites_next_window(struct writer_state *state)
{
	struct heap_sites *sites = state->heap_sites;

	if (!sites)
		return;
	for (size_t i = 0; i < sites->site_count; i++) {
		struct site *site = ((struct site **)sites->list.base)[i];

		*site = (struct site){.stack = site->stack};
	}
	array_free(&sites->blocks);
	sites->block_count = sites->slots = 0;
	sites->all = (struct heap_sums){0};
	sites->live = sites->blocks_live = sites->spare = 0;
	sites->peaks = (struct site_peaks){0};
	sites->begun_ns = sites->written_ns = 0;
}

void heap_sites_end(struct writer_state *state)
{
	struct heap_sites *sites = state->heap_sites;

	if (!sites)
		return;
	by_time_free(&sites->calls);
	array_free(&sites->blocks);
	array_free(&sites->list);
	hash_index_free(&sites->index);
}
