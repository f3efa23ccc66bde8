/* SPDX-License-Identifier: MIT */
/* period_loop.c - what a group of hits cuts the stream into; see
 * period_loop.h. */
#include "writer/steps/period_loop.h"

#define SAMPLES	     31u

/* Of 100: stretches that must be alike, and marks that must lie in those. */
#define ALIKE_LEAST  80u
#define MARKS_LEAST  65u
/* Stretches of few marks prove little, so more is asked of them. */
#define POOR_MARKS   3u
#define POOR_REPEATS 12u
#define SURE_REPEATS 100u
#define STEADY_LEAST 60u
/* No turns of the loop: so many more stretches that are unlike than alike, at
 * most one in so many of all. */
#define LEAD_LEAST   3u
#define LEAD_PART    3u

static void sort(uint64_t *values, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		const uint64_t value = values[i];
		size_t at = i;

		for (; at && values[at - 1] > value; at--)
			values[at] = values[at - 1];
		values[at] = value;
	}
}

/* Hit number i of n, where n is too many to take them all. */
static size_t sample(size_t i, size_t stretches)
{
	return stretches <= SAMPLES ? i : i * stretches / SAMPLES;
}

static size_t samples(size_t stretches)
{
	return stretches < SAMPLES ? stretches : SAMPLES;
}

static uint64_t median_ticks(const struct period_groups *groups,
			     const uint32_t *hits, size_t stretches)
{
	uint64_t values[SAMPLES];
	const size_t count = samples(stretches);

	for (size_t i = 0; i < count; i++) {
		const uint32_t *hit = hits + sample(i, stretches);

		values[i] = groups->marks[hit[1]].ticks -
			    groups->marks[hit[0]].ticks;
	}
	sort(values, count);
	return values[count / 2];
}

static size_t median_length(const uint32_t *hits, size_t stretches)
{
	uint64_t values[SAMPLES];
	const size_t count = samples(stretches);

	for (size_t i = 0; i < count; i++) {
		const uint32_t *hit = hits + sample(i, stretches);

		values[i] = hit[1] - hit[0];
	}
	sort(values, count);
	return values[count / 2];
}

/* Most groups are refused here, by lengths alone. */
static bool may_do(const uint32_t *hits, size_t stretches)
{
	const size_t length = median_length(hits, stretches);
	const size_t all = hits[stretches] - hits[0];
	size_t alike = 0;
	size_t marks = 0;

	for (size_t i = 0; i < stretches; i++) {
		const size_t this = hits[i + 1] - hits[i];

		if (this * 4 >= length * 3 && this * 3 <= length * 4) {
			alike++;
			marks += this;
		}
	}
	return alike * 100 >= stretches * ALIKE_LEAST &&
	       marks * 100 >= all * MARKS_LEAST;
}

/* What stretches have in common: the median of each bucket. */
static size_t common(const struct period_groups *groups, const uint32_t *hits,
		     size_t stretches, uint32_t median[PERIOD_BUCKETS])
{
	const size_t count = samples(stretches);
	uint64_t values[SAMPLES];
	size_t length = 0;

	for (unsigned int b = 0; b < PERIOD_BUCKETS; b++) {
		for (size_t i = 0; i < count; i++) {
			const uint32_t *hit = hits + sample(i, stretches);

			values[i] = groups->sums[hit[1]][b] -
				    groups->sums[hit[0]][b];
		}
		sort(values, count);
		median[b] = (uint32_t)values[count / 2];
		length += median[b];
	}
	return length;
}

/* At most one mark in six differs. */
static bool is_alike(const struct period_groups *groups, const uint32_t *hit,
		     const uint32_t median[PERIOD_BUCKETS], size_t length)
{
	const uint32_t *from = groups->sums[hit[0]];
	const uint32_t *to = groups->sums[hit[1]];
	const size_t this = hit[1] - hit[0];
	size_t differ = 0;

	for (unsigned int b = 0; b < PERIOD_BUCKETS; b++) {
		const uint32_t value = to[b] - from[b];

		differ += value > median[b] ? value - median[b]
					    : median[b] - value;
	}
	return differ * 6 <= (this > length ? this : length);
}

/* In time: a loop's turns take about as long as each other, on a machine that
 * has nothing else to do; so it is asked only where marks prove little. */
static bool is_steady(const struct period_groups *groups, const uint32_t *hits,
		      const struct period_loop *loop)
{
	const size_t stretches = loop->hits - 1;
	const uint64_t ticks = loop->ticks;
	size_t steady = 0;

	for (size_t i = 0; i < stretches; i++) {
		const uint64_t this = groups->marks[hits[i + 1]].ticks -
				      groups->marks[hits[i]].ticks;

		steady += this * 2 >= ticks && this <= ticks * 2;
	}
	return steady * 100 >= stretches * STEADY_LEAST;
}

/* A burst of hits is no loop. */
static bool is_much(const struct period_groups *groups,
		    const struct period_loop *loop)
{
	return loop->hits >= SURE_REPEATS || loop->marks * 4 >= groups->count;
}

