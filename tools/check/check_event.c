/* SPDX-License-Identifier: MIT */
/*
 * check_event.c - the rules that one event can break by itself.
 */
#include "tools/check/check.h"

#include <string.h>
#include <strings.h>

#include "tools/util/numbers.h"

#define LAST_GPU_PID 15

/* words: categories, each with a blank after it. */
static bool cat_in(const struct trace_event *event, const char *words)
{
	const struct trace_value *cat = &event->field[FIELD_CAT];

	for (; cat->len && *words; words += strcspn(words, " ") + 1)
		if (strcspn(words, " ") == cat->len &&
		    !memcmp(words, cat->text, cat->len))
			return true;
	return false;
}

bool event_is_host(const struct trace_event *event)
{
	return cat_in(event, "cpu_op openmp user_annotation cuda_runtime "
			     "cuda_driver python_function cpu_instant_event ");
}

bool event_is_launch(const struct trace_event *event)
{
	return cat_in(event, "cuda_runtime cuda_driver ");
}

bool event_is_gpu(const struct trace_event *event)
{
	return cat_in(event,
		      "kernel gpu_memcpy gpu_memset cuda_sync cuda_event ");
}

void check_flaws(struct fault_list *faults, const struct trace_event *event,
		 unsigned int flaws, const char *where)
{
	static const struct {
		unsigned int flaw;
		enum check_rule rule;
		const char *text;
	} known[] = {
		{TEXT_FLAW_CONTROL, RULE_STRING,
		 "a raw control character in a string"},
		{TEXT_FLAW_UTF8, RULE_STRING, "a string is not UTF-8"},
		{TEXT_FLAW_SURROGATE, RULE_STRING,
		 "a surrogate escape (\\uD8..) in a string at the top"},
		{TEXT_FLAW_LONE, RULE_STRING, "half a surrogate pair"},
		{TRACE_FLAW_NOT_OBJECT, RULE_EVENT, "is not an object"},
		{TRACE_FLAW_TWICE, RULE_OBJECT, "has a key twice"},
	};

	for (size_t at = 0; at < sizeof(known) / sizeof(known[0]); at++)
		if (flaws & known[at].flaw)
			fault_add(faults, known[at].rule, event, "%s%s", where,
				  known[at].text);
}

static void check_time(struct fault_list *faults,
		       const struct trace_event *event, const char *field,
		       enum trace_time state, int64_t ns)
{
	if (state == TIME_BAD)
		fault_add(faults, RULE_TIME, event, "%s is not a time", field);
	if (state == TIME_FINE)
		fault_add(faults, RULE_TIME, event,
			  "%s has more than three decimals", field);
	if (ns < 0)
		fault_add(faults, RULE_TIME, event, "%s is negative", field);
}

static void check_slice(struct fault_list *faults,
			const struct trace_event *event)
{
	static const struct {
		enum trace_field field;
		const char *name;
	} needed[] = {{FIELD_CAT, "cat"},
		      {FIELD_TS, "ts"},
		      {FIELD_DUR, "dur"},
		      {FIELD_PID, "pid"},
		      {FIELD_TID, "tid"}};

	for (size_t at = 0; at < sizeof(needed) / sizeof(needed[0]); at++)
		if (event->field[needed[at].field].type == TRACE_ABSENT)
			fault_add(faults, RULE_SLICE, event,
				  "a slice without %s", needed[at].name);
	if (trace_event_arg(event, "stream").type != TRACE_ABSENT &&
	    !event_is_gpu(event))
		fault_add(faults, RULE_STREAM, event,
			  "args.stream on something that is not on the GPU");
}

static void check_metadata(struct fault_list *faults,
			   const struct trace_event *event)
{
	static const struct {
		const char *name, *arg;
	} known[] = {{"process_name", "name"},
		     {"process_labels", "labels"},
		     {"process_sort_index", "sort_index"},
		     {"thread_name", "name"},
		     {"thread_sort_index", "sort_index"}};

	for (size_t at = 0; at < sizeof(known) / sizeof(known[0]); at++) {
		if (!trace_value_is(&event->field[FIELD_NAME], known[at].name))
			continue;
		if (trace_event_arg(event, known[at].arg).type == TRACE_ABSENT)
			fault_add(faults, RULE_METADATA, event,
				  "its args lack \"%s\"", known[at].arg);
		return;
	}
	fault_add(faults, RULE_METADATA, event,
		  "an M event of this name stops some readers");
}

