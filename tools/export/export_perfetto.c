/* SPDX-License-Identifier: MIT */
/*
 * export_perfetto.c - Perfetto's own format, TrackEvents on tracks.
 *
 * A slice becomes a begin and an end, and those of one track have to stand in
 * the order in which they nest.  Our files have slices by their ends and torch
 * has them anyhow, so all is read first: a span of 24 bytes, and its args as
 * they will be written.  Names are sent once, at the head.
 *
 * Slices that cross another on their lane get a track beside it.
 */
#include "tools/export/export.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#include "tools/export/perfetto_words.h"
#include "tools/util/proto.h"
#include "tools/util/lane_spans.h"
#include "tools/util/memory.h"
#include "tools/util/numbers.h"

#define SEQUENCE   1u
#define SIDE_LANES INT64_C(10000000) /* docs/trace-format.md */
#define NO_ARGS	   UINT32_MAX

struct flow {
	int64_t ns;
	uint64_t id;
	bool is_end, is_bound;
};

/* Beside the spans of a lane. */
struct detail {
	uint32_t category;
	uint32_t args_len;
	uint64_t args; /* place in `args` */
	bool is_instant;
};

struct lane {
	struct lane_spans spans; /* mark: number of its detail */
	struct flow *flows;
	size_t flow_count, flow_capacity, flow_next;
	int64_t pid, tid;
	char *label;
	int64_t rank; /* thread_sort_index */
	bool is_side;
};

struct process {
	char *label;
	int64_t rank;
};

struct value {
	int64_t ns;
	double value;
	uint32_t series;
};

struct perfetto {
	struct key_table lanes;	    /* struct lane, by pid and tid */
	struct key_table processes; /* struct process, by pid */
	struct key_table series;    /* by pid, name */
	struct key_table names, categories, keys, strings;
	struct detail *details;
	size_t detail_count, detail_capacity;
	struct value *values;
	size_t value_count, value_capacity;
	struct text_buffer args, key;
	uint64_t crossings; /* tracks */
	uint64_t unbound;   /* flows that begin or end at no slice */

	gzFile out;
	struct text_buffer packet, part, inner;
	int64_t *ends; /* of slices that are open on this track */
	size_t depth, ends_capacity;
	uint64_t uuid;	   /* of this track */
	struct lane *lane; /* being written */
	struct lane_spans crossing;
};

/* --- reading -------------------------------------------------------------- */

/* A lane without numbers ("Spans") has those of its text's place. */
static struct lane *lane_of(struct perfetto *perfetto,
			    const struct trace_event *event)
{
	const struct trace_value *pid = &event->field[FIELD_PID];
	const struct trace_value *tid = &event->field[FIELD_TID];
	struct lane *lane;

	text_buffer_cut(&perfetto->key, 0);
	text_buffer_keep(&perfetto->key, pid->text, pid->len);
	text_buffer_add(&perfetto->key, tid->text, tid->len);
	lane = key_table_row(&perfetto->lanes,
			     key_table_number(&perfetto->lanes,
					      perfetto->key.data,
					      perfetto->key.len));
	if (!export_lane(event, &lane->pid, &lane->tid))
		lane->pid = lane->tid = -1;
	lane->is_side = lane->tid >= SIDE_LANES;
	return lane;
}

static struct process *process_of(struct perfetto *perfetto,
				  const struct trace_value *pid)
{
	return key_table_row(
		&perfetto->processes,
		key_table_number(&perfetto->processes, pid->text, pid->len));
}

static uint64_t number_of(struct key_table *table,
			  const struct trace_value *value)
{
	return key_table_number(table, value->text, value->len) + 1;
}

