/* SPDX-License-Identifier: MIT */
/*
 * report_group.c - which row of which table a slice belongs to.
 */
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/report/report.h"

static const char *const words[BY_COUNT] = {
	[BY_NAME] = "name",	[BY_CATEGORY] = "category",
	[BY_STEP] = "step",	[BY_THREAD] = "thread",
	[BY_STREAM] = "stream", [BY_DEVICE] = "device",
	[BY_SHAPE] = "shape",	[BY_SITE] = "site",
};

const char *report_by_word(enum report_by by)
{
	return words[by];
}

bool report_is_work(const char *category)
{
	return !strcmp(category, "kernel") || !strcmp(category, "gpu_memcpy") ||
	       !strcmp(category, "gpu_memset");
}

/* "GPU 0 stream 7" */
static bool put_stream(struct text_buffer *text,
		       const struct trace_event *event, const char *category,
		       bool with_stream)
{
	int64_t device, stream = 0;

	if (!report_is_work(category) ||
	    (!trace_event_integer(event, "device", &device) &&
	     !trace_event_integer(event, "inDevice", &device)))
		return false;
	text_buffer_format(text, "GPU %" PRId64, device);
	if (with_stream && trace_event_integer(event, "stream", &stream))
		text_buffer_format(text, " stream %" PRId64, stream);
	return true;
}

static bool put_step(struct text_buffer *text, const struct report *report,
		     const struct trace_event *event)
{
	const long at = timeline_step_at(&report->ahead, event->ts_ns);
	const struct timeline_step *step;

	if (at < 0)
		return false;
	step = &report->ahead.steps[at];
	if (event->ts_ns >= step->start_ns + step->dur_ns)
		return false;
	text_buffer_format(text, "step %6" PRId64, step->number);
	return true;
}

static void put_name_and(struct text_buffer *text,
			 const struct trace_event *event, const char *between,
			 const char *more, size_t len)
{
	const struct trace_value *name = &event->field[FIELD_NAME];

	/* Whole: long names may differ at their ends alone. */
	text_buffer_add_printable(text, name->text, name->len, SIZE_MAX);
	text_buffer_format(text, "%s", between);
	text_buffer_add_printable(text, more, len, SIZE_MAX);
}

/* The name with what was given to it, where the trace tells. */
static bool put_arg(struct text_buffer *text, const struct trace_event *event,
		    const char *key)
{
	const struct trace_value value = trace_event_arg(event, key);

	if (value.len)
		put_name_and(text, event, " ", value.text, value.len);
	return value.len;
}

void report_note_site(struct report *report, const struct trace_event *event)
{
	const struct trace_value stack = trace_event_arg(event, "Call stack");
	struct text_buffer text = {0};
	char **first;
	int64_t number;

	if (!stack.len || !trace_event_integer(event, "stack", &number))
		return;
	report->sites.row_bytes = sizeof(*first);
	first = key_table_row(
		&report->sites,
		key_table_number(&report->sites, &number, sizeof(number)));
	if (*first)
		return;
	text_buffer_add_printable(&text, stack.text, strcspn(stack.text, ";"),
				  SIZE_MAX);
	*first = text.data;
}

void report_free_sites(struct report *report)
{
	for (size_t at = 0; at < report->sites.count; at++)
		free(*(char **)key_table_row(&report->sites, at));
	key_table_free(&report->sites);
}

/* Without a number of its own a stack stands at each event. */
static bool put_site(struct text_buffer *text, const struct report *report,
		     const struct trace_event *event)
{
	const struct trace_value stack = trace_event_arg(event, "Call stack");
	char *const *first;
	int64_t number;

	if (trace_event_integer(event, "stack", &number)) {
		first = key_table_find(&report->sites, &number, sizeof(number));
		if (!first)
			return false;
		put_name_and(text, event, " at ", *first, strlen(*first));
		return true;
	}
	if (stack.len)
		put_name_and(text, event, " at ", stack.text,
			     strcspn(stack.text, ";"));
	return stack.len;
}

static bool put_row(struct text_buffer *text, const struct report *report,
		    const struct trace_event *event, const char *category,
		    uint32_t lane)
{
	switch (report->choice.by) {
	case BY_CATEGORY:
		text_buffer_add_printable(text, category, strlen(category),
					  100);
		return true;
	case BY_STEP: return put_step(text, report, event);
	case BY_THREAD:
		if (report_is_work(category))
			return false;
		text_buffer_format(
			text, "pid, tid %s",
			key_table_key(&report->lanes.table, lane, NULL));
		return true;
	case BY_STREAM: return put_stream(text, event, category, true);
	case BY_DEVICE: return put_stream(text, event, category, false);
	case BY_SHAPE:
		return put_arg(text, event, "Input Dims") ||
		       put_arg(text, event, "grid");
	case BY_SITE: return put_site(text, report, event);
	case BY_NAME:
	case BY_COUNT: break;
	}
	return false;
}

/* The row of the tally, TIMELINE_NONE none. */
static uint32_t group(struct report *report, const struct trace_event *event,
		      const char *category, struct tally_call call)
{
	const struct report_choice *choice = &report->choice;
	const struct trace_value *name = &event->field[FIELD_NAME];
	struct text_buffer text = {0};
	uint32_t row = TIMELINE_NONE;

	if ((choice->category && fnmatch(choice->category, category, 0)) ||
	    (choice->filter && fnmatch(choice->filter, name->text, 0)))
		return row;
	if (choice->by == BY_NAME)
		return tally_add(&report->tally, category, name->text,
				 name->len, call);
	text_buffer_cut(&text, 0);
	if (put_row(&text, report, event, category, call.lane))
		row = tally_add(&report->tally, words[choice->by], text.data,
				text.len, call);
	text_buffer_free(&text);
	return row;
}

void report_group(struct report *report, const struct trace_event *event,
		  const char *category, struct tally_call call)
{
	const uint32_t row = group(report, event, category, call);

	/* What is in no row takes from what encloses it all the same. */
	if (report->choice.by != BY_NAME)
		report_own_add(report, event, category, call.lane, row);
}
