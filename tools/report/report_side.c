/* SPDX-License-Identifier: MIT */
/*
 * report_side.c - what single slices say that the sums of their names don't:
 * calls that failed, both ends of copies, page faults, throttling.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/util/numbers.h"
#include "tools/report/report.h"

/* A query that finds work under way says so by an error. */
#define NOT_READY 600

static void add(struct report *report, const char *category, uint32_t lane,
		const struct trace_event *event, const struct text_buffer *name)
{
	int64_t bytes = 0;

	trace_event_integer(event, "bytes", &bytes);
	tally_add(&report->side, category, name->data, strlen(name->data),
		  (struct tally_call){lane, event->ts_ns, event->dur_ns,
				      bytes > 0 ? bytes : 0});
}

static void on_call(struct report *report, const struct trace_event *event,
		    uint32_t lane)
{
	const struct trace_value error = trace_event_arg(event, "error");
	const struct trace_value *name = &event->field[FIELD_NAME];
	struct text_buffer text = {0};
	int64_t result;

	if (error.type != TRACE_STRING ||
	    !trace_event_integer(event, "result", &result) ||
	    result == NOT_READY)
		return;
	text_buffer_add_printable(&text, name->text, name->len, 100);
	text_buffer_add_printable(&text, ": ", 2, 2);
	text_buffer_add_printable(&text, error.text, error.len, 100);
	add(report, REPORT_FAILED, lane, event, &text);
	text_buffer_free(&text);
}

static void on_copy(struct report *report, const struct trace_event *event,
		    uint32_t lane)
{
	struct text_buffer text = {0};
	int64_t from, to;
	char ends[64];

	if (!trace_event_integer(event, "fromDevice", &from) ||
	    !trace_event_integer(event, "toDevice", &to) || from == to)
		return;
	snprintf(ends, sizeof(ends), "GPU %" PRId64 " to GPU %" PRId64, from,
		 to);
	text_buffer_add_printable(&text, ends, strlen(ends), sizeof(ends));
	add(report, REPORT_PEERS, lane, event, &text);
	text_buffer_free(&text);
}

static void on_managed(struct report *report, const struct trace_event *event)
{
	struct report_managed *managed = &report->managed;
	const char *name = event->field[FIELD_NAME].text;
	int64_t count;

	if (trace_event_integer(event, "page faults", &count))
		saturate_into(&managed->gpu_faults, count);
	else if (strstr(name, "CPU page fault"))
		managed->host_faults++;
	else if (!trace_event_integer(event, "bytes", &count))
		return;
	else if (strstr(name, "HtoD"))
		saturate_into(&managed->to_gpu_bytes, count);
	else if (strstr(name, "DtoH"))
		saturate_into(&managed->to_host_bytes, count);
}

static void on_throttling(struct report *report,
			  const struct trace_event *event)
{
	const char *name = event->field[FIELD_NAME].text;
	struct report_device *device;
	int64_t number;

	if (!trace_event_integer(event, "device", &number) || number < 0 ||
	    number >= REPORT_DEVICES_MAX)
		return;
	device = &report->devices[number];
	saturate_into(&device->throttled_ns, event->dur_ns);
	if (!strncmp(name, "throttled: ", 11))
		snprintf(device->throttling, sizeof(device->throttling), "%s",
			 name + 11);
}

void report_side_slice(struct report *report, const struct trace_event *event,
		       uint32_t lane)
{
	const struct trace_value *category = &event->field[FIELD_CAT];

	if (trace_value_is(category, "cuda_runtime") ||
	    trace_value_is(category, "cuda_driver"))
		on_call(report, event, lane);
	else if (trace_value_is(category, "gpu_memcpy"))
		on_copy(report, event, lane);
	else if (trace_value_is(category, "unified_memory"))
		on_managed(report, event);
	else if (trace_value_is(category, "gpu_throttle"))
		on_throttling(report, event);
}

/* "3 calls of CUDA failed, most of them ...", NULL none; free() it. */
char *report_side_failures(const struct report *report)
{
	size_t count;
	struct total *rows =
		tally_list(&report->side, REPORT_FAILED, ORDER_CALLS, &count);
	int64_t calls = 0;
	char *line = NULL;

	for (size_t at = 0; at < count; at++)
		saturate_into(&calls, rows[at].calls);
	if (calls &&
	    asprintf(&line, "%" PRId64 " call%s of CUDA failed%s %s.", calls,
		     calls == 1 ? "" : "s", count > 1 ? ", most often" : ":",
		     rows[0].name) < 0)
		line = NULL;
	free(rows);
	return line;
}
