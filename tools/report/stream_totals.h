/* SPDX-License-Identifier: MIT */
/*
 * stream_totals.h - what each stream of each GPU did.
 */
#ifndef TOOLS_STREAM_TOTALS_H
#define TOOLS_STREAM_TOTALS_H

#include "tools/report/busy_time.h"
#include "tools/trace/trace_reader.h"

/* More streams than any program uses; what comes for others is left out. */
#define STREAMS_MAX 1024u

enum stream_work { STREAM_KERNEL, STREAM_COPY, STREAM_FILL, STREAM_WORKS };

struct stream_total {
	unsigned int device;
	int64_t stream;
	uint64_t calls[STREAM_WORKS];
	int64_t sum_ns[STREAM_WORKS];
	uint64_t bytes; /* copied and filled */
	struct busy_time busy;
};

struct stream_totals {
	struct stream_total *rows;
	size_t count, capacity;
	size_t last; /* the row that was met last */
};

/* Adds a piece of a GPU's work. */
void stream_totals_add(struct stream_totals *totals, unsigned int device,
		       enum stream_work work, const struct trace_event *event);

/* Sorts the rows by device and stream; no more may be added then. */
void stream_totals_sort(struct stream_totals *totals);

void stream_totals_free(struct stream_totals *totals);

#endif
