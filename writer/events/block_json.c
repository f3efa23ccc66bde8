/* SPDX-License-Identifier: MIT */
/* block_json.c - a heap event's args; see block_json.h. */
#include "writer/events/block_json.h"

#include "collector/system/sampling.h"
#include "writer/events/stack_json.h"
#include "writer/text/digits.h"
#include "writer/text/schema.h"
#include <string.h>

#define THEN(key)	"," SCHEMA_KEY(key)
/* Keys and eight numbers of a heap event, each of its greatest width. */
#define MEMORY_ARGS_MAX (256u + 8 * DIGITS_U64_MAX)
/* Of the total at most; less than what lies between its two places. */
#define NUMBER_BYTES	19u
#define UNTOLD_MOST	16u

/* Where the text goes on. */
struct cursor {
	char *at;
	const char *begin; /* offset 0 of the notes */
	struct fields *fields;
};

static inline void put(struct cursor *cursor, const char *text, size_t len)
{
	memcpy(cursor->at, text, len);
	cursor->at += len;
}

#define PUT(cursor, literal) put(cursor, "" literal, sizeof(literal) - 1)

static inline void end_field(struct cursor *cursor)
{
	if (cursor->fields)
		fields_end(cursor->fields,
			   (size_t)(cursor->at - cursor->begin));
}

static inline void put_number(struct cursor *cursor, uint64_t value)
{
	cursor->at = digits_u64(cursor->at, value);
	end_field(cursor);
}

static uint64_t live_bytes(const struct writer_state *state)
{
	return state->heap.live > 0 ? (uint64_t)state->heap.live : 0;
}

bool block_has_total(struct writer_state *state, const struct event *event)
{
	struct window_file *file = &state->file;
	const int64_t live = (int64_t)live_bytes(state);
	const int64_t bytes = (int64_t)event->heap.size_bytes;

	file->heap_live += event->kind == EVENT_HEAP_FREE ? -bytes : bytes;
	if (file->heap_live == live && live <= file->heap_top &&
	    ++file->heap_untold < UNTOLD_MOST)
		return false;
	file->heap_live = live;
	if (live > file->heap_top)
		file->heap_top = live;
	file->heap_untold = 0;
	return true;
}

/* Twice: what the allocator holds beyond it isn't known. */
static inline void put_total(struct cursor *cursor, uint64_t total)
{
	const char *number;
	size_t len;

	PUT(cursor, SCHEMA_KEY(SCHEMA_TOTAL_RESERVED));
	number = cursor->at;
	put_number(cursor, total);
	len = (size_t)(cursor->at - number);
	PUT(cursor, THEN(SCHEMA_TOTAL_ALLOCATED));
	memcpy(cursor->at, number, NUMBER_BYTES);
	cursor->at += len;
	end_field(cursor);
	/* TensorBoard looks up each device that has a total. */
	PUT(cursor, THEN(SCHEMA_DEVICE_ID) "-1,");
}

/* What a sample stands for. */
static void put_weighed(struct writer_state *state, const struct event *event)
{
	const struct options *options = &state->session->head->options;
	const uint64_t bytes = sampling_weigh(event->heap.size_bytes,
					      (uint64_t)options->malloc_sample);

	json_pair_i64(&state->json, SCHEMA_WEIGHED,
		      event->kind == EVENT_HEAP_FREE ? -(int64_t)bytes
						     : (int64_t)bytes);
}

/* The args of a heap event, to the end of its line.  There may be millions of
 * them in a second, each with six numbers, so they are written in one go, with
 * one look at the room that is left. */
void block_json(struct writer_state *state, const struct event *event,
		bool has_total)
{
	struct json *json = &state->json;
	struct timeline *line = &state->timeline;
	const bool is_timed = blocks_are_timed(state);
	const uint64_t spare = event_spare(event, is_timed);
	const uint64_t dur = event_dur(event, is_timed);
	struct cursor cursor;

	if (!json_fits(json, MEMORY_ARGS_MAX))
		return;
	cursor = (struct cursor){json->data + json->used, json->data,
				 json->fields};
	PUT(&cursor, THEN(SCHEMA_ARGS) "{");
	if (has_total)
		put_total(&cursor, live_bytes(state));
	PUT(&cursor, SCHEMA_KEY(SCHEMA_BYTES));
	*cursor.at = '-';
	cursor.at += event->kind == EVENT_HEAP_FREE;
	put_number(&cursor, event->heap.size_bytes);
	if (spare) {
		PUT(&cursor, THEN(SCHEMA_SPARE));
		put_number(&cursor, spare);
	}
	PUT(&cursor, THEN(SCHEMA_DEVICE_TYPE) "0" THEN(SCHEMA_ADDRESS));
	put_number(&cursor, event->heap.address);
	if (cursor.fields)
		fields_recurs(cursor.fields);
	if (dur) {
		const uint64_t end = event->start_ticks + dur;

		PUT(&cursor, ",\"dur_ns\":");
		put_number(&cursor,
			   timeline_ns(line, end) -
				   timeline_ns(line, event->start_ticks));
	}
	json->used = (size_t)(cursor.at - json->data);
	if (state->session->head->options.malloc == MALLOC_SAMPLED)
		put_weighed(state, event);
	if (event->kind == EVENT_HEAP_ALLOC && event->stack)
		stack_json(state, event->stack);
	json_raw(json, "}}");
}

void block_json_drawn(struct json *json, const struct writer_state *state)
{
	const struct session_header *head = state->session->head;

	json_raw(json, ",\"has_spare\":true");
	if (head->options.malloc == MALLOC_SAMPLED) {
		json_pair_i64(json, "sample_bytes",
			      head->options.malloc_sample);
		json_pair_u64(json, "samples_refused",
			      load_relaxed(&head->samples_refused));
	}
	if (load_relaxed(&head->heap_most)) {
		json_pair_u64(json, "thinned_mask",
			      load_relaxed(&head->heap_most));
		json_pair_i64(json, "thinned_below", head->options.malloc_min);
	}
	if (state->file.heap_is_over)
		json_pair_micros(json, "small_blocks_ended",
				 state->file.heap_ended_ns);
}
