/* SPDX-License-Identifier: MIT */
/*
 * stream_totals.c - one row for each stream.
 */
#include "tools/report/stream_totals.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tools/util/memory.h"
#include "tools/util/saturate.h"

static bool is_row(const struct stream_totals *totals, size_t at,
		   unsigned int device, int64_t stream)
{
	return at < totals->count && totals->rows[at].device == device &&
	       totals->rows[at].stream == stream;
}

/* NULL: too many. */
static struct stream_total *row_of(struct stream_totals *totals,
				   unsigned int device, int64_t stream)
{
	size_t at = totals->last;

	if (!is_row(totals, at, device, stream)) {
		for (at = 0; at < totals->count; at++)
			if (is_row(totals, at, device, stream))
				break;
	}
	if (at == STREAMS_MAX)
		return NULL;
	if (at == totals->count) {
		totals->rows = memory_grow(totals->rows, at, &totals->capacity,
					   sizeof(*totals->rows));
		totals->rows[at] = (struct stream_total){.device = device,
							 .stream = stream};
		totals->count++;
	}
	totals->last = at;
	return &totals->rows[at];
}

void stream_totals_add(struct stream_totals *totals, unsigned int device,
		       enum stream_work work, const struct trace_event *event)
{
	struct stream_total *row;
	int64_t stream, bytes;

	if (!trace_event_integer(event, "stream", &stream))
		return;
	row = row_of(totals, device, stream);
	if (!row)
		return;
	row->calls[work]++;
	saturate_into(&row->sum_ns[work], event->dur_ns);
	busy_time_add(&row->busy, event->ts_ns, event->ts_ns + event->dur_ns);
	if (trace_event_integer(event, "bytes", &bytes) && bytes > 0)
		row->bytes += (uint64_t)bytes;
}

static int compare(const void *left, const void *right)
{
	const struct stream_total *a = left, *b = right;

	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	return a->stream < b->stream ? -1 : a->stream > b->stream;
}

void stream_totals_sort(struct stream_totals *totals)
{
	if (totals->count)
		qsort(totals->rows, totals->count, sizeof(*totals->rows),
		      compare);
}

void stream_totals_free(struct stream_totals *totals)
{
	for (size_t at = 0; at < totals->count; at++)
		busy_time_free(&totals->rows[at].busy);
	free(totals->rows);
	memset(totals, 0, sizeof(*totals));
}
