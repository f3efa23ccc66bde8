/* SPDX-License-Identifier: MIT */
/*
 * page_tasks.c - what the kernel counts of a thread's time, in its lane.
 *
 * A count says how long, not when: it is spread over its time.  What is
 * recorded of the thread meanwhile was on a core, too, as far as is known, so
 * the rest alone is filled.  Samples know when; where a lane has some they are
 * all of it.
 */
#include "tools/page/page.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/util/memory.h"
#include "tools/util/text_buffer.h"

#define TRACK	    "core time "
#define RAN	    "running %"
#define READY	    "ready, no core %"
#define ROUND_NS    100000000 /* of the first count, if no other tells */
#define BIN_MOMENTS (PAGE_SAMPLES / PAGE_BINS)

/* Moments of each bin. */
struct page_counts {
	int64_t ns, dur_ns; /* of the last count, and of the one before it */
	double ran, ready;  /* shares of its time */
	double ran_in[PAGE_BINS], ready_in[PAGE_BINS];
};

static double share(const struct trace_event *event, const char *key)
{
	const struct trace_value value = trace_event_arg(event, key);
	const double percent =
		value.type == TRACE_NUMBER ? strtod(value.text, NULL) : 0;

	return fmin(fmax(percent / 100, 0), 1);
}

/* The last count, which holds up to `end_ns`. */
static void spread(const struct page *page, struct page_counts *counts,
		   int64_t end_ns)
{
	const double bin_ns = (double)page->wall_ns / PAGE_BINS;
	const double from = (double)(counts->ns - page->start_ns) / bin_ns;
	const double to = (double)(end_ns - page->start_ns) / bin_ns;

	for (double bin = from < to ? floor(fmax(from, 0)) : PAGE_BINS;
	     bin < fmin(to, PAGE_BINS); bin++) {
		const double part =
			(fmin(to, bin + 1) - fmax(from, bin)) * BIN_MOMENTS;

		counts->ran_in[(size_t)bin] += counts->ran * part;
		counts->ready_in[(size_t)bin] += counts->ready * part;
	}
}

/* "12 crunch" is "crunch 12", so that it is found by its name. */
static void name_lane(struct page_lane *lane, const char *track)
{
	const char *name = strchr(track, ' ');
	struct text_buffer text = {0};

	if (lane->label || !name)
		return;
	text_buffer_add_printable(&text, name + 1, strlen(name + 1), 80);
	text_buffer_add(&text, " ", 1);
	text_buffer_add_printable(&text, track, (size_t)(name - track), 20);
	lane->label = text.data;
}

static void count(struct page *page, struct page_lane *lane,
		  const struct trace_event *event)
{
	struct page_counts *counts = lane->counts;

	if (!counts) {
		lane->counts = counts = memory_zeroed(1, sizeof(*counts));
		counts->dur_ns = ROUND_NS;
	} else {
		spread(page, counts, event->ts_ns);
		counts->dur_ns = event->ts_ns - counts->ns;
	}
	counts->ns = event->ts_ns;
	counts->ran = share(event, RAN);
	counts->ready = share(event, READY);
}

void page_tasks_event(struct page *page, const struct trace_event *event)
{
	const char *track = event->field[FIELD_NAME].text;
	struct page_lane *lane;
	int64_t pid, tid;

	if (strncmp(track, TRACK, sizeof(TRACK) - 1) != 0)
		return;
	track += sizeof(TRACK) - 1;
	if (!isdigit((unsigned char)*track) ||
	    !page_identify(event, &pid, &tid))
		return;
	lane = page_lane_at(page, pid, tid, false);
	if (!lane)
		return;
	name_lane(lane, track);
	count(page, lane, event);
}

static bool is_free(unsigned char class)
{
	return class == CLASS_NOTHING || class == CLASS_MARKED;
}

/* `wanted` of the bin's free moments, evenly. */
static void fill(struct page_lane *lane, size_t first, size_t wanted,
		 enum page_class class)
{
	size_t free_moments = 0, seen = 0;

	for (size_t at = first; at < first + BIN_MOMENTS; at++)
		free_moments += is_free(lane->classes[at]);
	if (wanted > free_moments)
		wanted = free_moments;
	for (size_t at = first; at < first + BIN_MOMENTS; at++) {
		if (!is_free(lane->classes[at]))
			continue;
		seen++;
		if (seen * wanted / free_moments ==
		    (seen - 1) * wanted / free_moments)
			continue;
		lane->used += lane->classes[at] == CLASS_NOTHING;
		lane->classes[at] = class;
	}
}

static void fill_lane(struct page_lane *lane)
{
	const struct page_counts *counts = lane->counts;

	if (!lane->classes)
		lane->classes = memory_zeroed(PAGE_SAMPLES, 1);
	if (memchr(lane->classes, CLASS_SAMPLED, PAGE_SAMPLES))
		return;
	for (size_t bin = 0; bin < PAGE_BINS; bin++) {
		const size_t first = bin * BIN_MOMENTS;
		const size_t ran = (size_t)lround(counts->ran_in[bin]);
		size_t known = 0;

		for (size_t at = first; at < first + BIN_MOMENTS; at++)
			known += !is_free(lane->classes[at]);
		fill(lane, first, ran > known ? ran - known : 0, CLASS_RUNNING);
		fill(lane, first, (size_t)lround(counts->ready_in[bin]),
		     CLASS_READY);
	}
}

void page_tasks_end(struct page *page)
{
	for (size_t at = 0; at < page->lanes.count; at++) {
		struct page_lane *lane = key_table_row(&page->lanes, at);
		struct page_counts *counts = lane->counts;

		if (!counts)
			continue;
		spread(page, counts, counts->ns + counts->dur_ns);
		fill_lane(lane);
		free(counts);
		lane->counts = NULL;
	}
}