static void add_argument(struct perfetto *perfetto,
			 const struct trace_pair *pair)
{
	struct text_buffer *inner = &perfetto->inner;
	const struct trace_value *value = &pair->value;
	int64_t integer;

	proto_uint(inner, ANNOTATION_NAME,
		   key_table_number(&perfetto->keys, pair->key,
				    strlen(pair->key)) +
			   1);
	if (value->type == TRACE_STRING)
		proto_uint(inner, ANNOTATION_STRING,
			   number_of(&perfetto->strings, value));
	else if (value->type == TRACE_BOOLEAN)
		proto_uint(inner, ANNOTATION_BOOL,
			   trace_value_is(value, "true"));
	else if (!decimal_to_integer(value->text, value->len, &integer))
		proto_uint(inner, ANNOTATION_INT, (uint64_t)integer);
	else
		proto_double(inner, ANNOTATION_DOUBLE,
			     strtod(value->text, NULL));
	proto_message(&perfetto->args, EVENT_ANNOTATION, inner);
}

static uint32_t add_detail(struct perfetto *perfetto,
			   const struct trace_event *event, bool is_instant)
{
	struct detail detail = {
		.category = (uint32_t)number_of(&perfetto->categories,
						&event->field[FIELD_CAT]),
		.args = perfetto->args.len,
		.is_instant = is_instant,
	};

	for (size_t at = 0; at < event->pair_count; at++) {
		const enum trace_type type = event->pairs[at].value.type;

		if (type == TRACE_STRING || type == TRACE_BOOLEAN ||
		    type == TRACE_NUMBER)
			add_argument(perfetto, &event->pairs[at]);
	}
	detail.args_len = (uint32_t)(perfetto->args.len - detail.args);
	perfetto->details =
		memory_grow(perfetto->details, perfetto->detail_count,
			    &perfetto->detail_capacity, sizeof(detail));
	perfetto->details[perfetto->detail_count] = detail;
	return (uint32_t)perfetto->detail_count++;
}

static void on_span(struct perfetto *perfetto, const struct trace_event *event,
		    bool is_instant)
{
	const uint32_t mark = add_detail(perfetto, event, is_instant);
	const uint32_t name = (uint32_t)number_of(&perfetto->names,
						  &event->field[FIELD_NAME]);

	process_of(perfetto, &event->field[FIELD_PID]);
	lane_spans_add(&lane_of(perfetto, event)->spans,
		       (struct lane_span){
			       event->ts_ns,
			       event->ts_ns + (is_instant ? 0 : event->dur_ns),
			       name, mark,
			       trace_value_is(&event->field[FIELD_CAT],
					      "gpu_user_annotation")});
}

static void on_flow(struct perfetto *perfetto, const struct trace_event *event)
{
	struct lane *lane = lane_of(perfetto, event);
	const uint64_t category =
		number_of(&perfetto->categories, &event->field[FIELD_CAT]);
	int64_t id;

	if (decimal_to_integer(event->field[FIELD_ID].text,
			       event->field[FIELD_ID].len, &id)) {
		perfetto->unbound++;
		return;
	}
	lane->flows = memory_grow(lane->flows, lane->flow_count,
				  &lane->flow_capacity, sizeof(struct flow));
	lane->flows[lane->flow_count++] = (struct flow){
		event->ts_ns, (uint64_t)id | category << 48,
		trace_value_is(&event->field[FIELD_PH], "f"), false};
}

static void on_counter(struct perfetto *perfetto,
		       const struct trace_event *event)
{
	const struct trace_value *pid = &event->field[FIELD_PID];
	const struct trace_value *name = &event->field[FIELD_NAME];
	struct text_buffer *key = &perfetto->key;

	process_of(perfetto, pid);
	for (size_t at = 0; at < event->pair_count; at++) {
		const struct trace_pair *pair = &event->pairs[at];
		struct value value = {.ns = event->ts_ns};

		if (pair->value.type != TRACE_NUMBER)
			continue;
		text_buffer_cut(key, 0);
		text_buffer_keep(key, pid->text, pid->len);
		text_buffer_add(key, name->text, name->len);
		if (event->pair_count > 1)
			text_buffer_format(key, " %s", pair->key);
		value.series = key_table_number(&perfetto->series, key->data,
						key->len);
		value.value = strtod(pair->value.text, NULL);
		perfetto->values =
			memory_grow(perfetto->values, perfetto->value_count,
				    &perfetto->value_capacity, sizeof(value));
		perfetto->values[perfetto->value_count++] = value;
	}
}

