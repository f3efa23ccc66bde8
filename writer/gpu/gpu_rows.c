/* SPDX-License-Identifier: MIT */
/* gpu_rows.c - finds a free lane for a slice; see gpu_rows.h. */
#include "writer/gpu/gpu_rows.h"

#include <string.h>

#include "writer/state/nest.h"

#define SPANS_KEPT  4096u
#define SIDES_MOST  64u
#define NESTED_KEPT 512u
#define NEST_SIDES  2u
/* More only a damaged session has. */
#define ROWS_MOST   8192u

struct gpu_row *gpu_rows_find(struct gpu_rows *rows, uint64_t pid, uint64_t tid)
{
	struct gpu_row **bucket = &rows->buckets[tid % GPU_ROW_BUCKETS];
	struct gpu_row *row = *bucket;

	while (row && (row->pid != pid || row->tid != tid))
		row = row->in_bucket;
	if (row)
		return row;
	if (rows->count++ >= ROWS_MOST)
		return NULL;
	row = arena_alloc(&rows->arena, sizeof(*row));
	if (!row)
		return NULL;
	row->pid = pid;
	row->tid = tid;
	row->older = rows->newest;
	rows->newest = row;
	row->in_bucket = *bucket;
	*bucket = row;
	return row;
}

/* The number of spans that begin at or before a time. */
static size_t count_until(const struct gpu_row *row, uint64_t start_ns)
{
	const struct lane_span *spans = row->spans.base;
	size_t low = 0, high = row->count;

	/* The last one is the usual place. */
	if (!row->count || spans[row->count - 1].start_ns <= start_ns)
		return row->count;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (spans[middle].start_ns <= start_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* A reader that makes doubles of ts and dur would see slices that touch cross:
 * Perfetto drops the later one on some days of a quarter. */
static void keep_apart(struct lane_span *span, const struct lane_span *before,
		       const struct lane_span *after)
{
	if (before && span->start_ns < before->end_ns + NEST_GAP_NS)
		span->start_ns =
			min_u64(before->end_ns + NEST_GAP_NS, span->end_ns);
	if (after && span->end_ns + NEST_GAP_NS > after->start_ns)
		span->end_ns =
			max_u64(after->start_ns - NEST_GAP_NS, span->start_ns);
}

/* Puts a span in its place.  False: it overlaps another. */
static bool put(struct gpu_row *row, struct lane_span *span)
{
	const size_t at = count_until(row, span->start_ns);
	struct lane_span *spans = row->spans.base;

	if (at && spans[at - 1].end_ns > span->start_ns)
		return false;
	if (at < row->count && spans[at].start_ns < span->end_ns)
		return false;
	keep_apart(span, at ? &spans[at - 1] : NULL,
		   at < row->count ? &spans[at] : NULL);
	if (array_reserve(&row->spans, (row->count + 1) * sizeof(*spans)))
		return true; /* drawn, though not remembered */
	spans = row->spans.base;
	memmove(&spans[at + 1], &spans[at], (row->count - at) * sizeof(*spans));
	spans[at] = *span;
	if (++row->count >= SPANS_KEPT) {
		row->count /= 2;
		memmove(spans, &spans[row->count], row->count * sizeof(*spans));
	}
	return true;
}

struct gpu_row *gpu_rows_place(struct gpu_rows *rows, uint64_t pid,
			       uint64_t tid, uint64_t side,
			       struct lane_span *span)
{
	struct gpu_row *row = NULL;

	for (unsigned int i = 0; i < SIDES_MOST; i++) {
		row = gpu_rows_find(rows, pid, tid + i * side);
		if (!row || put(row, span))
			return row;
	}
	rows->crossing++;
	return row;
}

/* The lane, if the context may have it; 0 is any context. */
static struct gpu_row *take(struct gpu_rows *rows, uint64_t pid, uint64_t tid,
			    uint32_t context)
{
	struct gpu_row *row = gpu_rows_find(rows, pid, tid);

	if (!row || (row->context && context && row->context != context))
		return NULL;
	if (context)
		row->context = context;
	return row;
}

struct gpu_row *gpu_rows_place_in(struct gpu_rows *rows, uint64_t pid,
				  uint64_t tid, uint32_t context,
				  struct lane_span *span)
{
	for (unsigned int i = 0; i < SIDES_MOST; i++) {
		struct gpu_row *row =
			take(rows, pid, tid + i * GPU_ROW_SIDE, context);

		if (row && put(row, span))
			return row;
	}
	/* More contexts than lanes, one after the other perhaps. */
	return gpu_rows_place(rows, pid, tid, GPU_ROW_SIDE, span);
}

struct gpu_row *gpu_rows_of(struct gpu_rows *rows, uint64_t pid, uint64_t tid,
			    uint32_t context)
{
	struct gpu_row *row = NULL;

	for (unsigned int i = 0; i < SIDES_MOST && !row; i++)
		row = take(rows, pid, tid + i * GPU_ROW_SIDE, context);
	return row ? row : gpu_rows_find(rows, pid, tid);
}

unsigned int gpu_rows_before(struct gpu_rows *rows, const struct gpu_row *row,
			     bool *is_second)
{
	unsigned int count = 0;

	*is_second = false;
	for (uint64_t tid = row->tid % GPU_ROW_SIDE; tid < row->tid;
	     tid += GPU_ROW_SIDE) {
		const struct gpu_row *other =
			gpu_rows_find(rows, row->pid, tid);
		const bool is_same = other && other->context == row->context;

		count += is_same;
		*is_second |= !is_same;
	}
	return count;
}

/* Keeps the last spans in the order in which they came. */
static bool nest(struct gpu_row *row, struct lane_span span)
{
	struct lane_span *spans = row->spans.base;
	const size_t kept = min_u64(row->count, NESTED_KEPT);

	for (size_t i = 0; i < kept; i++) {
		const struct lane_span *other = &spans[i];

		if (span.start_ns < other->end_ns &&
		    other->start_ns < span.end_ns &&
		    !(span.start_ns <= other->start_ns &&
		      span.end_ns >= other->end_ns) &&
		    !(other->start_ns <= span.start_ns &&
		      other->end_ns >= span.end_ns))
			return false;
	}
	if (array_reserve(&row->spans, NESTED_KEPT * sizeof(*spans)))
		return true;
	spans = row->spans.base;
	spans[row->count++ % NESTED_KEPT] = span;
	return true;
}

struct gpu_row *gpu_rows_nest(struct gpu_rows *rows, uint64_t pid, uint64_t tid,
			      uint64_t side, struct lane_span span)
{
	struct gpu_row *row = NULL;

	for (unsigned int i = 0; i < NEST_SIDES; i++) {
		row = gpu_rows_find(rows, pid, tid + i * side);
		if (!row || nest(row, span))
			return row;
	}
	rows->crossing++;
	return row;
}

void gpu_rows_free(struct gpu_rows *rows)
{
	for (struct gpu_row *row = rows->newest; row; row = row->older)
		array_free(&row->spans);
	arena_free(&rows->arena);
	rows->newest = NULL;
	memset(rows->buckets, 0, sizeof(rows->buckets));
}
