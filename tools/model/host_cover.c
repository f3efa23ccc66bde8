/* SPDX-License-Identifier: MIT */
/* host_cover.c - a thread's lane of samples; see host_cover.h. */
#include "tools/model/host_cover.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/model/host_burst.h"
#include "tools/util/memory.h"

/* The lane of samples follows its thread's at this distance. */
#define SAMPLES_LANE 190000000
/* Other lanes of a thread lie at this distance from each other. */
#define SIDE_LANE    10000000

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static enum cover cover_of(const struct timeline *timeline, uint32_t name,
			   enum host_kind kind)
{
	const char *text = timeline_name_text(timeline, name);

	if (!strcmp(timeline_category(timeline, name), "python_function") ||
	    timeline_name(timeline, name)->is_python)
		return COVER_PYTHON;
	if (timeline_name(timeline, name)->is_spin)
		return COVER_SPIN;
	if (kind == HOST_SAMPLE_ALLOC)
		return COVER_ALLOC;
	if (begins(text, "Py") || begins(text, "_Py"))
		return COVER_PYTHON;
	return COVER_NATIVE;
}

static void on_piece(void *arg, int64_t start_ns, int64_t end_ns,
		     enum host_kind kind, uint32_t name)
{
	struct host_cover *cover = arg;
	struct cover_piece piece = {start_ns, end_ns, COVER_OFF};

	if (name == TIMELINE_NONE)
		return;
	piece.cover = cover_of(cover->timeline, name, kind);
	cover->pieces = memory_grow(cover->pieces, cover->count,
				    &cover->capacity, sizeof(piece));
	cover->pieces[cover->count++] = piece;
}

static bool read_lane(const struct timeline *timeline, uint32_t lane,
		      long long *pid, long long *tid)
{
	const struct key_table *lanes = &timeline->lanes.table;

	return lane < lanes->count && sscanf(key_table_key(lanes, lane, NULL),
					     "%lld %lld", pid, tid) == 2;
}

bool host_cover_is_lane(const struct timeline *timeline, uint32_t lane)
{
	long long pid, tid;

	return read_lane(timeline, lane, &pid, &tid) && tid >= SAMPLES_LANE &&
	       tid < SAMPLES_LANE + SIDE_LANE;
}

uint32_t host_cover_lane(const struct timeline *timeline, uint32_t lane)
{
	const struct key_table *lanes = &timeline->lanes.table;
	long long pid, tid;
	char text[64];

	if (!read_lane(timeline, lane, &pid, &tid))
		return TIMELINE_NONE;
	snprintf(text, sizeof(text), "%lld %lld", pid, tid + SAMPLES_LANE);
	for (uint32_t at = 0; at < lanes->count; at++)
		if (!strcmp(text, key_table_key(lanes, at, NULL)))
			return at;
	return TIMELINE_NONE;
}

void host_cover_make(struct host_cover *cover, struct timeline *timeline,
		     uint32_t lane)
{
	const uint32_t samples = host_cover_lane(timeline, lane);

	*cover = (struct host_cover){.timeline = timeline};
	if (samples == TIMELINE_NONE)
		return;
	timeline_walk(timeline, samples, on_piece, cover);
	host_burst_fill(cover, lane, samples);
}

enum cover host_cover_at(struct host_cover *cover, int64_t ns,
			 int64_t *until_ns)
{
	const struct cover_piece *piece;

	while (cover->next < cover->count &&
	       cover->pieces[cover->next].end_ns <= ns)
		cover->next++;
	piece = &cover->pieces[cover->next];
	if (cover->next == cover->count)
		return COVER_OFF;
	if (piece->start_ns > ns) {
		if (piece->start_ns < *until_ns)
			*until_ns = piece->start_ns;
		return COVER_OFF;
	}
	if (piece->end_ns < *until_ns)
		*until_ns = piece->end_ns;
	return piece->cover == COVER_SPIN ? COVER_OFF : piece->cover;
}

void host_cover_free(struct host_cover *cover)
{
	free(cover->pieces);
	*cover = (struct host_cover){.pieces = NULL};
}