static void keep_label(char **label, const struct trace_value *value)
{
	free(*label);
	*label = value->type == TRACE_STRING ? strdup(value->text) : NULL;
}

static void on_metadata(struct perfetto *perfetto,
			const struct trace_event *event)
{
	const struct trace_value *what = &event->field[FIELD_NAME];
	const struct trace_value name = trace_event_arg(event, "name");
	struct process *process =
		process_of(perfetto, &event->field[FIELD_PID]);

	if (trace_value_is(what, "process_name"))
		keep_label(&process->label, &name);
	else if (trace_value_is(what, "process_sort_index"))
		trace_event_integer(event, "sort_index", &process->rank);
	else if (trace_value_is(what, "thread_name"))
		keep_label(&lane_of(perfetto, event)->label, &name);
	else if (trace_value_is(what, "thread_sort_index"))
		trace_event_integer(event, "sort_index",
				    &lane_of(perfetto, event)->rank);
}

static void on_event(void *arg, const struct trace_event *event)
{
	const struct trace_value *ph = &event->field[FIELD_PH];
	struct perfetto *perfetto = arg;
	const bool has_time =
		event->ts_state == TIME_GOOD || event->ts_state == TIME_FINE;

	if (event->is_share)
		return;
	if (trace_event_is_slice(event))
		on_span(perfetto, event, false);
	else if (trace_value_is(ph, "M"))
		on_metadata(perfetto, event);
	else if (!has_time)
		return;
	else if (trace_value_is(ph, "i") || trace_value_is(ph, "I"))
		on_span(perfetto, event, true);
	else if (trace_value_is(ph, "C"))
		on_counter(perfetto, event);
	else if (trace_value_is(ph, "s") || trace_value_is(ph, "f"))
		on_flow(perfetto, event);
}

/* --- writing -------------------------------------------------------------- */

/* Tracks are told apart by 64 bits: a kind and a number. */
enum track_kind {
	TRACK_OF_PROCESS = 1,
	TRACK_OF_LANE,
	TRACK_OF_CROSSING,
	TRACK_OF_SERIES
};

static uint64_t track(enum track_kind kind, uint64_t number)
{
	return (uint64_t)kind << 40 | number;
}

/* What `packet` holds becomes one. */
static void send_packet(struct perfetto *perfetto)
{
	struct text_buffer head = {0};

	proto_bytes(&head, TRACE_PACKET, "", 0);
	head.len--;
	proto_varint(&head, perfetto->packet.len);
	gzwrite(perfetto->out, head.data, (unsigned int)head.len);
	gzwrite(perfetto->out, perfetto->packet.data,
		(unsigned int)perfetto->packet.len);
	text_buffer_cut(&perfetto->packet, 0);
	text_buffer_free(&head);
}

static void intern(struct perfetto *perfetto, unsigned int field,
		   const struct key_table *table)
{
	const char *text;
	size_t len;

	for (size_t at = 0; at < table->count; at++) {
		text = key_table_key(table, at, &len);
		proto_uint(&perfetto->inner, INTERNED_ID, at + 1);
		proto_bytes(&perfetto->inner, INTERNED_TEXT, text, len);
		proto_message(&perfetto->part, field, &perfetto->inner);
	}
}

static void send_names(struct perfetto *perfetto)
{
	intern(perfetto, INTERNED_CATEGORIES, &perfetto->categories);
	intern(perfetto, INTERNED_NAMES, &perfetto->names);
	intern(perfetto, INTERNED_ANNOTATIONS, &perfetto->keys);
	intern(perfetto, INTERNED_STRINGS, &perfetto->strings);
	proto_uint(&perfetto->packet, PACKET_SEQUENCE, SEQUENCE);
	proto_uint(&perfetto->packet, PACKET_SEQUENCE_FLAGS,
		   SEQUENCE_CLEARED | SEQUENCE_NEEDED);
	proto_message(&perfetto->packet, PACKET_INTERNED, &perfetto->part);
	send_packet(perfetto);
}

