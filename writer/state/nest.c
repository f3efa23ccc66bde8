/* SPDX-License-Identifier: MIT */
/* nest.c - gaps between the slices of a lane; see nest.h. */
#include "writer/state/nest.h"

#include <string.h>

static struct nest_slice *top(struct nest *nest)
{
	return nest->count ? &nest->slice[nest->count - 1] : NULL;
}

static void push(struct nest *nest, struct nest_slice slice)
{
	if (nest->count == NEST_DEPTH) {
		nest->count = NEST_DEPTH / 2;
		memmove(nest->slice, nest->slice + NEST_DEPTH / 2,
			nest->count * sizeof(slice));
	}
	nest->slice[nest->count++] = slice;
}

/* It lies before the last one, which was written first. */
static bool is_before(const struct nest_slice *last, int64_t start, int64_t end)
{
	if (start >= last->seen_start_ns)
		return false;
	return end < last->seen_start_ns ||
	       (end == last->seen_start_ns &&
		last->seen_end_ns > last->seen_start_ns);
}

/* It lies in the last one, which was written first. */
static bool is_within(const struct nest_slice *last, int64_t start, int64_t end)
{
	return start > last->seen_start_ns && start < last->seen_end_ns &&
	       end <= last->seen_end_ns;
}

/* Between the last one and the one before that. */
static void squeeze_in(const struct nest *nest, int64_t *start_ns,
		       int64_t *end_ns)
{
	const struct nest_slice *last = &nest->slice[nest->count - 1];

	if (nest->count > 1 && *start_ns < last[-1].end_ns + NEST_GAP_NS)
		*start_ns = last[-1].end_ns + NEST_GAP_NS;
	if (*end_ns > last->start_ns - NEST_GAP_NS)
		*end_ns = last->start_ns - NEST_GAP_NS;
	if (*end_ns < *start_ns)
		*end_ns = *start_ns;
}

void nest_place(struct nest *nest, int64_t *start_ns, int64_t *end_ns)
{
	struct nest_slice *last = top(nest);
	struct nest_slice made = {.seen_start_ns = *start_ns,
				  .seen_end_ns = *end_ns,
				  .start_ns = *start_ns,
				  .end_ns = *end_ns};
	int64_t end_of_last;

	if (!last) {
		push(nest, made);
		return;
	}
	if (is_before(last, made.seen_start_ns, made.seen_end_ns)) {
		squeeze_in(nest, start_ns, end_ns);
		return;
	}
	if (is_within(last, made.seen_start_ns, made.seen_end_ns))
		return;
	end_of_last = last->end_ns;
	while (last && last->seen_start_ns >= made.seen_start_ns) {
		if (made.start_ns >= last->start_ns)
			made.start_ns = last->start_ns - 1;
		nest->count--;
		last = top(nest);
	}
	if (last && made.start_ns < last->end_ns + NEST_GAP_NS)
		made.start_ns = last->end_ns + NEST_GAP_NS;
	if (made.end_ns < made.start_ns)
		made.end_ns = made.start_ns;
	if (end_of_last > made.start_ns &&
	    made.end_ns < end_of_last + NEST_GAP_NS)
		made.end_ns = end_of_last + NEST_GAP_NS;
	*start_ns = made.start_ns;
	*end_ns = made.end_ns;
	push(nest, made);
}
