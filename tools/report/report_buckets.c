/* SPDX-License-Identifier: MIT */
/* report_buckets.c - see report_buckets.h. */
#include "tools/report/report_buckets.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/util/memory.h"
#include "tools/util/numbers.h"

/* The node that adds up a gradient. */
#define NODE                                                                   \
	"autograd::engine::evaluate_function: "                                \
	"torch::autograd::AccumulateGrad"
#define SPANS_MAX 4096u /* looked at for the node around a bucket */

/* An all-reduce, or the message that it made. */
struct bucket {
	int64_t start_ns, end_ns;
	int64_t elements, bytes; /* of it; -1 not known */
	uint32_t lane;
	bool is_message;
};

/* Of the types as c10 names them, and as operators do. */
static int64_t bytes_of(struct trace_value type)
{
	static const struct {
		const char *name;
		int bytes;
	} types[] = {
		{"Float", 4},	 {"float", 4},	       {"Double", 8},
		{"double", 8},	 {"Half", 2},	       {"c10::Half", 2},
		{"BFloat16", 2}, {"c10::BFloat16", 2},
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (trace_value_is(&type, types[i].name))
			return types[i].bytes;
	return -1;
}

static int64_t product(int64_t elements, int64_t bytes)
{
	int64_t all;

	return bytes < 0 || __builtin_mul_overflow(elements, bytes, &all) ? -1
									  : all;
}

/* The elements of the first tensor, alone in its list where it is in one: one
 * dimension, as buckets have; -1 it is something else. */
static int64_t elements_of(const struct trace_event *event)
{
	const char *text = trace_event_arg(event, "Input Dims").text;
	char *end;
	long long count;

	if (strncmp(text, "[[", 2) != 0)
		return -1;
	text += text[2] == '[' ? 3 : 2;
	count = strtoll(text, &end, 10);
	return end != text && *end == ']' && count > 0 ? count : -1;
}

static void add(struct report_buckets *buckets, const struct trace_event *event,
		struct bucket bucket)
{
	bucket.start_ns = event->ts_ns;
	bucket.end_ns = saturate_add(event->ts_ns, event->dur_ns);
	buckets->list = memory_grow(buckets->list, buckets->count,
				    &buckets->capacity, sizeof(bucket));
	buckets->list[buckets->count++] = bucket;
}

static void on_message(struct report_buckets *buckets, uint32_t lane,
		       const struct trace_event *event)
{
	const struct trace_value type = trace_event_arg(event, "dtype");
	struct bucket message = {.lane = lane, .is_message = true};

	if (!trace_event_integer(event, "In msg nelems", &message.elements) ||
	    message.elements <= 0)
		return;
	message.bytes = product(message.elements, bytes_of(type));
	add(buckets, event, message);
}

/* The type of a bucket of so many elements, by the range of its group. */
static void on_range(struct report_buckets *buckets,
		     const struct trace_event *event)
{
	const struct trace_value types = trace_event_arg(event, "Input type");
	const char *quote = strchr(types.text, '"');
	const int64_t elements = elements_of(event);
	struct trace_value type = {.type = TRACE_STRING};
	int64_t *bytes, own;

	if (elements < 0 || !quote)
		return;
	type.text = quote + 1;
	type.len = strcspn(type.text, "\"");
	own = bytes_of(type);
	buckets->types.row_bytes = sizeof(*bytes);
	bytes = key_table_row(
		&buckets->types,
		key_table_number(&buckets->types, &elements, sizeof(elements)));
	*bytes = !*bytes || *bytes == own ? own : -1;
}

void report_buckets_slice(struct report_buckets *buckets,
			  struct timeline *timeline,
			  const struct trace_event *event)
{
	const struct trace_value *name = &event->field[FIELD_NAME];

	if (trace_value_is(name, "DistributedDataParallel.forward"))
		buckets->has_model = true;
	else if (trace_value_is(name, "c10d::allreduce_"))
		add(buckets, event,
		    (struct bucket){
			    .lane = trace_lanes_number(&timeline->lanes, event),
			    .elements = elements_of(event),
			    .bytes = -1});
	else if (trace_value_is(name, "record_param_comms"))
		on_message(buckets, trace_lanes_number(&timeline->lanes, event),
			   event);
	else if (trace_value_is(name, "gloo:all_reduce") ||
		 trace_value_is(name, "nccl:all_reduce"))
		on_range(buckets, event);
}

/* Does it lie in a node that adds up a gradient? */
static bool is_of_gradients(const struct timeline *timeline,
			    const struct bucket *bucket)
{
	const struct timeline_lane *lane =
		timeline_lane(timeline, bucket->lane);
	size_t low = 0;
	size_t high = lane->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (lane->spans[middle].start_ns <= bucket->start_ns)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t looked = 0; low-- && looked < SPANS_MAX; looked++) {
		const struct span *span = &lane->spans[low];
		const int64_t ns =
			timeline_dur_ns(timeline, bucket->lane, span);

		if (span->start_ns + ns >= bucket->end_ns &&
		    !strcmp(timeline_name_text(timeline, span->name), NODE))
			return true;
	}
	return false;
}