static void send_track(struct perfetto *perfetto)
{
	proto_uint(&perfetto->packet, PACKET_SEQUENCE, SEQUENCE);
	proto_message(&perfetto->packet, PACKET_TRACK, &perfetto->part);
	send_packet(perfetto);
}

/* GPUs have a pid below 16. */
static bool is_host(const char *pid, int64_t *number)
{
	return !decimal_to_integer(pid, strlen(pid), number) && *number >= 16;
}

static void send_process(struct perfetto *perfetto, size_t at)
{
	const struct process *process = key_table_row(&perfetto->processes, at);
	const char *pid = key_table_key(&perfetto->processes, at, NULL);
	const char *label = process->label ? process->label : pid;
	struct text_buffer *part = &perfetto->part;
	int64_t number;

	proto_uint(part, TRACK_UUID, track(TRACK_OF_PROCESS, at));
	proto_uint(part, TRACK_RANK, (uint64_t)process->rank);
	proto_uint(part, TRACK_CHILD_ORDER, ORDER_EXPLICIT);
	if (is_host(pid, &number)) {
		proto_uint(&perfetto->inner, PROCESS_PID, (uint64_t)number);
		proto_text(&perfetto->inner, PROCESS_NAME, label);
		proto_message(part, TRACK_PROCESS, &perfetto->inner);
	} else {
		proto_text(part, TRACK_NAME, *label ? label : "trace");
	}
	send_track(perfetto);
}

static uint64_t process_track(const struct perfetto *perfetto, const char *pid)
{
	for (size_t at = 0; at < perfetto->processes.count; at++)
		if (!strcmp(key_table_key(&perfetto->processes, at, NULL), pid))
			return track(TRACK_OF_PROCESS, at);
	return 0;
}

/* The lane that a side lane belongs to, else its process. */
static uint64_t parent_of(const struct perfetto *perfetto, size_t at)
{
	const struct lane *lane = key_table_row(&perfetto->lanes, at);
	const char *pid = key_table_key(&perfetto->lanes, at, NULL);

	for (size_t other = 0; lane->is_side && other < perfetto->lanes.count;
	     other++) {
		const struct lane *base =
			key_table_row(&perfetto->lanes, other);

		if (base->pid == lane->pid &&
		    base->tid == lane->tid % SIDE_LANES && base->spans.count)
			return track(TRACK_OF_LANE, other);
	}
	return process_track(perfetto, pid);
}

static void name_thread(struct perfetto *perfetto, const struct lane *lane)
{
	struct text_buffer *inner = &perfetto->inner;

	proto_uint(inner, THREAD_PID, (uint64_t)lane->pid);
	proto_uint(inner, THREAD_TID, (uint64_t)lane->tid);
	if (lane->label)
		proto_text(inner, THREAD_NAME, lane->label);
	proto_message(&perfetto->part, TRACK_THREAD, inner);
}

static void send_lane(struct perfetto *perfetto, size_t at)
{
	const struct lane *lane = key_table_row(&perfetto->lanes, at);
	const char *key = key_table_key(&perfetto->lanes, at, NULL);
	const char *tid = key + strlen(key) + 1;
	struct text_buffer *part = &perfetto->part;

	proto_uint(part, TRACK_UUID, track(TRACK_OF_LANE, at));
	proto_uint(part, TRACK_RANK, (uint64_t)lane->rank);
	if (lane->pid >= 16 && !lane->is_side) {
		name_thread(perfetto, lane);
	} else {
		proto_text(part, TRACK_NAME,
			   lane->label ? lane->label
			   : *tid      ? tid
				       : "trace");
		proto_uint(part, TRACK_PARENT, parent_of(perfetto, at));
	}
	send_track(perfetto);
}

static void send_series(struct perfetto *perfetto, size_t at)
{
	const char *pid = key_table_key(&perfetto->series, at, NULL);
	const char *name = pid + strlen(pid) + 1;
	struct text_buffer *part = &perfetto->part;

	proto_uint(part, TRACK_UUID, track(TRACK_OF_SERIES, at));
	proto_text(part, TRACK_NAME, name);
	proto_uint(part, TRACK_PARENT, process_track(perfetto, pid));
	if (strstr(name, "heap") || strstr(name, "memory"))
		proto_uint(&perfetto->inner, COUNTER_UNIT, COUNTER_BYTES);
	proto_message(part, TRACK_COUNTER, &perfetto->inner);
	send_track(perfetto);
}

