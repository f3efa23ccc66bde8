/* SPDX-License-Identifier: MIT */
/* by_time.c - things of several rings by their time; see by_time.h. */
#include "writer/draw/by_time.h"

#include <string.h>

/* Of one ring, side by side. */
struct run {
	size_t next, end;
};

static void *item_at(const struct by_time *list, size_t bytes, size_t at)
{
	return (char *)list->items.base + at * bytes;
}

static uint64_t ticks_at(const struct by_time *list, size_t bytes, size_t at)
{
	uint64_t ticks;

	memcpy(&ticks, item_at(list, bytes, at), sizeof(ticks));
	return ticks;
}

bool by_time_add(struct by_time *list, const void *item, size_t bytes,
		 bool goes_on)
{
	struct run *runs;

	if (array_reserve(&list->items, (list->count + 1) * bytes) ||
	    array_reserve(&list->runs, (list->run_count + 1) * sizeof(*runs)))
		return false;
	runs = list->runs.base;
	memcpy(item_at(list, bytes, list->count), item, bytes);
	if (!goes_on || !list->run_count)
		runs[list->run_count++] = (struct run){list->count, 0};
	runs[list->run_count - 1].end = ++list->count;
	return true;
}

void *by_time_last(const struct by_time *list, size_t bytes)
{
	return list->count ? item_at(list, bytes, list->count - 1) : NULL;
}

void *by_time_first(const struct by_time *list, size_t bytes, size_t run)
{
	const struct run *runs = list->runs.base;

	return run < list->run_count ? item_at(list, bytes, runs[run].next)
				     : NULL;
}

/* The run that goes on, and how far before another does. */
static struct run *first_run(const struct by_time *list, size_t bytes,
			     uint64_t *until)
{
	struct run *runs = list->runs.base;
	struct run *first = &runs[0];
	uint64_t first_ticks = ticks_at(list, bytes, first->next);

	*until = UINT64_MAX;
	for (size_t i = 1; i < list->run_count; i++) {
		const uint64_t now = ticks_at(list, bytes, runs[i].next);

		if (now < first_ticks) {
			*until = min_u64(*until, first_ticks);
			first = &runs[i];
			first_ticks = now;
		} else {
			*until = min_u64(*until, now);
		}
	}
	return first;
}

void by_time_settle(struct by_time *list, size_t bytes,
		    void (*take)(void *arg, void *item, void *next), void *arg)
{
	struct run *runs = list->runs.base;

	while (list->run_count) {
		uint64_t until;
		struct run *first = first_run(list, bytes, &until);

		do {
			void *item = item_at(list, bytes, first->next++);

			take(arg, item,
			     first->next < first->end
				     ? item_at(list, bytes, first->next)
				     : NULL);
		} while (first->next < first->end &&
			 ticks_at(list, bytes, first->next) <= until);
		if (first->next == first->end)
			*first = runs[--list->run_count];
	}
	list->count = 0;
}

void by_time_free(struct by_time *list)
{
	array_free(&list->items);
	array_free(&list->runs);
	*list = (struct by_time){0};
}
