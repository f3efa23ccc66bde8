/* SPDX-License-Identifier: MIT */
/* memory_json.c - the args of a heap event; see memory_json.h. */
#include "writer/events/memory_json.h"

#include "writer/text/digits.h"
#include "writer/text/schema.h"

#define THEN(key)    "," SCHEMA_KEY(key)
/* Keys and seven numbers, each of its greatest width. */
#define ARGS_MAX     (256u + 7 * DIGITS_U64_MAX)
/* Of the total at most; less than what lies between its two places. */
#define NUMBER_BYTES 19u

/* Where the text goes on. */
struct place {
	char *at;
	const char *begin; /* offset 0 of the notes */
	struct fields *fields;
};

static inline void put(struct place *place, const char *text, size_t len)
{
	memcpy(place->at, text, len);
	place->at += len;
}

#define PUT(place, literal) put(place, "" literal, sizeof(literal) - 1)

static inline void end_field(struct place *place)
{
	if (place->fields)
		fields_end(place->fields, (size_t)(place->at - place->begin));
}

static inline void put_number(struct place *place, uint64_t value)
{
	place->at = digits_u64(place->at, value);
	end_field(place);
}

/* Twice: what the allocator holds beyond it isn't known. */
static inline void put_total(struct place *place, uint64_t total)
{
	const char *number;
	size_t len;

	PUT(place, THEN(SCHEMA_ARGS) "{" SCHEMA_KEY(SCHEMA_TOTAL_RESERVED));
	number = place->at;
	put_number(place, total);
	len = (size_t)(place->at - number);
	PUT(place, THEN(SCHEMA_TOTAL_ALLOCATED));
	memcpy(place->at, number, NUMBER_BYTES);
	place->at += len;
	end_field(place);
}

void memory_json_args(struct writer_state *state, const struct event *event)
{
	struct json *json = &state->json;
	struct timeline *line = &state->timeline;
	struct place place;

	if (!json_fits(json, ARGS_MAX))
		return;
	place = (struct place){json->data + json->used, json->data,
			       json->fields};
	put_total(&place,
		  (uint64_t)(state->heap.live > 0 ? state->heap.live : 0));
	PUT(&place, THEN(SCHEMA_BYTES));
	*place.at = '-';
	place.at += event->kind == EVENT_HEAP_FREE;
	put_number(&place, event->heap.size_bytes);
	PUT(&place, THEN(SCHEMA_DEVICE_ID) "-1" THEN(
			    SCHEMA_DEVICE_TYPE) "0" THEN(SCHEMA_ADDRESS));
	put_number(&place, event->heap.address);
	if (place.fields)
		fields_recurs(place.fields);
	PUT(&place, THEN(SCHEMA_EVENT_INDEX));
	put_number(&place, state->next_index++);
	if (event->heap.dur_ticks) {
		const uint64_t end = event->start_ticks + event->heap.dur_ticks;

		PUT(&place, ",\"dur_ns\":");
		put_number(&place,
			   timeline_ns(line, end) -
				   timeline_ns(line, event->start_ticks));
	}
	PUT(&place, "}}");
	json->used = (size_t)(place.at - json->data);
}