/* `part` holds the rest of the event. */
static void send_event(struct perfetto *perfetto, int64_t ns, int type,
		       uint64_t uuid)
{
	proto_uint(&perfetto->part, EVENT_TYPE, (uint64_t)type);
	proto_uint(&perfetto->part, EVENT_TRACK, uuid);
	proto_uint(&perfetto->packet, PACKET_TIMESTAMP, (uint64_t)ns);
	proto_uint(&perfetto->packet, PACKET_SEQUENCE, SEQUENCE);
	proto_uint(&perfetto->packet, PACKET_SEQUENCE_FLAGS, SEQUENCE_NEEDED);
	proto_message(&perfetto->packet, PACKET_TRACK_EVENT, &perfetto->part);
	send_packet(perfetto);
}

/* Ends the open slices that have ended by then. */
static void close_slices(struct perfetto *perfetto, int64_t ns)
{
	while (perfetto->depth && perfetto->ends[perfetto->depth - 1] <= ns) {
		perfetto->depth--;
		send_event(perfetto, perfetto->ends[perfetto->depth], TYPE_END,
			   perfetto->uuid);
	}
}

/* Arrows that begin or end where this slice begins. */
static void add_flows(struct perfetto *perfetto, int64_t ns)
{
	struct lane *lane = perfetto->lane;
	struct flow *flow;

	while (lane->flow_next < lane->flow_count &&
	       (flow = &lane->flows[lane->flow_next])->ns <= ns) {
		if (flow->ns == ns && !flow->is_bound) {
			proto_fixed64(&perfetto->part,
				      flow->is_end ? EVENT_FLOW_END
						   : EVENT_FLOW,
				      flow->id);
			flow->is_bound = true;
		}
		lane->flow_next++;
	}
}

static bool on_enter(void *arg, const struct lane_span *outer,
		     struct lane_span *span)
{
	struct perfetto *perfetto = arg;
	const struct detail *detail = &perfetto->details[span->mark];

	if (outer && span->end_ns > outer->end_ns) {
		lane_spans_add(&perfetto->crossing, *span);
		return false;
	}
	close_slices(perfetto, span->start_ns);
	proto_uint(&perfetto->part, EVENT_CATEGORY, detail->category);
	proto_uint(&perfetto->part, EVENT_NAME, span->name);
	if (detail->args_len)
		text_buffer_add(&perfetto->part,
				perfetto->args.data + detail->args,
				detail->args_len);
	if (!detail->is_instant)
		add_flows(perfetto, span->start_ns);
	send_event(perfetto, span->start_ns,
		   detail->is_instant ? TYPE_INSTANT : TYPE_BEGIN,
		   perfetto->uuid);
	if (detail->is_instant)
		return false;
	perfetto->ends =
		memory_grow(perfetto->ends, perfetto->depth,
			    &perfetto->ends_capacity, sizeof(*perfetto->ends));
	perfetto->ends[perfetto->depth++] = span->end_ns;
	return true;
}

static int compare_flows(const void *left, const void *right)
{
	const struct flow *a = left, *b = right;

	return a->ns < b->ns ? -1 : a->ns > b->ns;
}

