/* SPDX-License-Identifier: MIT */
/* heap_account.c - replays a log of memory; see heap_account.h. */
#include "tools/memory/heap_account.h"

#include <stdlib.h>
#include <string.h>

#include "tools/util/memory.h"

#define PARTS 200 /* of a trace without steps */

/* A block that is live. */
struct block {
	uint64_t address; /* 0 empty */
	int64_t bytes, blocks;
	uint32_t space;
	uint32_t site; /* UINT32_MAX it is left out */
	uint32_t thread;
	int64_t other; /* in the log's other measure */
};

/* By address; open addressing, a power of two of them. */
struct blocks {
	struct block *table;
	size_t slots, count;
};

struct replay {
	struct heap_account *account;
	struct blocks blocks;
	struct block *maps; /* mapped, by address; none overlaps another */
	size_t map_count, map_capacity;
	uint64_t *last;	   /* of each thread: the block it made last, 0 none */
	uint32_t *touched; /* sites since the last point */
	size_t touched_count, touched_capacity;
	size_t point;
	bool has_peak; /* the sums that are read */
};

static size_t slot_of(const struct blocks *blocks, uint64_t address,
		      uint32_t space)
{
	const uint64_t hash =
		((address >> 4) + space) * UINT64_C(0x9e3779b97f4a7c15);

	return (hash >> 20) & (blocks->slots - 1);
}

/* Its slot, or the empty one where it belongs. */
static struct block *find(struct blocks *blocks, uint64_t address,
			  uint32_t space)
{
	size_t at = slot_of(blocks, address, space);

	while (blocks->table[at].address &&
	       (blocks->table[at].address != address ||
		blocks->table[at].space != space))
		at = (at + 1) & (blocks->slots - 1);
	return &blocks->table[at];
}

static void grow(struct blocks *blocks)
{
	struct blocks larger = {.slots = blocks->slots ? blocks->slots * 2
						       : 4096};

	larger.table = memory_zeroed(larger.slots, sizeof(struct block));
	larger.count = blocks->count;
	for (size_t i = 0; i < blocks->slots; i++) {
		const struct block *block = &blocks->table[i];

		if (block->address)
			*find(&larger, block->address, block->space) = *block;
	}
	free(blocks->table);
	*blocks = larger;
}

/* What follows in the row moves up, or it would not be found any more. */
static void erase(struct blocks *blocks, struct block *block)
{
	size_t hole = (size_t)(block - blocks->table);
	size_t at = hole;

	for (;;) {
		size_t home;

		at = (at + 1) & (blocks->slots - 1);
		if (!blocks->table[at].address)
			break;
		home = slot_of(blocks, blocks->table[at].address,
			       blocks->table[at].space);
		if (((at - home) & (blocks->slots - 1)) >=
		    ((at - hole) & (blocks->slots - 1))) {
			blocks->table[hole] = blocks->table[at];
			hole = at;
		}
	}
	blocks->table[hole].address = 0;
	blocks->count--;
}

static uint32_t site_number(struct heap_account *account, uint32_t stack,
			    uint32_t space)
{
	const uint32_t key[] = {stack, space};
	const uint32_t number =
		key_table_number(&account->table, key, sizeof(key));
	struct heap_site *site = key_table_row(&account->table, number);

	site->stack = stack;
	site->space = space;
	return number;
}

/* Before what is live of a site changes: what it was at the last peak. */
static struct heap_site *touch(struct replay *replay, uint32_t number)
{
	struct heap_account *account = replay->account;
	struct heap_site *site = heap_account_site(account, number);
	const struct heap_sum *sum = &account->sums[site->space];

	if (site->peak_number != sum->peak_number) {
		site->peak_number = sum->peak_number;
		site->peak = site->live;
		site->peak_blocks = site->live_blocks;
	}
	if (site->point_count &&
	    site->points[site->point_count - 1].step == replay->point)
		return site;
	site->points =
		memory_grow(site->points, site->point_count,
			    &site->point_capacity, sizeof(site->points[0]));
	site->points[site->point_count++] =
		(struct heap_point){(uint32_t)replay->point, site->live};
	replay->touched =
		memory_grow(replay->touched, replay->touched_count,
			    &replay->touched_capacity, sizeof(uint32_t));
	replay->touched[replay->touched_count++] = number;
	return site;
}

