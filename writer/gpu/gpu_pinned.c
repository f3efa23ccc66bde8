/* SPDX-License-Identifier: MIT */
/* gpu_pinned.c - follows pinned blocks; see gpu_pinned.h. */
#include "writer/gpu/gpu_pinned.h"

struct block {
	uint64_t address;
	uint64_t bytes;
	bool is_live;
};

static struct block *find(const struct gpu_pinned *pinned, uint64_t address)
{
	struct block *blocks = pinned->blocks.base;

	for (size_t i = 0; i < pinned->count; i++) {
		if (blocks[i].address == address)
			return &blocks[i];
	}
	return NULL;
}

static struct block *add(struct gpu_pinned *pinned, uint64_t address)
{
	struct block *blocks;

	if (array_reserve(&pinned->blocks,
			  (pinned->count + 1) * sizeof(*blocks)))
		return NULL;
	blocks = pinned->blocks.base;
	blocks[pinned->count] = (struct block){.address = address};
	return &blocks[pinned->count++];
}

bool gpu_pinned_follow(struct gpu_pinned *pinned, struct event *event)
{
	const bool is_free = event->memory.is_free;
	struct block *block = find(pinned, event->memory.address);

	if (block && block->is_live != is_free)
		return false;
	if (is_free && !event->memory.size_bytes)
		event->memory.size_bytes = block ? block->bytes : 0;
	if (!event->memory.size_bytes)
		return false;
	if (!block)
		block = add(pinned, event->memory.address);
	if (block) {
		block->bytes = event->memory.size_bytes;
		block->is_live = !is_free;
	}
	pinned->live_bytes += is_free ? -(int64_t)event->memory.size_bytes
				      : (int64_t)event->memory.size_bytes;
	/* Blocks from before the recording are freed in it. */
	if (pinned->live_bytes < 0)
		pinned->live_bytes = 0;
	return true;
}
