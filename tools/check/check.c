/* SPDX-License-Identifier: MIT */
/*
 * check.c - `traceprof check FILE|FOLDER...`: hands each event to the rules,
 * then asks those that can judge only at the end.
 */
#include "tools/check/check.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "tools/trace/trace_folder.h"
#include "tools/util/command.h"
#include "tools/util/lane_spans.h"
#include "tools/util/numbers.h"
#include "tools/util/text_buffer.h"

#define GZIP_BYTES_MIN 4096u

struct check {
	struct fault_list faults;
	struct check_head head;
	struct key_table flows;
	struct trace_lanes lanes; /* their rows: struct lane_spans */
	struct key_table names;	  /* of slices */
	struct text_buffer scratch;
	uint64_t launches,
		kernels; /* calls that should make kernels, and these */
	uint64_t without_stack, with_stack; /* new blocks of the host */
	bool is_captured; /* a graph was: its launches run nothing */
	const char *lane; /* the text of the one that is walked */
};

static void count_gpu(struct check *check, const struct trace_event *event)
{
	const char *name = event->field[FIELD_NAME].text;
	int64_t result = 0;

	if (trace_value_is(&event->field[FIELD_CAT], "kernel"))
		check->kernels++;
	if (!event_is_launch(event))
		return;
	trace_event_integer(event, "result", &result);
	check->launches += !result && strstr(name, "LaunchKernel");
	check->is_captured |= strstr(name, "Capture") != NULL;
}

/* Of a file that is whole as far as it says itself.  check_head.c looks at what
 * the writer says of all windows; this is what lies in the file. */
static void check_kernels(struct check *check)
{
	const struct trace_metadata *metadata = &check->head.metadata;

	if (!check->faults.found[RULE_KERNELS] && metadata->is_cupti &&
	    !metadata->is_unfinished && !metadata->is_recovered &&
	    metadata->detail_ended_ns < 0 && metadata->gpu_missing <= 0 &&
	    !check->is_captured && check->launches && !check->kernels)
		fault_add(&check->faults, RULE_KERNELS, NULL,
			  "%" PRIu64 " kernel launches, but no kernel",
			  check->launches);
}

/* Of the launches that the writer counts, those that it doesn't call missing
 * have a kernel, as have graphs that are missing in part. */
static void check_launches(struct check *check)
{
	const struct trace_metadata *metadata = &check->head.metadata;
	const uint64_t drawn = check_flows_kernels(&check->flows);
	int64_t told;

	if (metadata->launched_kernels < 0 || metadata->missing_kernels < 0 ||
	    metadata->partial_graphs < 0 || metadata->is_unfinished ||
	    metadata->is_recovered || metadata->detail_ended_ns >= 0 ||
	    metadata->past_max > 0)
		return;
	told = saturate_add(saturate_subtract(metadata->launched_kernels,
					      metadata->missing_kernels),
			    metadata->partial_graphs);
	if (told != (int64_t)drawn)
		fault_add(&check->faults, RULE_ACCOUNT, NULL,
			  "%" PRId64 " launches with a kernel counted, but "
			  "%" PRIu64 " are in the file",
			  told, drawn);
}

static void count_block(struct check *check, const struct trace_event *event)
{
	int64_t bytes = 0, type = 0;

	if (!trace_value_is(&event->field[FIELD_NAME], "[memory]") ||
	    !trace_event_integer(event, "Bytes", &bytes) ||
	    !trace_event_integer(event, "Device Type", &type) || type)
		return;
	check_head_block(&check->head, bytes >= 0);
	if (bytes <= 0)
		return;
	if (trace_event_arg(event, "stack").type == TRACE_ABSENT)
		check->without_stack++;
	else
		check->with_stack++;
}

/* Either all blocks have one, or it is said why not. */
static void check_stacks(struct check *check)
{
	const struct trace_metadata *metadata = &check->head.metadata;
	const int64_t told =
		metadata->stacks_refused + metadata->stacks_untaken;

	if (check->with_stack && metadata->stacks_refused >= 0 &&
	    !metadata->is_recovered && (int64_t)check->without_stack > told)
		fault_add(&check->faults, RULE_ACCOUNT, NULL,
			  "%" PRIu64 " blocks without a call stack, but only "
			  "%" PRId64 " are accounted for",
			  check->without_stack, told);
}

static void on_event(void *arg, const struct trace_event *event)
{
	struct check *check = arg;
	const struct trace_value *ph = &event->field[FIELD_PH];
	const struct trace_value *name = &event->field[FIELD_NAME];
	uint32_t lane;

	if (event->is_share || !check_event(&check->faults, event))
		return;
	count_block(check, event);
	if (trace_event_is_slice(event)) {
		lane = trace_lanes_number(&check->lanes, event);
		lane_spans_add(key_table_row(&check->lanes.table, lane),
			       (struct lane_span){
				       event->ts_ns,
				       event->ts_ns + event->dur_ns,
				       key_table_number(&check->names,
							name->text, name->len),
				       (uint32_t)event->index, false});
		check_flows_slice(&check->flows, event, lane);
		count_gpu(check, event);
		check_head_slice(&check->head, event);
	} else if (trace_value_is(ph, "s") || trace_value_is(ph, "f")) {
		lane = trace_lanes_number(&check->lanes, event);
		check_flows_arrow(&check->flows, &check->faults, event, lane);
	}
}

static void on_entry(void *arg, const struct trace_entry *entry)
{
	struct check *check = arg;

	check_head_entry(&check->head, &check->faults, entry);
}

static void add_name(struct check *check, uint32_t number)
{
	size_t len;
	const char *name = key_table_key(&check->names, number, &len);

	text_buffer_add_printable(&check->scratch, name, len, 120);
}