/* Those that cross another get a further track, as often as need be. */
static void send_slices(struct perfetto *perfetto, size_t at)
{
	struct lane *lane = key_table_row(&perfetto->lanes, at);
	struct lane_spans spans = lane->spans;

	lane->spans = (struct lane_spans){.count = lane->spans.count};
	if (lane->flow_count)
		qsort(lane->flows, lane->flow_count, sizeof(*lane->flows),
		      compare_flows);
	perfetto->lane = lane;
	perfetto->uuid = track(TRACK_OF_LANE, at);
	while (spans.count) {
		lane->flow_next = 0;
		lane_spans_walk(&spans, on_enter, perfetto);
		close_slices(perfetto, INT64_MAX);
		lane_spans_free(&spans);
		spans = perfetto->crossing;
		perfetto->crossing = (struct lane_spans){0};
		if (!spans.count)
			break;
		proto_uint(&perfetto->part, TRACK_UUID,
			   ++perfetto->crossings + track(TRACK_OF_CROSSING, 0));
		proto_uint(&perfetto->part, TRACK_PARENT, perfetto->uuid);
		proto_text(&perfetto->part, TRACK_NAME, "crossing");
		send_track(perfetto);
		perfetto->uuid = track(TRACK_OF_CROSSING, perfetto->crossings);
	}
	for (size_t i = 0; i < lane->flow_count; i++)
		perfetto->unbound += !lane->flows[i].is_bound;
}

static void send_all(struct perfetto *perfetto)
{
	send_names(perfetto);
	for (size_t at = 0; at < perfetto->processes.count; at++)
		send_process(perfetto, at);
	for (size_t at = 0; at < perfetto->lanes.count; at++)
		if (((struct lane *)key_table_row(&perfetto->lanes, at))
			    ->spans.count)
			send_lane(perfetto, at);
	for (size_t at = 0; at < perfetto->series.count; at++)
		send_series(perfetto, at);
	for (size_t at = 0; at < perfetto->lanes.count; at++)
		send_slices(perfetto, at);
	for (size_t at = 0; at < perfetto->value_count; at++) {
		const struct value *value = &perfetto->values[at];

		proto_double(&perfetto->part, EVENT_DOUBLE_VALUE, value->value);
		send_event(perfetto, value->ns, TYPE_COUNTER,
			   track(TRACK_OF_SERIES, value->series));
	}
}

static void forget(struct perfetto *perfetto)
{
	struct key_table *tables[] = {
		&perfetto->lanes,   &perfetto->processes,  &perfetto->series,
		&perfetto->names,   &perfetto->categories, &perfetto->keys,
		&perfetto->strings,
	};
	struct text_buffer *buffers[] = {
		&perfetto->args, &perfetto->key,   &perfetto->packet,
		&perfetto->part, &perfetto->inner,
	};

	for (size_t at = 0; at < perfetto->lanes.count; at++) {
		struct lane *lane = key_table_row(&perfetto->lanes, at);

		free(lane->spans.spans);
		free(lane->flows);
		free(lane->label);
	}
	for (size_t at = 0; at < perfetto->processes.count; at++)
		free(((struct process *)key_table_row(&perfetto->processes, at))
			     ->label);
	for (size_t at = 0; at < sizeof(tables) / sizeof(tables[0]); at++)
		key_table_free(tables[at]);
	for (size_t at = 0; at < sizeof(buffers) / sizeof(buffers[0]); at++)
		text_buffer_free(buffers[at]);
	free(perfetto->details);
	free(perfetto->values);
	free(perfetto->ends);
}

int export_perfetto(const char *file, const char *output, char *why)
{
	struct perfetto perfetto = {
		.lanes = {.row_bytes = sizeof(struct lane)},
		.processes = {.row_bytes = sizeof(struct process)},
	};
	const struct trace_sink sink = {on_event, export_no_entry, &perfetto};
	const size_t len = strlen(output);
	const bool is_gzip = len > 3 && !strcmp(output + len - 3, ".gz");
	struct trace_facts facts;
	int error = trace_read(file, &sink, &facts);

	if (error) {
		snprintf(why, EXPORT_WHY, "%s: %s", file, facts.error);
	} else {
		perfetto.out =
			export_open(output, is_gzip ? "wbe6" : "wbeT", why);
		error = perfetto.out ? 0 : -EIO;
	}
	if (!error) {
		send_all(&perfetto);
		error = export_close(perfetto.out, output, why);
	}
	if (!error && perfetto.unbound)
		fprintf(stderr,
			"traceprof export: %llu ends of arrows lie at no "
			"slice's begin and are left out\n",
			(unsigned long long)perfetto.unbound);
	forget(&perfetto);
	return error;
}
