/* SPDX-License-Identifier: MIT */
/*
 * report_buckets.h - what DistributedDataParallel sends: how many buckets of
 * gradients it all-reduces a step, and how large they are.
 *
 * A bucket is a `c10d::allreduce_` within the node that adds up a gradient.
 * Its size stands in the record_param_comms inside; else its elements in its
 * dimensions, and their type at the range of the group that sent them.
 */
#ifndef TOOLS_REPORT_BUCKETS_H
#define TOOLS_REPORT_BUCKETS_H

#include "tools/model/run_timeline.h"

struct report_buckets {
	struct bucket *list;
	size_t count, capacity;
	struct key_table types; /* of so many elements, bytes; -1 several */
	bool has_model;		/* a forward pass of such a model was seen */
};

/* A slice.  Its lane is one of the timeline's. */
void report_buckets_slice(struct report_buckets *buckets,
			  struct timeline *timeline,
			  const struct trace_event *event);

/* A sentence, when the timeline is finished; NULL there is nothing to say. */
char *report_buckets_text(struct report_buckets *buckets,
			  struct timeline *timeline);
void report_buckets_free(struct report_buckets *buckets);

#endif
