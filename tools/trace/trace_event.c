/* SPDX-License-Identifier: MIT */
/*
 * trace_event.c - what an event's fields and args say.
 */
#include <string.h>

#include "tools/trace/trace_reader.h"
#include "tools/util/numbers.h"
#include "tools/util/text_buffer.h"

struct trace_value trace_event_find(const struct trace_event *event,
				    const char *key, size_t key_len)
{
	/* Keys of one length, as "device" and "stream", mostly end differently. */
	for (size_t at = 0; at < event->pair_count; at++)
		if (event->pairs[at].key_len == key_len &&
		    event->pairs[at].key[key_len - 1] == key[key_len - 1] &&
		    memcmp(event->pairs[at].key, key, key_len) == 0)
			return event->pairs[at].value;
	return (struct trace_value){.type = TRACE_ABSENT, .text = ""};
}

bool trace_event_find_integer(const struct trace_event *event, const char *key,
			      size_t key_len, int64_t *value)
{
	const struct trace_value found = trace_event_find(event, key, key_len);

	return found.type == TRACE_NUMBER &&
	       decimal_to_integer(found.text, found.len, value) == 0;
}

bool trace_event_is_slice(const struct trace_event *event)
{
	return trace_value_is(&event->field[FIELD_PH], "X") &&
	       (event->ts_state == TIME_GOOD || event->ts_state == TIME_FINE) &&
	       event->dur_ns >= 0 && event->ts_ns <= INT64_MAX - event->dur_ns;
}

static bool is_lane(const struct trace_lane *lane,
		    const struct trace_value *pid,
		    const struct trace_value *tid)
{
	const struct text_buffer *text = &lane->text;

	return text->len == pid->len + tid->len + 1 &&
	       !memcmp(text->data, pid->text, pid->len) &&
	       text->data[pid->len] == ' ' &&
	       !memcmp(text->data + pid->len + 1, tid->text, tid->len);
}

/* Most events are on one of few lanes, whose numbers differ at their ends. */
static struct trace_lane *recent_of(struct trace_lanes *lanes,
				    const struct trace_value *pid,
				    const struct trace_value *tid)
{
	const unsigned int ends =
		(pid->len ? (unsigned char)pid->text[pid->len - 1] : 0u) +
		(tid->len ? (unsigned char)tid->text[tid->len - 1] : 0u);

	return &lanes->recent[ends % TRACE_LANES_RECENT];
}

uint32_t trace_lanes_number(struct trace_lanes *lanes,
			    const struct trace_event *event)
{
	const struct trace_value *pid = &event->field[FIELD_PID];
	const struct trace_value *tid = &event->field[FIELD_TID];
	struct trace_lane *lane = recent_of(lanes, pid, tid);
	struct text_buffer *text = &lane->text;

	if (is_lane(lane, pid, tid))
		return lane->number;
	text_buffer_cut(text, 0);
	text_buffer_add_printable(text, pid->text, pid->len, 60);
	text_buffer_add(text, " ", 1);
	text_buffer_add_printable(text, tid->text, tid->len, 60);
	lane->number = key_table_number(&lanes->table, text->data, text->len);
	return lane->number;
}

void trace_lanes_free(struct trace_lanes *lanes)
{
	for (unsigned int at = 0; at < TRACE_LANES_RECENT; at++)
		text_buffer_free(&lanes->recent[at].text);
	key_table_free(&lanes->table);
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
