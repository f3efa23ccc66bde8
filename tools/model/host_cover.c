/* SPDX-License-Identifier: MIT */
/* host_cover.c - a thread's lane of samples; see host_cover.h. */
#include "tools/model/host_cover.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/util/memory.h"

/* The lane of samples follows its thread's at this distance. */
#define SAMPLES_LANE 190000000

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static enum cover cover_of(const struct timeline *timeline, uint32_t name)
{
	static const char *const allocating[] = {
		"malloc",	 "calloc",	   "realloc",
		"free",		 "cfree",	   "_int_malloc",
		"_int_free",	 "_int_realloc",   "malloc_consolidate",
		"operator new",	 "operator new[]", "operator delete",
		"aligned_alloc", "posix_memalign"};
	const char *text = timeline_name_text(timeline, name);

	if (!strcmp(timeline_category(timeline, name), "python_function"))
		return COVER_PYTHON;
	for (size_t i = 0; i < sizeof(allocating) / sizeof(allocating[0]); i++)
		if (!strcmp(text, allocating[i]))
			return COVER_ALLOC;
	/* The interpreter's own code. */
	if (begins(text, "Py") || begins(text, "_Py") ||
	    begins(text, "python3") || begins(text, "libpython"))
		return COVER_PYTHON;
	return COVER_NATIVE;
}

static void on_piece(void *arg, int64_t start_ns, int64_t end_ns,
		     enum host_kind kind, uint32_t name)
{
	struct host_cover *cover = arg;
	struct cover_piece piece = {start_ns, end_ns, COVER_OFF};

	(void)kind;
	if (name == TIMELINE_NONE)
		return;
	piece.cover = cover_of(cover->timeline, name);
	cover->pieces = memory_grow(cover->pieces, cover->count,
				    &cover->capacity, sizeof(piece));
	cover->pieces[cover->count++] = piece;
}

void host_cover_make(struct host_cover *cover, struct timeline *timeline,
		     uint32_t lane)
{
	const struct key_table *lanes = &timeline->lanes.table;
	long long pid, tid;
	char text[64];

	*cover = (struct host_cover){.timeline = timeline};
	if (lane >= lanes->count || sscanf(key_table_key(lanes, lane, NULL),
					   "%lld %lld", &pid, &tid) != 2)
		return;
	snprintf(text, sizeof(text), "%lld %lld", pid, tid + SAMPLES_LANE);
	for (uint32_t at = 0; at < lanes->count; at++)
		if (!strcmp(text, key_table_key(lanes, at, NULL)))
			timeline_walk(timeline, at, on_piece, cover);
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
	return piece->cover;
}

void host_cover_free(struct host_cover *cover)
{
	free(cover->pieces);
	*cover = (struct host_cover){.pieces = NULL};
}
