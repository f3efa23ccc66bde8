/* SPDX-License-Identifier: MIT */
/* host_burst.c - run by run of samples, backward; see host_burst.h. */
#include "tools/model/host_burst.h"

#include <stdlib.h>
#include <string.h>

#include "tools/util/memory.h"

/* No longer than a step that is judged. */
#define BIT_NS 1000000

struct wait {
	int64_t start_ns, end_ns;
};

struct fill {
	const struct host_cover *cover;
	const struct timeline_lane *samples;
	struct wait *waits; /* by time; none overlaps another */
	size_t wait_count, wait_capacity;
	struct cover_piece *made;
	size_t made_count, made_capacity;
	size_t next_self, next_wait;
};

static void collect_waits(struct fill *fill, uint32_t lane_number)
{
	const struct timeline *timeline = fill->cover->timeline;
	const struct timeline_lane *lane = timeline_lane(timeline, lane_number);

	for (size_t at = 0; at < lane->count; at++) {
		const struct span *span = &lane->spans[at];
		const int64_t end_ns =
			span->start_ns +
			timeline_dur_ns(timeline, lane_number, span);

		if (strcmp(timeline_category(timeline, span->name), "wait") ||
		    (fill->wait_count &&
		     span->start_ns < fill->waits[fill->wait_count - 1].end_ns))
			continue;
		fill->waits =
			memory_grow(fill->waits, fill->wait_count,
				    &fill->wait_capacity, sizeof(*fill->waits));
		fill->waits[fill->wait_count++] =
			(struct wait){span->start_ns, end_ns};
	}
}

static void put(struct fill *fill, struct cover_piece piece)
{
	fill->made = memory_grow(fill->made, fill->made_count,
				 &fill->made_capacity, sizeof(piece));
	fill->made[fill->made_count++] = piece;
}

/* The processor time of the samples that are drawn until then. */
static int64_t sampled_until(struct fill *fill, int64_t end_ns)
{
	int64_t sum_ns = 0;

	while (fill->next_self < fill->samples->self_count &&
	       fill->samples->selves[fill->next_self].start_ns < end_ns)
		sum_ns += fill->samples->selves[fill->next_self++].self_ns;
	return sum_ns;
}

/* What of [start, end) no wait takes; it leaves next_wait at the first wait
 * that ends after the start. */
static int64_t without_waits(struct fill *fill, int64_t start_ns,
			     int64_t end_ns)
{
	int64_t sum_ns = end_ns - start_ns;

	while (fill->next_wait < fill->wait_count &&
	       fill->waits[fill->next_wait].end_ns <= start_ns)
		fill->next_wait++;
	for (size_t at = fill->next_wait;
	     at < fill->wait_count && fill->waits[at].start_ns < end_ns; at++) {
		const struct wait *wait = &fill->waits[at];

		sum_ns -=
			(wait->end_ns < end_ns ? wait->end_ns : end_ns) -
			(wait->start_ns > start_ns ? wait->start_ns : start_ns);
	}
	return sum_ns;
}

/* So much before `end`, but not before `low`, around the waits. */
static void lay_before(struct fill *fill, int64_t low_ns, int64_t end_ns,
		       int64_t lacking_ns, enum cover kind)
{
	const size_t first = fill->made_count;
	size_t wait = fill->next_wait;

	/* One that reaches over the end hides what is before its start. */
	if (wait < fill->wait_count && fill->waits[wait].start_ns < end_ns)
		end_ns = fill->waits[wait].start_ns;
	while (lacking_ns > 0 && end_ns > low_ns) {
		int64_t start_ns = low_ns;

		if (wait && fill->waits[wait - 1].end_ns > low_ns)
			start_ns = fill->waits[wait - 1].end_ns;
		if (end_ns - start_ns > lacking_ns)
			start_ns = end_ns - lacking_ns;
		if (end_ns > start_ns)
			put(fill, (struct cover_piece){start_ns, end_ns, kind});
		lacking_ns -= end_ns - start_ns;
		if (!wait)
			break;
		end_ns = fill->waits[--wait].start_ns;
	}
	for (size_t low = first, high = fill->made_count; low + 1 < high;) {
		const struct cover_piece piece = fill->made[low];

		fill->made[low++] = fill->made[--high];
		fill->made[high] = piece;
	}
}

/* Of a piece the part, bit by bit: nobody knows when in it the thread had no
 * processor. */
static void put_part(struct fill *fill, struct cover_piece piece, double part)
{
	const int64_t end_ns = piece.end_ns;

	while (piece.start_ns < end_ns) {
		const int64_t left_ns = end_ns - piece.start_ns;
		const int64_t bit_ns = left_ns < BIT_NS ? left_ns : BIT_NS;

		piece.end_ns = piece.start_ns + bit_ns;
		piece.start_ns =
			piece.end_ns - (int64_t)(part * (double)bit_ns);
		put(fill, piece);
		piece.start_ns = piece.end_ns;
	}
}

/* Pieces [from, to) follow each other without a gap. */
static void fill_run(struct fill *fill, size_t from, size_t to)
{
	const struct cover_piece *pieces = fill->cover->pieces;
	const int64_t start_ns = pieces[from].start_ns;
	const int64_t end_ns = pieces[to - 1].end_ns;
	const int64_t drawn_ns = without_waits(fill, start_ns, end_ns);
	const int64_t sampled_ns = sampled_until(fill, end_ns);
	double part = 1;

	if (sampled_ns < drawn_ns)
		part = (double)sampled_ns / (double)drawn_ns;
	lay_before(fill, from ? pieces[from - 1].end_ns : INT64_MIN / 2,
		   start_ns, sampled_ns - drawn_ns, pieces[from].cover);
	for (size_t at = from; at < to; at++)
		put_part(fill, pieces[at], part);
}

void host_burst_fill(struct host_cover *cover, uint32_t lane, uint32_t samples)
{
	struct fill fill = {.cover = cover,
			    .samples = timeline_lane(cover->timeline, samples)};
	size_t from = 0;

	if (!cover->count || !fill.samples->self_count)
		return;
	collect_waits(&fill, lane);
	for (size_t at = 1; at <= cover->count; at++) {
		if (at < cover->count &&
		    cover->pieces[at].start_ns == cover->pieces[at - 1].end_ns)
			continue;
		fill_run(&fill, from, at);
		from = at;
	}
	free(fill.waits);
	if (!fill.made_count)
		return;
	free(cover->pieces);
	cover->pieces = fill.made;
	cover->count = fill.made_count;
	cover->capacity = fill.made_capacity;
}
