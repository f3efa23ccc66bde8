/* SPDX-License-Identifier: MIT */
/*
 * contract.c - hands each event to the rules, then asks those that could only
 * judge at the end.
 */
#include "tools/contract.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/event_contract.h"
#include "tools/flow_table.h"
#include "tools/head_contract.h"
#include "tools/memory.h"
#include "tools/name_table.h"
#include "tools/nesting.h"
#include "tools/text_buffer.h"
#include "tools/saturate.h"

#define GZIP_BYTES_MIN 4096u

struct contract {
	struct fault_list faults;
	struct head_contract head;
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
	struct contract *contract;
	struct crossing *found;
	size_t count;
};

static uint32_t lane_of(struct contract *contract,
			const struct trace_event *event)
{
	text_buffer_cut(&contract->lane, 0);
	text_buffer_add(&contract->lane, event->field[FIELD_PID].text,
			event->field[FIELD_PID].len);
	text_buffer_add(&contract->lane, " ", 1);
	text_buffer_add(&contract->lane, event->field[FIELD_TID].text,
			event->field[FIELD_TID].len);
	return name_table_number(&contract->lanes, contract->lane.data,
				 contract->lane.len);
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
	struct contract *contract = arg;
	const struct trace_value *ph = &event->field[FIELD_PH];

	if (!event_contract_check(&contract->faults, event))
		return;
	if (is_span(event)) {
		const uint32_t lane = lane_of(contract, event);

		nesting_add(&contract->nesting, lane, span_of(event));
		flow_table_slice(&contract->flows, event, lane);
	} else if (trace_value_is(ph, "s") || trace_value_is(ph, "f")) {
		flow_table_arrow(&contract->flows, &contract->faults, event,
				 lane_of(contract, event));
	}
}

static void on_entry(void *arg, const struct trace_entry *entry)
{
	struct contract *contract = arg;

	head_contract_entry(&contract->head, &contract->faults, entry);
}

static void on_crossing(void *arg, uint32_t lane, struct nesting_span outer,
			struct nesting_span span)
{
	struct crossings *crossings = arg;

	crossings->contract->faults.found[RULE_NESTING]++;
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
	lane = lane_of(crossings->contract, event);
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

static void print_crossing(const struct contract *contract,
			   const struct crossing *crossing)
{
	fprintf(contract->faults.out,
		"%s: event %" PRIu64 " (name \"%s\"): begins inside \"%s\" and "
		"ends %" PRId64 " ns behind it, on pid and tid %s [rule 15]\n",
		contract->faults.file, crossing->index,
		crossing->name.len ? crossing->name.data : "?",
		crossing->outer_name.len ? crossing->outer_name.data : "?",
		saturate_subtract(crossing->span.end_ns,
				  crossing->outer.end_ns),
		name_table_text(&contract->lanes, crossing->lane, NULL));
}

static void check_nesting(struct contract *contract)
{
	struct crossings crossings = {.contract = contract};
	const struct trace_sink again = {on_event_again, ignore_entry,
					 &crossings};
	struct trace_facts facts;

	crossings.found =
		memory_zeroed(FAULT_LINES_MAX, sizeof(*crossings.found));
	nesting_check(&contract->nesting, on_crossing, &crossings);
	if (crossings.count)
		trace_read(contract->faults.file, &again, &facts);
	for (size_t at = 0; at < crossings.count; at++) {
		print_crossing(contract, &crossings.found[at]);
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

static void check_file(struct contract *contract,
		       const struct trace_facts *facts)
{
	struct fault_list *faults = &contract->faults;

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
		      const struct contract_result *result)
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

int contract_check(const char *path, FILE *out, struct contract_result *result)
{
	struct contract contract = {.faults = {.file = path, .out = out}};
	const struct trace_sink sink = {on_event, on_entry, &contract};
	struct trace_facts facts;
	int error;

	head_contract_begin(&contract.head);
	error = trace_read(path, &sink, &facts);
	if (!error) {
		head_contract_end(&contract.head, &contract.faults);
		flow_table_end(&contract.flows, &contract.faults);
		check_nesting(&contract);
		check_file(&contract, &facts);
	}
	fault_list_end(&contract.faults);
	result->readable = !error;
	result->events = facts.events;
	result->faults = fault_list_faults(&contract.faults);
	result->warnings = fault_list_warnings(&contract.faults);
	if (error)
		fprintf(out, "%s: unreadable: %s\n", path, facts.error);
	else
		summarise(&contract.faults, result);
	name_table_free(&contract.head.keys);
	flow_table_free(&contract.flows);
	nesting_free(&contract.nesting);
	name_table_free(&contract.lanes);
	text_buffer_free(&contract.lane);
	return error;
}
