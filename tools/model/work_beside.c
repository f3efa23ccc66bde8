/* SPDX-License-Identifier: MIT */
/* work_beside.c - threads at work, by samples; see work_beside.h. */
#include "tools/model/work_beside.h"

#include <stdlib.h>

#include "tools/util/memory.h"

static void add(struct work_beside *beside, int64_t ns, int64_t threads)
{
	beside->changes =
		memory_grow(beside->changes, beside->count, &beside->capacity,
			    sizeof(*beside->changes));
	beside->changes[beside->count++] = (struct work_change){ns, threads};
}

static int compare(const void *left, const void *right)
{
	const struct work_change *a = left, *b = right;

	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	return (a->threads > b->threads) - (a->threads < b->threads);
}

static void take(struct work_beside *beside, const struct host_cover *cover,
		 bool is_own)
{
	for (size_t at = 0; at < cover->count; at++) {
		const struct cover_piece *piece = &cover->pieces[at];

		beside->all_ns += piece->end_ns - piece->start_ns;
		if (piece->cover == COVER_ALLOC)
			beside->alloc_ns += piece->end_ns - piece->start_ns;
		if (is_own || piece->cover == COVER_SPIN)
			continue;
		add(beside, piece->start_ns, 1);
		add(beside, piece->end_ns, -1);
	}
}

void work_beside_make(struct work_beside *beside, struct timeline *timeline,
		      uint32_t lane)
{
	int64_t threads = 0;

	*beside = (struct work_beside){.alloc_ns = 0};
	for (uint32_t at = 0; at < timeline->lanes.table.count; at++) {
		struct host_cover cover;

		if (host_cover_is_lane(timeline, at))
			continue;
		host_cover_make(&cover, timeline, at);
		take(beside, &cover, at == lane);
		host_cover_free(&cover);
	}
	if (beside->count)
		qsort(beside->changes, beside->count, sizeof(*beside->changes),
		      compare);
	for (size_t at = 0; at < beside->count; at++) {
		threads += beside->changes[at].threads;
		beside->changes[at].threads = threads;
	}
}

void work_beside_free(struct work_beside *beside)
{
	free(beside->changes);
	*beside = (struct work_beside){.changes = NULL};
}

double work_beside_ns(struct work_beside *beside, int64_t start_ns,
		      int64_t end_ns, int64_t processors, int64_t *some_ns)
{
	double sum = 0;

	*some_ns = 0;
	while (start_ns < end_ns) {
		int64_t until_ns = end_ns, threads = 0;

		while (beside->next < beside->count &&
		       beside->changes[beside->next].ns <= start_ns)
			beside->next++;
		if (beside->next)
			threads = beside->changes[beside->next - 1].threads;
		if (beside->next < beside->count &&
		    beside->changes[beside->next].ns < until_ns)
			until_ns = beside->changes[beside->next].ns;
		if (threads > 0)
			*some_ns += until_ns - start_ns;
		if (threads > processors)
			threads = processors;
		if (processors > 0)
			sum += (double)(until_ns - start_ns) * (double)threads /
			       (double)processors;
		start_ns = until_ns;
	}
	return sum;
}

int64_t work_of_thread(struct timeline *timeline, uint32_t lane,
		       int64_t *life_ns)
{
	struct host_cover cover;
	int64_t sum = 0;

	host_cover_make(&cover, timeline, lane);
	for (size_t at = 0; at < cover.count; at++)
		if (cover.pieces[at].cover != COVER_SPIN)
			sum += cover.pieces[at].end_ns -
			       cover.pieces[at].start_ns;
	*life_ns = cover.count ? cover.pieces[cover.count - 1].end_ns -
					 cover.pieces[0].start_ns
			       : 0;
	host_cover_free(&cover);
	return sum;
}