static void close_points(struct replay *replay, int64_t now_ns)
{
	struct heap_account *account = replay->account;

	while (replay->point < account->points &&
	       account->point_ns[replay->point] < now_ns) {
		for (uint32_t i = 0; i < account->log->space_count; i++)
			account->sums[i].live_at[replay->point] =
				account->sums[i].live;
		for (size_t i = 0; i < replay->touched_count; i++) {
			struct heap_site *site =
				heap_account_site(account, replay->touched[i]);

			site->points[site->point_count - 1].live = site->live;
		}
		replay->touched_count = 0;
		replay->point++;
	}
}

static int64_t max_one(int64_t number)
{
	return number > 1 ? number : 1;
}

static int size_class(int64_t bytes)
{
	int class = 0;

	while (class < HEAP_SIZES - 1 && bytes > INT64_C(1) << class)
		class ++;
	return class;
}

static void free_block(struct replay *replay, const struct heap_event *event)
{
	struct heap_sum *sum = &replay->account->sums[event->space];
	struct block *block =
		find(&replay->blocks, event->address, event->space);
	struct heap_site *site;

	if (block->address && block->site == UINT32_MAX) {
		erase(&replay->blocks, block);
		return;
	}
	if (!block->address) {
		if (replay->account->log->is_left_out)
			return;
		sum->frees++;
		sum->strange_frees++;
		return;
	}
	site = touch(replay, block->site);
	sum->frees += block->blocks;
	site->frees += block->blocks;
	site->live -= block->bytes;
	site->live_blocks -= block->blocks;
	sum->live -= block->bytes;
	sum->live_blocks -= block->blocks;
	sum->other.live -= block->other;
	/* Somebody else may have had the address since. */
	if (replay->last[event->thread] == event->address &&
	    block->thread == event->thread) {
		site->temporary += block->blocks;
		sum->temporary += block->blocks;
	}
	if (block->thread != event->thread) {
		site->foreign += block->blocks;
		sum->foreign += block->blocks;
	}
	erase(&replay->blocks, block);
}

/* The first map that ends after an address. */
static size_t map_after(const struct replay *replay, uint64_t address)
{
	size_t low = 0, high = replay->map_count;

	while (low < high) {
		const size_t at = (low + high) / 2;
		const struct block *map = &replay->maps[at];

		if (map->address + (uint64_t)map->bytes > address)
			high = at;
		else
			low = at + 1;
	}
	return low;
}

static void insert_map(struct replay *replay, struct block map)
{
	const size_t at = map_after(replay, map.address);

	replay->maps =
		memory_grow(replay->maps, replay->map_count,
			    &replay->map_capacity, sizeof(replay->maps[0]));
	memmove(&replay->maps[at + 1], &replay->maps[at],
		(replay->map_count - at) * sizeof(replay->maps[0]));
	replay->maps[at] = map;
	replay->map_count++;
}

/* What of a map lies in a range goes; what is left of it stays. */
static void cut_map(struct replay *replay, size_t at, uint64_t from,
		    uint64_t to)
{
	const struct block map = replay->maps[at];
	const uint64_t end = map.address + (uint64_t)map.bytes;
	const uint64_t first = map.address > from ? map.address : from;
	const uint64_t last = end < to ? end : to;
	struct heap_sum *sum = &replay->account->sums[map.space];
	struct heap_site *site = touch(replay, map.site);
	struct block rest = map;

	site->live -= (int64_t)(last - first);
	sum->live -= (int64_t)(last - first);
	memmove(&replay->maps[at], &replay->maps[at + 1],
		(--replay->map_count - at) * sizeof(replay->maps[0]));
	if (map.address < first) {
		rest.bytes = (int64_t)(first - map.address);
		insert_map(replay, rest);
	}
	if (last < end) {
		rest.address = last;
		rest.bytes = (int64_t)(end - last);
		insert_map(replay, rest);
	}
	/* Each piece is a block of its own. */
	site->live_blocks += (map.address < first) + (last < end) - 1;
	sum->live_blocks += (map.address < first) + (last < end) - 1;
}

static void unmap(struct replay *replay, const struct heap_event *event)
{
	const uint64_t from = event->address;
	const uint64_t to = from + (uint64_t)(event->bytes < 0 ? -event->bytes
							       : event->bytes);
	struct heap_sum *sum = &replay->account->sums[event->space];
	bool any = false;
	size_t at;

	while ((at = map_after(replay, from)) < replay->map_count &&
	       replay->maps[at].address < to) {
		cut_map(replay, at, from, to);
		any = true;
	}
	if (event->bytes >= 0)
		return;
	sum->frees++;
	if (!any && !replay->account->log->is_left_out)
		sum->strange_frees++;
}

/* From bytes that are held to those that were asked for, or back. */
static int64_t in_other(const struct heap_log *log, int64_t bytes,
			int64_t spare)
{
	return log->is_asked ? bytes + spare : bytes - spare;
}