/* Slices that only touch, and equal ones, do not cross. */
static bool on_span(void *arg, const struct lane_span *outer,
		    struct lane_span *span)
{
	struct check *check = arg;
	struct text_buffer *text = &check->scratch;

	if (!outer || outer->end_ns >= span->end_ns)
		return true;
	text_buffer_cut(text, 0);
	text_buffer_add(text, "begins inside \"", 15);
	add_name(check, outer->name);
	text_buffer_format(
		text, "\" and ends %" PRId64 " ns after it, on pid and tid %s",
		saturate_subtract(span->end_ns, outer->end_ns), check->lane);
	fault_add_at(&check->faults, RULE_NESTING, span->mark,
		     key_table_key(&check->names, span->name, NULL), "%s",
		     text->data);
	return false;
}

static void check_nesting(struct check *check)
{
	for (size_t at = 0; at < check->lanes.table.count; at++) {
		check->lane = key_table_key(&check->lanes.table, at, NULL);
		lane_spans_walk(key_table_row(&check->lanes.table, at), on_span,
				check);
	}
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

	const unsigned int members =
		facts->input.members - facts->input.empty_members;

	/* An empty one hides what is written: a kill may leave it behind. */
	if (members > 1)
		fault_add(faults, RULE_MEMBER, NULL,
			  "%u gzip members; some viewers read the first alone",
			  members);
	/* What is written meanwhile lies behind the end that was read. */
	if (facts->input.trailing_bytes && !facts->unfinished.is_so)
		fault_add(faults, RULE_MEMBER, NULL,
			  "%" PRIu64 " bytes after the end of the gzip member",
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
	fprintf(faults->out, "%s: %" PRIu64 " entr%s, ", faults->file,
		result->events, result->events == 1 ? "y" : "ies");
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

/* No fault of the file. */
static void say_unfinished(const char *path, const struct trace_facts *facts,
			   FILE *out)
{
	struct text_buffer text = trace_progress_text(&facts->unfinished, path);

	fprintf(out, "%s: %s\n", path, text.data);
	text_buffer_free(&text);
}

int check_trace(const char *path, FILE *out, struct check_result *result)
{
	struct check check = {
		.faults = {.file = path, .out = out},
		.lanes = {.table = {.row_bytes = sizeof(struct lane_spans)}},
	};
	const struct trace_sink sink = {on_event, on_entry, &check};
	struct trace_facts facts;
	int error;

	trace_metadata_begin(&check.head.metadata);
	error = trace_read_quietly(path, &sink, &facts);
	if (!error) {
		check_head_end(&check.head, &check.faults);
		check_flows_end(&check.flows, &check.faults);
		check_nesting(&check);
		check_kernels(&check);
		check_launches(&check);
		check_stacks(&check);
		check_file(&check, &facts);
	}
	fault_list_end(&check.faults);
	*result = (struct check_result){
		.readable = !error,
		.events = facts.events,
		.faults = fault_list_sum(&check.faults, false),
		.warnings = fault_list_sum(&check.faults, true),
	};
	if (!error && facts.unfinished.is_so)
		say_unfinished(path, &facts, out);
	if (error)
		fprintf(out, "%s: unreadable: %s\n", path, facts.error);
	else
		summarise(&check.faults, result);
	for (size_t at = 0; at < check.lanes.table.count; at++)
		lane_spans_free(key_table_row(&check.lanes.table, at));
	/* Of one that ended early. */
	key_table_free(&check.head.keys);
	key_table_free(&check.head.drawn);
	trace_sampled_free(&check.head.sampled);
	key_table_free(&check.flows);
	trace_lanes_free(&check.lanes);
	key_table_free(&check.names);
	text_buffer_free(&check.scratch);
	return error;
}

/* Where a folder is named: all traces in it. */
static int check_one(void *arg, const char *path)
{
	struct check_result result;
	int *code = arg;

	if (check_trace(path, stdout, &result) < 0)
		*code = EXIT_UNREADABLE;
	else if (result.faults && *code == EXIT_GOOD)
		*code = EXIT_FOUND;
	return 0;
}

static void check_path(const char *path, int *code)
{
	const int error = trace_folder_each(path, check_one, code);

	if (!error)
		return;
	printf("%s: unreadable: %s\n", path,
	       error == -ENOENT ? "no trace in it" : strerror(-error));
	*code = EXIT_UNREADABLE;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	if (key == 'r') {
		fault_list_rules(stdout);
		*(int *)state->input = -1;
		state->next = state->argc;
		return 0;
	}
	if (key == ARGP_KEY_NO_ARGS && *(int *)state->input == -1)
		return 0;
	return command_parse_files(key, text, state);
}

int check_command(int argc, char **argv)
{
	static const struct argp_option choices[] = {
		{"rules", 'r', NULL, 0, "list the rules and end", 0},
		{0},
	};
	static const struct argp argp = {
		.options = choices,
		.parser = parse,
		.args_doc = "FILE|FOLDER...",
		.doc = "Check traces, gzipped or plain, against the rules of "
		       "the format.\vOne line for each fault, with its place: "
		       "event N is element N of traceEvents, counted from 0.  "
		       "Ends with 0 when all is good, 1 when a fault was "
		       "found, 3 when a file cannot be read.",
	};
	int first = 0, code = EXIT_GOOD;

	if (command_parse(&argp, argc, argv, 0, &first))
		return EXIT_USAGE;
	if (first < 0)
		return EXIT_GOOD;
	if (!trace_reader_available())
		return command_needs_yajl("check");
	for (int at = first; at < argc; at++)
		check_path(argv[at], &code);
	return code;
}
