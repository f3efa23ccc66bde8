/* SPDX-License-Identifier: MIT */
/* step_barriers.c - barriers as marks; see step_barriers.h. */
#include "writer/steps/step_barriers.h"

#include "writer/draw/draw.h"
#include <errno.h>

/* 4 MiB. */
#define BARRIERS_MOST 65536u
/* Fewer turns may be rounds of one search, or a sum over pairs of members. */
#define TURNS_LEAST   20u
/* Of the marks of all else, or of other regions, one in so many is too much. */
#define ALL_PART      4u

static uint64_t length_of(const struct event *event)
{
	return event->end_ticks - event->start_ticks;
}

/* The region's own, of which nobody knows which one that will be: its barriers
 * may come by later. */
static void keep_share(struct ring_reader *reader, const struct event *event)
{
	const uint32_t tid = thread_shown_tid(reader->thread);

	if (reader->share.kind == EVENT_OMP_IMPLICIT &&
	    reader->share_tid == tid &&
	    length_of(event) < length_of(&reader->share))
		return;
	reader->share = *event;
	reader->share_tid = tid;
}

/* A region that has enough of them for a loop keeps them. */
static bool is_of_other(struct step_barriers *barriers, uint64_t region)
{
	if (!region || region == barriers->region)
		return false;
	if (barriers->marks.count >= TURNS_LEAST) {
		barriers->others++;
		return true;
	}
	barriers->others += barriers->marks.count;
	barriers->marks.count = 0;
	barriers->region = region;
	barriers->whole = (struct event){.kind = EVENT_NONE};
	return false;
}

void step_barriers_see(struct step_barriers *barriers,
		       struct ring_reader *reader, const struct event *event)
{
	struct step_marks *marks = &barriers->marks;

	if (event->kind == EVENT_OMP_IMPLICIT) {
		keep_share(reader, event);
		return;
	}
	if (event->kind == EVENT_OMP_REGION) {
		if (event->omp.region && event->omp.region == barriers->region)
			barriers->whole = *event;
		return;
	}
	if (!omp_sync_is_of_team(event->omp.sync) || !event->omp.from ||
	    barriers->is_full || is_of_other(barriers, event->omp.region))
		return;
	if (marks->count == BARRIERS_MOST) {
		barriers->is_full = true;
		array_free(&marks->marks);
		marks->count = 0;
		return;
	}
	marks->reader = reader;
	marks->tid = thread_shown_tid(reader->thread);
	marks->family = SEARCH_BARRIERS;
	if (event->omp.code)
		marks->code = event->omp.code;
	step_marks_add(marks, &(struct loop_mark){
				      .id = search_barrier(event->omp.from),
				      .ticks = event->start_ticks,
				      .end_ticks = event->end_ticks,
				      .team = 2,
			      });
}

/* What was thinned doesn't tell its region, but when it was.  Of a region that
 * isn't known, since the program ended within it, none is left. */
static void leave_others(struct step_barriers *barriers)
{
	const struct event *whole = &barriers->whole;
	const size_t first =
		step_marks_before(&barriers->marks, whole->start_ticks);
	const size_t end =
		step_marks_before(&barriers->marks, whole->end_ticks);

	barriers->others += barriers->marks.count - (end - first);
	barriers->marks.count = end;
	step_marks_drop(&barriers->marks, first);
}

/* From barrier to barrier, with what the code tells of the loops around. */
static void make_sections(const struct session *session,
			  struct step_barriers *barriers)
{
	const struct step_search *search = &session->head->search;
	struct loop_mark *all = step_marks(&barriers->marks);
	uint64_t begin = barriers->whole.start_ticks;

	for (size_t i = 0; i < barriers->marks.count; i++) {
		const struct search_loops loops = search_loops_of(
			search, all[i].id, SEARCH_BARRIER_PLACE);

		all[i].ticks = min_u64(begin, all[i].ticks);
		begin = all[i].end_ticks;
		if (!loops.depth)
			continue;
		all[i].caller = SEARCH_BARRIER_PLACE;
		all[i].depth = loops.depth;
		all[i].is_always = loops.is_always;
		all[i].is_needed = loops.is_needed;
		if (loops.is_around)
			continue;
		all[i].loop = loops.loop;
		all[i].within =
			(uint8_t)search_loop_number(search, loops.within);
	}
}

/* Regions that come again, or ranges, or calls, are what a person looks at. */
static bool is_main_thing(const struct step_barriers *barriers,
			  const struct step_marks *streams, size_t count)
{
	const size_t most = barriers->marks.count / ALL_PART;

	for (size_t i = 0; i < count; i++) {
		if (streams[i].count > most)
			return false;
	}
	return barriers->others <= most;
}

int step_barriers_find(const struct session *session,
		       struct step_barriers *barriers,
		       const struct step_marks *streams, size_t count,
		       struct loop_nest *nest)
{
	int rc;

	leave_others(barriers);
	if (barriers->marks.count < TURNS_LEAST ||
	    !is_main_thing(barriers, streams, count))
		return -ENOENT;
	make_sections(session, barriers);
	rc = step_marks_find(&barriers->marks, barriers->marks.count, nest);
	if (rc)
		return rc;
	/* Nothing sets another level of them. */
	nest->runner_up = nest->count;
	return nest->level[nest->step].turns >= TURNS_LEAST ? 0 : -ENOENT;
}

void step_barriers_draw(struct writer_state *state,
			const struct step_barriers *barriers,
			uint64_t end_ticks)
{
	const struct ring_reader *of = barriers->marks.reader;

	for (struct ring_reader *t = state->readers; t; t = t->older) {
		/* Of a thread that is over its place may be another's. */
		if (t == of &&
		    thread_shown_tid(t->thread) == barriers->marks.tid)
			draw_part(state, t, &barriers->whole, end_ticks);
		else if (t->share.kind == EVENT_OMP_IMPLICIT &&
			 t->share.omp.region == barriers->region &&
			 thread_shown_tid(t->thread) == t->share_tid)
			draw_part(state, t, &t->share, end_ticks);
	}
}
