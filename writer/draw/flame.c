/* SPDX-License-Identifier: MIT */
/* flame.c - slices of what samples have in common; see flame.h. */
#include "writer/draw/flame.h"

#include "collector/control/stack_choice.h"
#include "collector/session/stacks.h"
#include "writer/events/sample_json.h"

/* Of a pause that is no gap: a tick may be late, and others run. */
#define PAUSE_PERIODS 1u

struct flame {
	uint32_t depth;
	uint64_t end_ns; /* of the last sample */
	struct sample_frame frame[STACK_DEPTH_MAX + 1];
};

/* Two addresses are alike in one function, a name of an interpreter's in one
 * line of it. */
static uint64_t alike(uint64_t code, const struct code_name *name)
{
	if (!name)
		return code;
	/* The whole name may be cut, and what is shown has less of it. */
	return (hash_text(name->function, name->len) ^
		hash_text(name->shown, name->shown_len) << 1 ^
		hash_u64((uintptr_t)name->module)) &
	       ~STACK_NAMED;
}

static const struct code_name *name_of(struct writer_state *state,
				       uint64_t code, uint64_t ticks)
{
	return code & STACK_NAMED ? NULL
				  : naming_find_at(&state->naming, code, ticks);
}

/* Outermost first. */
static uint32_t frames_of(struct writer_state *state, const struct event *event,
			  uint64_t *codes)
{
	const struct stack *callers =
		event->stack ? stacks_find(state->session, event->stack) : NULL;
	uint32_t count = 0;

	for (uint32_t i = callers ? callers->count : 0; i > 0; i--)
		codes[count++] = callers->frame[i - 1];
	codes[count++] = event->cpu.code;
	return count;
}

/* Inner slices lie within outer ones, by nanoseconds. */
static void close_to(struct writer_state *state, struct ring_reader *reader,
		     uint32_t depth)
{
	struct flame *flame = reader->flame;

	while (flame->depth > depth) {
		struct sample_frame *frame = &flame->frame[--flame->depth];
		const struct event_span span = {
			.start_ns = frame->start_ns + flame->depth,
			.end_ns = flame->end_ns - flame->depth};

		if (span.end_ns > span.start_ns && !state->error) {
			sample_json(state, reader, frame, span);
			if (window_file_is_due(state))
				window_file_flush(state);
		}
	}
}

static void open_at(struct writer_state *state, struct flame *flame,
		    const uint64_t *codes, uint32_t count, uint64_t ticks,
		    uint64_t start_ns)
{
	for (uint32_t i = flame->depth; i < count; i++) {
		const struct code_name *name = name_of(state, codes[i], ticks);

		flame->frame[i] =
			(struct sample_frame){.code = codes[i],
					      .key = alike(codes[i], name),
					      .name = name,
					      .start_ns = start_ns};
	}
	flame->depth = count;
}

/* Its place in the frame, or where it would be the next. */
static uint32_t place_of(const struct sample_frame *frame, uint64_t code)
{
	uint32_t i = 0;

	while (i < frame->place_count && frame->place[i].code != code)
		i++;
	return i;
}

/* The innermost frame has one sample more. */
static void count_self(struct sample_frame *frame, const struct event *event)
{
	const uint32_t i = place_of(frame, event->cpu.code);

	frame->samples++;
	frame->self_ns += event->cpu.took_ns;
	if (i == frame->place_count)
		frame->place[frame->place_count++].code = event->cpu.code;
	frame->place[i].samples++;
}

/* How many of its frames go on.  One that has no room for a place more ends,
 * and begins anew: each sample is to be found by its line. */
static uint32_t frames_in_common(struct writer_state *state,
				 const struct flame *flame,
				 const uint64_t *codes, uint32_t count,
				 uint64_t ticks)
{
	uint32_t same = 0;

	while (same < count && same < flame->depth &&
	       flame->frame[same].key ==
		       alike(codes[same], name_of(state, codes[same], ticks)))
		same++;
	if (same == count && place_of(&flame->frame[count - 1],
				      codes[count - 1]) == SAMPLE_PLACES_MAX)
		same--;
	return same;
}

bool flame_take(struct writer_state *state, struct ring_reader *reader,
		const struct event *event, uint64_t ns)
{
	const uint64_t period = state->session->head->sampling.period_ns;
	uint64_t codes[STACK_DEPTH_MAX + 1];
	const uint32_t count = frames_of(state, event, codes);
	struct flame *flame = reader->flame;
	uint64_t start_ns;

	if (!flame)
		reader->flame = flame =
			arena_alloc(&state->arena, sizeof(*flame));
	if (!flame)
		return false;
	start_ns = ns - min_u64(event->cpu.took_ns, ns);
	start_ns = max_u64(start_ns, state->file.start_ns);
	if (start_ns < flame->end_ns ||
	    (flame->depth &&
	     start_ns - flame->end_ns <= period * PAUSE_PERIODS))
		start_ns = flame->end_ns;
	else
		close_to(state, reader, 0);
	close_to(
		state, reader,
		frames_in_common(state, flame, codes, count, event->end_ticks));
	open_at(state, flame, codes, count, event->end_ticks, start_ns);
	flame->end_ns = max_u64(ns, start_ns);
	count_self(&flame->frame[count - 1], event);
	return true;
}

void flame_flush(struct writer_state *state)
{
	for (struct ring_reader *t = state->readers; t; t = t->older) {
		if (t->flame && t->flame->depth)
			close_to(state, t, 0);
	}
}
