/* SPDX-License-Identifier: MIT */
/*
 * step_recall.c - the search for the step in the run of a process that is dead:
 * what its writer had seen is in the log (step_log.h), the rest in the rings.
 */
#include "writer/steps/step_follow.h"

#include "writer/gpu/gpu_known.h"
#include "writer/steps/step_log.h"

static struct ring_reader *reader_of(const struct writer_state *state,
				     const struct step_log_entry *entry)
{
	struct ring_reader *reader = state->readers;

	while (reader &&
	       (entry->family == SEARCH_CALLS
			? !gpu_is_reader(reader)
			: thread_shown_tid(reader->thread) != entry->tid))
		reader = reader->older;
	return reader;
}

static void recall(struct writer_state *state,
		   const struct step_log_entry *entry)
{
	struct step_finder *finder = state->finder;
	struct ring_reader *reader = reader_of(state, entry);
	struct step_marks *stream;

	if (entry->family == STEP_LOG_KERNEL) {
		const struct event kernel = {
			.kind = EVENT_GPU_KERNEL,
			.name = (uint32_t)entry->mark.id,
			.gpu = {.correlation = entry->mark.note},
		};

		step_finder_see(state, NULL, &kernel);
		return;
	}
	/* Of a thread that is over its record may be another's. */
	if (!reader || entry->family > SEARCH_CALLS)
		return;
	stream = step_marks_of(finder->streams, &finder->stream_count, reader,
			       entry->tid, entry->family,
			       (uint32_t)state->session->head->pid);
	if (stream)
		step_finder_take(state, stream, &entry->mark);
}

/* What a part told stands for the marker. */
static void take_part(struct step_search *search)
{
	const struct search_part *part = &search->part;

	search->tid = part->tid;
	search->family = part->family;
	search->context = part->context;
	search->is_begin = part->is_begin;
	search->is_end = part->is_end;
	search->every = part->every;
	search->leaves_teams = part->leaves_teams;
	search->keeps_teams = !part->leaves_teams;
	search->id = part->id;
	search->key = part->key;
	search->begin_ticks = part->begin_ticks;
	search->first_ticks = part->first_ticks;
}

void step_finder_recover(struct writer_state *state)
{
	struct step_search *search = step_search_of(state);
	const uint32_t now = search_state(search);
	const struct step_log_entry *entry;
	struct step_log_way way;

	/* From LIVE on the program's thread recorded its steps itself. */
	if (now < SEARCH_ON || now > SEARCH_JOINED ||
	    state->session->head->flight.is_on)
		return;
	/* Of a log with a gap nobody knows the step's number. */
	if (search->log.is_cut) {
		session_note(state->session,
			     "no step was looked for: the program was killed "
			     "after more regions than are kept");
		return;
	}
	step_finder_make(state);
	if (!state->finder)
		return;
	if (now == SEARCH_ON && search->part.is_known)
		take_part(search);
	state->finder->kept_ticks = search->kept_ticks;
	/* Parts that are closed have theirs, if the step was known then. */
	state->finder->closed_ticks = state->file.part_ticks;
	step_log_begin(state->session, &way);
	while ((entry = step_log_next(state->session, &way)))
		recall(state, entry);
}

bool step_recall_level(struct writer_state *state)
{
	const struct step_search *search = step_search_of(state);
	struct step_finder *finder = state->finder;
	struct loop_nest nest = {.count = 1, .runner_up = 1};

	for (size_t i = 0; i < finder->stream_count; i++) {
		struct step_marks *stream = &finder->streams[i];

		if (stream->tid != search->tid ||
		    stream->family != search->family ||
		    !step_marks_find_told(stream, search, &nest.level[0]))
			continue;
		step_found(state, stream, &nest, true);
		finder->cut.passed = search->passed;
		finder->cut.skip =
			load_relaxed(&state->session->head->windows.opened);
		return true;
	}
	return false;
}
