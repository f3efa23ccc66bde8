/* SPDX-License-Identifier: MIT */
/*
 * report_window.c - a part of the run alone, by steps or by time.
 *
 * A step's slice may come after what lies in it, so who asks for steps, or for
 * a table by step, has the file read twice.
 */
#include "tools/report/report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tools/util/numbers.h"

static void on_event(void *arg, const struct trace_event *event)
{
	struct report *report = arg;

	/* Steps, and when it all began. */
	if (!trace_event_is_slice(event))
		return;
	if (trace_value_is(&event->field[FIELD_CAT], "Trace")) {
		report->span_start_ns = event->ts_ns;
		report->whole_ns = event->dur_ns;
	}
	if (event->ts_ns < report->start_ns)
		report->start_ns = event->ts_ns;
	if (!strncmp(event->field[FIELD_NAME].text, "ProfilerStep#", 13))
		timeline_event(&report->ahead, event);
}

static void on_entry(void *arg, const struct trace_entry *entry)
{
	(void)arg;
	(void)entry;
}

static void take_steps(struct report *report)
{
	const struct report_choice *choice = &report->choice;
	int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;

	for (size_t at = 0; at < report->ahead.step_count; at++) {
		const struct timeline_step *step = &report->ahead.steps[at];

		if (step->number < choice->first_step ||
		    step->number > choice->last_step)
			continue;
		if (step->start_ns < first_ns)
			first_ns = step->start_ns;
		if (step->start_ns + step->dur_ns > last_ns)
			last_ns = step->start_ns + step->dur_ns;
	}
	report->after_ns = first_ns;
	report->before_ns = last_ns;
}

int report_window(struct report *report)
{
	const struct report_choice *choice = &report->choice;
	const struct trace_sink sink = {on_event, on_entry, report};
	int64_t start_ns;
	int error;

	report->after_ns = INT64_MIN;
	report->before_ns = INT64_MAX;
	if (!choice->has_steps && !choice->has_times && choice->by != BY_STEP)
		return 0;
	timeline_begin(&report->ahead);
	error = trace_read_quietly(report->file, &sink, &report->facts);
	if (error)
		return error;
	timeline_finish(&report->ahead);
	start_ns = report->span_start_ns ? report->span_start_ns
					 : report->start_ns;
	report->start_ns = INT64_MAX;
	report->timeline.began_ns = start_ns;
	if (choice->has_steps)
		take_steps(report);
	if (choice->has_times) {
		report->after_ns = saturate_add(start_ns, choice->from_ns);
		report->before_ns = saturate_add(start_ns, choice->to_ns);
	}
	if (report->after_ns < report->before_ns)
		return 0;
	snprintf(report->facts.error, sizeof(report->facts.error),
		 "nothing in it is in these %s",
		 choice->has_steps ? "steps" : "times");
	return -ERANGE;
}

bool report_is_inside(const struct report *report,
		      const struct trace_event *event)
{
	if (trace_value_is(&event->field[FIELD_PH], "M"))
		return true;
	/* The recording's span would be the wall again. */
	if (report->after_ns != INT64_MIN &&
	    trace_value_is(&event->field[FIELD_CAT], "Trace"))
		return false;
	return event->ts_ns >= report->after_ns &&
	       event->ts_ns < report->before_ns;
}

double report_part(const struct report *report)
{
	const int64_t began_ns = report->timeline.began_ns;
	int64_t from_ns = began_ns;
	int64_t to_ns = saturate_add(began_ns, report->whole_ns);

	if (report->whole_ns <= 0)
		return 1;
	if (report->after_ns > from_ns)
		from_ns = report->after_ns;
	if (report->before_ns < to_ns)
		to_ns = report->before_ns;
	return from_ns < to_ns
		       ? (double)(to_ns - from_ns) / (double)report->whole_ns
		       : 1;
}