static int by_time(const void *a, const void *b)
{
	const struct bucket *one = a, *other = b;

	if (one->lane != other->lane)
		return one->lane < other->lane ? -1 : 1;
	if (one->start_ns != other->start_ns)
		return one->start_ns < other->start_ns ? -1 : 1;
	return one->is_message - other->is_message;
}

/* Messages go to the all-reduce that they lie in; others are dropped. */
static void join(struct report_buckets *buckets)
{
	struct bucket *last = NULL;
	size_t kept = 0;

	for (size_t at = 0; at < buckets->count; at++) {
		const struct bucket *next = &buckets->list[at];

		if (next->is_message) {
			if (last && last->lane == next->lane &&
			    next->end_ns <= last->end_ns) {
				last->elements = next->elements;
				last->bytes = next->bytes;
			}
			continue;
		}
		last = &buckets->list[kept];
		buckets->list[kept++] = *next;
	}
	buckets->count = kept;
}

/* What one step sent. */
struct sent {
	int64_t count, bytes, least, most; /* bytes -1: not all are known */
};

static void add_bucket(struct sent *sent, int64_t bytes)
{
	if (bytes < 0 || sent->bytes < 0)
		sent->bytes = -1;
	else
		saturate_into(&sent->bytes, bytes);
	if (!sent->count || bytes < sent->least)
		sent->least = bytes;
	if (!sent->count || bytes > sent->most)
		sent->most = bytes;
	sent->count++;
}

static int64_t bytes_sent(const struct report_buckets *buckets,
			  const struct bucket *bucket)
{
	const int64_t *type = key_table_find(&buckets->types, &bucket->elements,
					     sizeof(bucket->elements));

	if (bucket->bytes >= 0 || bucket->elements < 0)
		return bucket->bytes;
	return type ? product(bucket->elements, *type) : -1;
}

static int by_count(const void *a, const void *b)
{
	const struct sent *one = a, *other = b;

	if (one->count != other->count)
		return one->count < other->count ? -1 : 1;
	return one->bytes < other->bytes ? -1 : one->bytes > other->bytes;
}

static char *say(const struct sent *sent, const char *when)
{
	char sizes[120] = "";
	char *line;

	if (sent->bytes >= 0)
		snprintf(sizes, sizeof(sizes), ": %s, %s to %s each",
			 quantity_bytes((double)sent->bytes).text,
			 quantity_bytes((double)sent->least).text,
			 quantity_bytes((double)sent->most).text);
	if (asprintf(&line,
		     "DistributedDataParallel all-reduces %" PRId64
		     " bucket%s of gradients %s%s.%s",
		     sent->count, sent->count == 1 ? "" : "s", when, sizes,
		     sent->bytes < 0 ? " Their sizes aren't in the trace "
				       "(TRACEPROF_SHAPES=1)."
				     : "") < 0)
		return NULL;
	return line;
}

/* By step, and in front what lies before all of them. */
static void add_steps(const struct report_buckets *buckets,
		      const struct timeline *timeline, struct sent *steps)
{
	for (size_t at = 0; at < buckets->count; at++) {
		const struct bucket *bucket = &buckets->list[at];
		const long step = timeline_step_at(timeline, bucket->start_ns);

		if (is_of_gradients(timeline, bucket))
			add_bucket(&steps[step + 1],
				   bytes_sent(buckets, bucket));
	}
}

/* The median's of the steps that send, since the first one has buckets of its
 * own; without steps all that was sent. */
char *report_buckets_text(struct report_buckets *buckets,
			  struct timeline *timeline)
{
	const bool has_steps = timeline->step_count;
	struct sent *steps;
	size_t count = 0;
	char *line;

	if (!buckets->has_model || !buckets->count)
		return NULL;
	qsort(buckets->list, buckets->count, sizeof(*buckets->list), by_time);
	join(buckets);
	steps = memory_zeroed(timeline->step_count + 1, sizeof(*steps));
	add_steps(buckets, timeline, steps);
	for (size_t at = has_steps; at <= timeline->step_count; at++)
		if (steps[at].count)
			steps[count++] = steps[at];
	if (count)
		qsort(steps, count, sizeof(*steps), by_count);
	line = count ? say(&steps[count / 2], has_steps ? "a step" : "in all")
		     : NULL;
	free(steps);
	return line;
}

void report_buckets_free(struct report_buckets *buckets)
{
	free(buckets->list);
	key_table_free(&buckets->types);
}
