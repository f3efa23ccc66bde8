/* SPDX-License-Identifier: MIT */
/*
 * check.c - hands each event to the rules, then asks those that could only
 * judge at the end.
 */
#include "tools/check/check.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/check/event_check.h"
#include "tools/check/flow_table.h"
#include "tools/check/head_check.h"
#include "tools/util/memory.h"
#include "tools/util/name_table.h"
#include "tools/check/nesting.h"
#include "tools/util/text_buffer.h"
#include "tools/util/saturate.h"

#define GZIP_BYTES_MIN 4096u

struct check {
	struct fault_list faults;
	struct head_check head;
	struct flow_table flows;
	struct nesting nesting;
	struct name_table lanes; /* "pid tid" */
	struct text_buffer lane;
};

/* A crossing pair and, once the file was read again, who they are. */
struct crossing {
	uint32_t lane;
	struct nesting_span outer, span;
	uint64_t index;
	bool found;
	struct text_buffer outer_name, name;
};

struct crossings {
	struct check *check;
	struct crossing *found;
	size_t count;
};

static uint32_t lane_of(struct check *check, const struct trace_event *event)
{
	text_buffer_cut(&check->lane, 0);
	text_buffer_add(&check->lane, event->field[FIELD_PID].text,
			event->field[FIELD_PID].len);
	text_buffer_add(&check->lane, " ", 1);
	text_buffer_add(&check->lane, event->field[FIELD_TID].text,
			event->field[FIELD_TID].len);
	return name_table_number(&check->lanes, check->lane.data,
				 check->lane.len);
}

static bool is_span(const struct trace_event *event)
{
	return trace_value_is(&event->field[FIELD_PH], "X") &&
	       event->dur_ns >= 0 && event->ts_ns <= INT64_MAX - event->dur_ns;
}

static struct nesting_span span_of(const struct trace_event *event)
{
	return (struct nesting_span){event->ts_ns,
				     event->ts_ns + event->dur_ns};
}

static void on_event(void *arg, const struct trace_event *event)
{
	struct check *check = arg;
	const struct trace_value *ph = &event->field[FIELD_PH];

	if (!event_check(&check->faults, event))
		return;
	if (is_span(event)) {
		const uint32_t lane = lane_of(check, event);

		nesting_add(&check->nesting, lane, span_of(event));
		flow_table_slice(&check->flows, event, lane);
	} else if (trace_value_is(ph, "s") || trace_value_is(ph, "f")) {
		flow_table_arrow(&check->flows, &check->faults, event,
				 lane_of(check, event));
	}
}

static void on_entry(void *arg, const struct trace_entry *entry)
{
	struct check *check = arg;

	head_check_entry(&check->head, &check->faults, entry);
}

static void on_crossing(void *arg, uint32_t lane, struct nesting_span outer,
			struct nesting_span span)
{
	struct crossings *crossings = arg;

	crossings->check->faults.found[RULE_NESTING]++;
	if (crossings->count == FAULT_LINES_MAX)
		return;
	crossings->found[crossings->count++] =
		(struct crossing){.lane = lane, .outer = outer, .span = span};
}

static bool same(struct nesting_span a, struct nesting_span b)
{
	return a.start_ns == b.start_ns && a.end_ns == b.end_ns;
}

/* Second reading: gives the crossing slices their names and places. */
static void on_event_again(void *arg, const struct trace_event *event)
{
	struct crossings *crossings = arg;
	const struct trace_value *name = &event->field[FIELD_NAME];
	struct nesting_span span;
	uint32_t lane;

	if (!is_span(event))
		return;
	lane = lane_of(crossings->check, event);
	span = span_of(event);
	for (size_t at = 0; at < crossings->count; at++) {
		struct crossing *crossing = &crossings->found[at];

		if (crossing->lane != lane)
			continue;
		if (same(crossing->span, span) && !crossing->found) {
			crossing->found = true;
			crossing->index = event->index;
			text_buffer_add_printable(&crossing->name, name->text,
						  name->len, 120);
		} else if (same(crossing->outer, span) &&
			   !crossing->outer_name.len) {
			text_buffer_add_printable(&crossing->outer_name,
						  name->text, name->len, 120);
		}
	}
}

static void ignore_entry(void *arg, const struct trace_entry *entry)
{
	(void)arg;
	(void)entry;
}