static void check_args(struct fault_list *faults,
		       const struct trace_event *event)
{
	static const char *const lost[] = {"nan",  "inf",  "infinity",
					   "-nan", "-inf", "-infinity"};
	const enum trace_type type = event->field[FIELD_ARGS].type;

	if (type != TRACE_ABSENT && type != TRACE_OBJECT)
		fault_add(faults, RULE_ARGS, event, "args is not an object");
	for (size_t at = 0; at < event->pair_count; at++)
		for (size_t word = 0; word < sizeof(lost) / sizeof(lost[0]);
		     word++)
			if (event->pairs[at].value.type == TRACE_STRING &&
			    !strcasecmp(event->pairs[at].value.text,
					lost[word]))
				fault_add(faults, RULE_NUMBER, event,
					  "args: a number written as \"%s\"",
					  lost[word]);
}

static void check_step(struct fault_list *faults,
		       const struct trace_event *event)
{
	const char *name = event->field[FIELD_NAME].text;
	int64_t step;

	if (strncmp(name, "ProfilerStep", 12))
		return;
	if (name[12] != '#' || name[13] == '-' ||
	    decimal_to_integer(name + 13, strlen(name + 13), &step))
		fault_add(faults, RULE_STEP, event,
			  "is not ProfilerStep#<number>");
}

static void check_number(struct fault_list *faults,
			 const struct trace_event *event,
			 enum trace_field field, const char *name)
{
	const struct trace_value *value = &event->field[field];
	int64_t number;

	if (value->type != TRACE_NUMBER)
		return;
	if (decimal_to_integer(value->text, value->len, &number) ||
	    number < 0 || number > UINT32_MAX)
		fault_add(faults, RULE_LANE, event,
			  "%s %s is shown as another by some viewers", name,
			  value->text);
}

static void check_lane(struct fault_list *faults,
		       const struct trace_event *event)
{
	const struct trace_value *pid = &event->field[FIELD_PID];
	int64_t number, device;

	check_number(faults, event, FIELD_PID, "pid");
	check_number(faults, event, FIELD_TID, "tid");
	if (pid->type != TRACE_NUMBER ||
	    decimal_to_integer(pid->text, pid->len, &number))
		return;
	if (event_is_host(event) && number >= 0 && number <= LAST_GPU_PID)
		fault_add(faults, RULE_PID, event,
			  "pid %lld is a GPU's in every viewer",
			  (long long)number);
	if (event_is_gpu(event) &&
	    trace_event_integer(event, "device", &device) && device != number)
		fault_add(faults, RULE_DEVICE, event,
			  "pid %lld, but device %lld", (long long)number,
			  (long long)device);
}

static void check_phase(struct fault_list *faults,
			const struct trace_event *event)
{
	const struct trace_value *ph = &event->field[FIELD_PH];
	const struct trace_value *scope = &event->field[FIELD_SCOPE];

	if (ph->type != TRACE_STRING)
		return;
	if (ph->len != 1 || !strchr("XiCMsf", ph->text[0]))
		fault_add(faults, RULE_PHASE, event,
			  "ph %.10s is not used in these files", ph->text);
	if (ph->text[0] == 'i' && scope->type != TRACE_ABSENT &&
	    !trace_value_is(scope, "g") && !trace_value_is(scope, "p") &&
	    !trace_value_is(scope, "t"))
		fault_add(faults, RULE_INSTANT, event,
			  "s is neither g, p nor t");
	if ((ph->text[0] == 's' || ph->text[0] == 'f') &&
	    (event->field[FIELD_PID].type == TRACE_ABSENT ||
	     event->field[FIELD_TID].type == TRACE_ABSENT))
		fault_add(faults, RULE_FLOW_END, event,
			  "a flow without pid or tid");
}

bool check_event(struct fault_list *faults, const struct trace_event *event)
{
	const bool is_slice = trace_value_is(&event->field[FIELD_PH], "X");
	const bool is_metadata = trace_value_is(&event->field[FIELD_PH], "M");

	check_flaws(faults, event, event->flaws, "");
	if (event->flaws & TRACE_FLAW_NOT_OBJECT)
		return false;
	if (event->field[FIELD_PH].type != TRACE_STRING)
		fault_add(faults, RULE_EVENT, event, "an event without ph");
	if (event->field[FIELD_NAME].type != TRACE_STRING)
		fault_add(faults, RULE_EVENT, event, "an event without name");
	if (event->index == 0 && !is_metadata)
		fault_add(faults, RULE_FIRST, event,
			  "the first event is not an M event");
	check_phase(faults, event);
	check_args(faults, event);
	check_lane(faults, event);
	check_time(faults, event, "ts", event->ts_state, event->ts_ns);
	check_time(faults, event, "dur", event->dur_state, event->dur_ns);
	if (is_slice)
		check_slice(faults, event);
	else if (is_metadata)
		check_metadata(faults, event);
	else if (event->ts_state == TIME_ABSENT)
		fault_add(faults, RULE_TIME, event, "an event without ts");
	check_step(faults, event);
	return event->ts_state == TIME_GOOD || event->ts_state == TIME_FINE;
}