static void born(struct replay *replay, struct heap_site *site,
		 const struct heap_event *event)
{
	struct heap_sum *sum = &replay->account->sums[event->space];
	const int64_t other =
		in_other(replay->account->log, event->bytes, event->spare);

	site->calls += event->blocks;
	site->bytes += event->bytes;
	site->live += event->bytes;
	site->live_blocks += event->blocks;
	sum->calls += event->blocks;
	sum->bytes += event->bytes;
	sum->live += event->bytes;
	sum->live_blocks += event->blocks;
	sum->sizes[size_class(event->bytes / max_one(event->blocks))] +=
		event->blocks;
	if (sum->live > sum->peak) {
		sum->peak = sum->live;
		sum->peak_ns = event->ts_ns;
		sum->peak_number++;
	}
	sum->other.bytes += other;
	sum->other.live += other;
	if (sum->other.live > sum->other.peak)
		sum->other.peak = sum->other.live;
}

/* A new mapping takes the place of what it lies over. */
static void map_memory(struct replay *replay, const struct heap_event *event)
{
	struct heap_account *account = replay->account;
	uint32_t number;

	unmap(replay, event);
	if (account->log->is_left_out &&
	    account->log->is_left_out[event->stack])
		return;
	number = site_number(account, event->stack, event->space);
	insert_map(replay, (struct block){.address = event->address,
					  .bytes = event->bytes,
					  .blocks = 1,
					  .space = event->space,
					  .site = number,
					  .thread = event->thread});
	born(replay, touch(replay, number), event);
}

static void make_block(struct replay *replay, const struct heap_event *event)
{
	struct heap_account *account = replay->account;
	const bool is_left_out = account->log->is_left_out &&
				 account->log->is_left_out[event->stack];
	const uint32_t number =
		is_left_out ? UINT32_MAX
			    : site_number(account, event->stack, event->space);
	struct block *block;

	if (replay->blocks.count * 2 >= replay->blocks.slots)
		grow(&replay->blocks);
	block = find(&replay->blocks, event->address, event->space);
	/* Its free is in no trace: of a thread whose event was refused, say. */
	if (block->address) {
		struct heap_event gone = *event;

		gone.thread = block->thread;
		replay->last[block->thread] = 0;
		free_block(replay, &gone);
	}
	block = find(&replay->blocks, event->address, event->space);
	*block = (struct block){
		.address = event->address,
		.bytes = event->bytes,
		.blocks = event->blocks,
		.space = event->space,
		.site = number,
		.thread = event->thread,
		.other = in_other(account->log, event->bytes, event->spare)};
	replay->blocks.count++;
	if (is_left_out)
		return;
	born(replay, touch(replay, number), event);
}

/* The sums of a stack, which the writer made. */
static void take_site(struct replay *replay, const struct heap_part *row)
{
	struct heap_account *account = replay->account;
	struct heap_site *site;

	if (account->log->is_left_out && account->log->is_left_out[row->stack])
		return;
	site = touch(replay,
		     site_number(account, row->stack, account->log->row_space));
	if (replay->has_peak) {
		site->peak = row->peak;
		site->peak_blocks = row->peak_blocks;
	}
	site->calls += row->calls;
	site->bytes += row->bytes;
	site->frees += row->frees;
	site->live += row->live;
	site->live_blocks += row->blocks;
	site->temporary += row->temporary;
	site->foreign += row->foreign;
}

static void take_other(struct heap_sum *sum, const struct heap_log *log,
		       const struct heap_part *row)
{
	sum->other.bytes += in_other(log, row->bytes, row->spare);
	sum->other.live += in_other(log, row->live, row->spare_live);
	if (row->other_number)
		sum->other.peak = in_other(log, row->peak, row->spare_peak);
}

static void take_row(struct replay *replay, const struct heap_part *row)
{
	struct heap_sum *sum =
		&replay->account->sums[replay->account->log->row_space];

	if (!row->is_all) {
		take_site(replay, row);
		return;
	}
	if (replay->point < replay->account->points)
		replay->account->told[replay->point] = true;
	replay->has_peak = row->peak_number > 0;
	if (replay->has_peak) {
		sum->peak = row->peak;
		sum->peak_ns = row->peak_ns;
		sum->peak_number = (uint64_t)row->peak_number;
	}
	sum->calls += row->calls;
	sum->bytes += row->bytes;
	sum->frees += row->frees;
	sum->live += row->live;
	sum->live_blocks += row->blocks;
	sum->temporary += row->temporary;
	sum->foreign += row->foreign;
	sum->strange_frees += row->strange;
	take_other(sum, replay->account->log, row);
	for (int i = 0; i < HEAP_SIZES; i++)
		sum->sizes[i] += row->sizes[i];
}