static void print_crossing(const struct check *check,
			   const struct crossing *crossing)
{
	fprintf(check->faults.out,
		"%s: event %" PRIu64 " (name \"%s\"): begins inside \"%s\" and "
		"ends %" PRId64 " ns behind it, on pid and tid %s [rule 15]\n",
		check->faults.file, crossing->index,
		crossing->name.len ? crossing->name.data : "?",
		crossing->outer_name.len ? crossing->outer_name.data : "?",
		saturate_subtract(crossing->span.end_ns,
				  crossing->outer.end_ns),
		name_table_text(&check->lanes, crossing->lane, NULL));
}

static void check_nesting(struct check *check)
{
	struct crossings crossings = {.check = check};
	const struct trace_sink again = {on_event_again, ignore_entry,
					 &crossings};
	struct trace_facts facts;

	crossings.found =
		memory_zeroed(FAULT_LINES_MAX, sizeof(*crossings.found));
	nesting_check(&check->nesting, on_crossing, &crossings);
	if (crossings.count)
		trace_read(check->faults.file, &again, &facts);
	for (size_t at = 0; at < crossings.count; at++) {
		print_crossing(check, &crossings.found[at]);
		text_buffer_free(&crossings.found[at].name);
		text_buffer_free(&crossings.found[at].outer_name);
	}
	free(crossings.found);
}

/* <worker>.<digits>.pt.trace.json, or that and .gz. */
static bool good_file_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	const char *at = strstr(name, ".pt.trace.json");
	const char *digits = at;

	if (!at ||
	    (strcmp(at, ".pt.trace.json") && strcmp(at, ".pt.trace.json.gz")))
		return false;
	while (digits > name && isdigit((unsigned char)digits[-1]))
		digits--;
	return digits < at && digits > name + 1 && digits[-1] == '.';
}

static void check_file(struct check *check, const struct trace_facts *facts)
{
	struct fault_list *faults = &check->faults;

	if (facts->input.members > 1)
		fault_add(faults, RULE_MEMBER, NULL,
			  "%u gzip members; some viewers read the first alone",
			  facts->input.members);
	if (facts->input.trailing_bytes)
		fault_add(faults, RULE_MEMBER, NULL,
			  "%" PRIu64 " bytes behind the end of the gzip member",
			  facts->input.trailing_bytes);
	if (facts->input.compressed && facts->input.file_bytes < GZIP_BYTES_MIN)
		fault_add(faults, RULE_SIZE, NULL,
			  "%" PRIu64
			  " bytes; some viewers never load less than "
			  "4096",
			  facts->input.file_bytes);
	if (!facts->events)
		fault_add(faults, RULE_EVENT, NULL, "traceEvents is empty");
	if (!good_file_name(faults->file))
		fault_add(faults, RULE_FILE, NULL,
			  "not called <worker>.<digits>.pt.trace.json.gz");
}

static void summarise(const struct fault_list *faults,
		      const struct check_result *result)
{
	fprintf(faults->out, "%s: %" PRIu64 " events, ", faults->file,
		result->events);
	if (result->faults)
		fprintf(faults->out, "%" PRIu64 " fault%s", result->faults,
			result->faults == 1 ? "" : "s");
	else
		fputs("good", faults->out);
	if (result->warnings)
		fprintf(faults->out, ", %" PRIu64 " warning%s",
			result->warnings, result->warnings == 1 ? "" : "s");
	fputc('\n', faults->out);
}

int check_trace(const char *path, FILE *out, struct check_result *result)
{
	struct check check = {.faults = {.file = path, .out = out}};
	const struct trace_sink sink = {on_event, on_entry, &check};
	struct trace_facts facts;
	int error;

	head_check_begin(&check.head);
	error = trace_read(path, &sink, &facts);
	if (!error) {
		head_check_end(&check.head, &check.faults);
		flow_table_end(&check.flows, &check.faults);
		check_nesting(&check);
		check_file(&check, &facts);
	}
	fault_list_end(&check.faults);
	result->readable = !error;
	result->events = facts.events;
	result->faults = fault_list_faults(&check.faults);
	result->warnings = fault_list_warnings(&check.faults);
	if (error)
		fprintf(out, "%s: unreadable: %s\n", path, facts.error);
	else
		summarise(&check.faults, result);
	name_table_free(&check.head.keys);
	flow_table_free(&check.flows);
	nesting_free(&check.nesting);
	name_table_free(&check.lanes);
	text_buffer_free(&check.lane);
	return error;
}
