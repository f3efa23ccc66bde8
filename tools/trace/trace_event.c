/* SPDX-License-Identifier: MIT */
/*
 * trace_event.c - what an event's fields and args say.
 */
#include <string.h>

#include "tools/trace/trace_reader.h"
#include "tools/util/numbers.h"
#include "tools/util/text_buffer.h"

struct trace_value trace_event_arg(const struct trace_event *event,
				   const char *key)
{
	static const struct trace_value absent = {.type = TRACE_ABSENT,
						  .text = ""};

	if (!(event->letters & trace_letter_bit(key)))
		return absent;
	for (size_t at = 0; at < event->pair_count; at++)
		if (*event->pairs[at].key == *key &&
		    strcmp(event->pairs[at].key, key) == 0)
			return event->pairs[at].value;
	return absent;
}

bool trace_event_integer(const struct trace_event *event, const char *key,
			 int64_t *value)
{
	const struct trace_value found = trace_event_arg(event, key);

	return found.type == TRACE_NUMBER &&
	       decimal_to_integer(found.text, found.len, value) == 0;
}

bool trace_event_is_slice(const struct trace_event *event)
{
	return trace_value_is(&event->field[FIELD_PH], "X") &&
	       (event->ts_state == TIME_GOOD || event->ts_state == TIME_FINE) &&
	       event->dur_ns >= 0 && event->ts_ns <= INT64_MAX - event->dur_ns;
}

/* Most events are on the lane of the one before. */
static bool is_last_lane(const struct trace_lanes *lanes,
			 const struct trace_value *pid,
			 const struct trace_value *tid)
{
	const struct text_buffer *text = &lanes->text;

	return text->len == pid->len + tid->len + 1 &&
	       !memcmp(text->data, pid->text, pid->len) &&
	       text->data[pid->len] == ' ' &&
	       !memcmp(text->data + pid->len + 1, tid->text, tid->len);
}

uint32_t trace_lanes_number(struct trace_lanes *lanes,
			    const struct trace_event *event)
{
	const struct trace_value *pid = &event->field[FIELD_PID];
	const struct trace_value *tid = &event->field[FIELD_TID];
	struct text_buffer *text = &lanes->text;

	if (is_last_lane(lanes, pid, tid))
		return lanes->last;
	text_buffer_cut(text, 0);
	text_buffer_add_printable(text, pid->text, pid->len, 60);
	text_buffer_add(text, " ", 1);
	text_buffer_add_printable(text, tid->text, tid->len, 60);
	lanes->last = key_table_number(&lanes->table, text->data, text->len);
	return lanes->last;
}

void trace_lanes_free(struct trace_lanes *lanes)
{
	key_table_free(&lanes->table);
	text_buffer_free(&lanes->text);
}

bool trace_value_is(const struct trace_value *value, const char *text)
{
	return value->type == TRACE_STRING && *value->text == *text &&
	       strcmp(value->text, text) == 0;
}

struct trace_event trace_event_share(const struct trace_event *region,
				     struct trace_pair *pairs)
{
	const struct trace_value task = {TRACE_STRING, "task", 4};
	struct trace_event share = *region;
	int64_t after_ns = 0;

	share.pairs = pairs;
	share.pair_count = 0;
	share.is_share = true;
	for (size_t at = 0; at < region->pair_count; at++) {
		struct trace_pair pair = region->pairs[at];

		if (!strcmp(pair.key, "omp"))
			pair.value = task;
		if (!strcmp(pair.key, "share_us"))
			decimal_to_ns(pair.value.text, pair.value.len,
				      &share.dur_ns);
		else if (!strcmp(pair.key, "share_after_us"))
			decimal_to_ns(pair.value.text, pair.value.len,
				      &after_ns);
		else if (share.pair_count < TRACE_SHARE_PAIRS)
			pairs[share.pair_count++] = pair;
	}
	share.field[FIELD_CAT] =
		(struct trace_value){TRACE_STRING, "openmp", 6};
	share.ts_ns = saturate_add(share.ts_ns, after_ns);
	return share;
}