/* Those before an event; the next. */
static size_t take_rows(struct replay *replay, size_t at, int64_t until_ns)
{
	const struct heap_log *log = replay->account->log;

	for (; at < log->row_count && log->rows[at].ts_ns < until_ns; at++) {
		close_points(replay, log->rows[at].ts_ns);
		take_row(replay, &log->rows[at]);
	}
	return at;
}

/* Of some stacks alone: what they hold of the peak, and in all. */
static void sum_those_left(struct heap_account *account)
{
	struct heap_sum *sum = &account->sums[account->log->row_space];
	const int64_t peak_ns = sum->peak_ns;
	int64_t *const live_at = sum->live_at;

	*sum = (struct heap_sum){.peak_ns = peak_ns, .live_at = live_at};
	for (size_t i = 0; i < heap_account_sites(account); i++) {
		const struct heap_site *site = heap_account_site(account, i);

		if (site->space != account->log->row_space)
			continue;
		sum->calls += site->calls;
		sum->bytes += site->bytes;
		sum->frees += site->frees;
		sum->live += site->live;
		sum->live_blocks += site->live_blocks;
		sum->peak += site->peak;
		sum->temporary += site->temporary;
		sum->foreign += site->foreign;
	}
}

static void set_points(struct heap_account *account)
{
	const struct heap_log *log = account->log;
	const int64_t span = log->end_ns - log->start_ns;

	account->points_are_steps = log->step_count >= 3;
	account->points = account->points_are_steps ? log->step_count
			  : log->end_ns - log->start_ns <
					  HEAP_SECONDS_MIN * INT64_C(1000000000)
				  ? 1
				  : PARTS;
	account->point_ns = memory_zeroed(account->points, sizeof(int64_t));
	account->told = memory_zeroed(account->points, sizeof(bool));
	for (size_t i = 0; i < account->points; i++)
		account->point_ns[i] =
			account->points_are_steps
				? log->steps[i].end_ns
				: log->start_ns +
					  (int64_t)((double)span *
						    (double)(i + 1) / PARTS);
	for (uint32_t i = 0; i < log->space_count; i++)
		account->sums[i].live_at =
			memory_zeroed(account->points, sizeof(int64_t));
}

void heap_account_make(struct heap_account *account, const struct heap_log *log,
		       int64_t from_ns, int64_t to_ns)
{
	struct replay replay = {.account = account};
	size_t row = 0;

	memset(account, 0, sizeof(*account));
	account->log = log;
	account->table.row_bytes = sizeof(struct heap_site);
	set_points(account);
	replay.last = memory_zeroed(log->lanes.table.count + 1,
				    sizeof(replay.last[0]));
	grow(&replay.blocks);
	for (size_t i = 0; i < log->count; i++) {
		const struct heap_event *event = &log->events[i];

		if (event->ts_ns < from_ns || event->ts_ns > to_ns)
			continue;
		row = take_rows(&replay, row, event->ts_ns);
		close_points(&replay, event->ts_ns);
		if (log->spaces[event->space].type == HEAP_TYPE_MAPPED) {
			if (event->bytes < 0)
				unmap(&replay, event);
			else
				map_memory(&replay, event);
			continue;
		}
		if (event->bytes < 0)
			free_block(&replay, event);
		else
			make_block(&replay, event);
		replay.last[event->thread] =
			event->bytes < 0 || !heap_log_knows_temporary(log)
				? 0
				: event->address;
	}
	take_rows(&replay, row, INT64_MAX);
	close_points(&replay, INT64_MAX);
	for (size_t i = 0; i < heap_account_sites(account); i++) {
		struct heap_site *site = heap_account_site(account, i);

		/* What did not change since is as it was at the peak. */
		if (site->peak_number !=
		    account->sums[site->space].peak_number) {
			site->peak = site->live;
			site->peak_blocks = site->live_blocks;
		}
	}
	if (log->row_count && log->is_left_out)
		sum_those_left(account);
	free(replay.last);
	free(replay.touched);
	free(replay.blocks.table);
	free(replay.maps);
}

void heap_account_free(struct heap_account *account)
{
	for (size_t i = 0; i < heap_account_sites(account); i++)
		free(heap_account_site(account, i)->points);
	for (uint32_t i = 0; i < account->log->space_count; i++)
		free(account->sums[i].live_at);
	free(account->point_ns);
	free(account->told);
	key_table_free(&account->table);
}