/* What the first stretches are that are no turns: a warm-up that hits the same
 * sites in no order.  One or two are turns that did something more. */
struct lead {
	size_t stretches;
	size_t unlike; /* of them, more than are alike */
};

/* Counts stretches and marks; returns where the loop begins. */
static size_t compare(const struct period_groups *groups, const uint32_t *hits,
		      size_t stretches, const uint32_t median[PERIOD_BUCKETS],
		      struct period_loop *loop)
{
	struct period_loop whole = *loop;
	struct lead lead = {0, 0};
	size_t unlike = 0;
	size_t alike = 0;

	for (size_t i = 0; i < stretches; i++) {
		const size_t marks = hits[i + 1] - hits[i];

		if (is_alike(groups, hits + i, median, loop->length)) {
			alike++;
			whole.marks += marks;
			loop->marks += marks;
			continue;
		}
		unlike++;
		whole.unlike++;
		loop->unlike++;
		if (unlike > alike + lead.unlike &&
		    (i + 1) * LEAD_PART <= stretches) {
			lead = (struct lead){i + 1, unlike - alike};
			loop->marks = loop->unlike = 0;
		}
	}
	if (lead.unlike >= LEAD_LEAST)
		return lead.stretches;
	*loop = whole;
	return 0;
}

/* Whether a group of hits is a step's marker. */
static bool examine(const struct period_groups *groups, const uint32_t *hits,
		    size_t count, struct period_loop *loop)
{
	uint32_t median[PERIOD_BUCKETS];
	size_t stretches = count - 1;
	size_t lead;

	loop->length = common(groups, hits, stretches, median);
	loop->unlike = 0;
	loop->marks = 0;
	lead = compare(groups, hits, stretches, median, loop);
	hits += lead;
	stretches -= lead;
	loop->hits = stretches + 1;
	loop->first = hits[0];
	loop->last = hits[stretches];
	loop->ticks = median_ticks(groups, hits, stretches);
	return (stretches - loop->unlike) * 100 >= stretches * ALIKE_LEAST &&
	       loop->marks * 100 >= (loop->last - loop->first) * MARKS_LEAST &&
	       (loop->length >= POOR_MARKS ||
		(loop->hits >= POOR_REPEATS && is_much(groups, loop) &&
		 is_steady(groups, hits, loop)));
}

/* A loop that ended, or that is only now being entered, has hits that are far
 * from its others: they don't belong to it. */
static void trim(const uint32_t **hits, size_t *count)
{
	const size_t length = median_length(*hits, *count - 1);

	while (*count > 2 && (*hits)[1] - (*hits)[0] > 4 * length + 16) {
		++*hits;
		--*count;
	}
}

bool period_loop_examine(const struct period_groups *groups, size_t group,
			 unsigned int context, struct period_loop *loop)
{
	size_t count;
	const uint32_t *hits = period_groups_hits(groups, group, &count);

	*loop = (struct period_loop){.context = context};
	if (count < PERIOD_LOOP_HITS)
		return false;
	trim(&hits, &count);
	if (count < PERIOD_LOOP_HITS || !may_do(hits, count - 1) ||
	    !examine(groups, hits, count, loop))
		return false;
	loop->id = groups->marks[loop->first].id;
	loop->key = groups->keys[loop->first];
	return true;
}

/* Steps from one exception to the next, if that is always the same. */
static size_t between(const uint32_t *at, size_t count)
{
	uint64_t values[SAMPLES];
	size_t same = 0;

	if (count < 3)
		return 0;
	if (count > SAMPLES)
		count = SAMPLES;
	for (size_t i = 0; i + 1 < count; i++)
		values[i] = at[i + 1] - at[i];
	sort(values, count - 1);
	for (size_t i = 0; i + 1 < count; i++)
		same += values[i] == values[(count - 1) / 2];
	return same * 100 >= (count - 1) * ALIKE_LEAST ? values[(count - 1) / 2]
						       : 0;
}

/* The hits of a loop, anew. */
static const uint32_t *hits_of(struct period_groups *groups,
			       const struct period_loop *loop)
{
	const uint32_t *hits;

	period_groups_make(groups, loop->context);
	hits = groups->order + groups->start[groups->group[loop->first]];
	while (*hits != loop->first)
		hits++;
	return hits;
}

size_t period_loop_outer(struct period_groups *groups,
			 const struct period_loop *loop)
{
	const uint32_t *hits = hits_of(groups, loop);
	uint32_t unlike[SAMPLES];
	uint32_t median[PERIOD_BUCKETS];
	size_t count = 0;
	size_t length;

	length = common(groups, hits, loop->hits - 1, median);
	for (size_t i = 0; i + 1 < loop->hits && count < SAMPLES; i++) {
		if (!is_alike(groups, hits + i, median, length))
			unlike[count++] = (uint32_t)i;
	}
	count = between(unlike, count);
	return count > 1 ? count : 0;
}
