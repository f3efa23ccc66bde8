/* SPDX-License-Identifier: MIT */
/* step_optimizer.c - ranges of torch.optim; see step_optimizer.h. */
#include "writer/steps/step_optimizer.h"

#include "collector/session/names.h"
#include <string.h>

#define PREFIX	     "Optimizer.step#"
#define KINDS_MOST   8u
/* Steps that tell something; and those that may be missing at both ends. */
#define STEPS_LEAST  5u
#define MISSING_MOST 2u

/* One class of optimizers. */
struct kind {
	uint64_t id;
	size_t first, steps;
};

static struct step_marks *ranges_of(struct step_finder *finder, uint32_t tid)
{
	for (size_t i = 0; i < finder->stream_count; i++) {
		struct step_marks *stream = &finder->streams[i];

		if (stream->tid == tid && stream->family == SEARCH_RANGES)
			return stream;
	}
	return NULL;
}

static struct kind *kind_of(struct kind *kinds, size_t *count, uint64_t id)
{
	for (size_t i = 0; i < *count; i++) {
		if (kinds[i].id == id)
			return &kinds[i];
	}
	if (*count == KINDS_MOST)
		return NULL;
	kinds[*count] = (struct kind){.id = id};
	return &kinds[(*count)++];
}

/* All steps that had ended by then, and the class that stepped most. */
static size_t count_steps(const struct session *session,
			  const struct step_marks *ranges, uint64_t ticks,
			  struct kind *most)
{
	const struct loop_mark *marks = step_marks(ranges);
	struct kind kinds[KINDS_MOST];
	size_t count = 0, steps = 0, len;

	*most = (struct kind){0};
	for (size_t i = 0; i < ranges->count; i++) {
		const char *name =
			names_text(session, (uint32_t)marks[i].note, &len);
		struct kind *kind;

		if (marks[i].end_ticks > ticks ||
		    strncmp(name, PREFIX, strlen(PREFIX)))
			continue;
		steps++;
		kind = kind_of(kinds, &count, marks[i].id);
		if (!kind)
			continue;
		if (!kind->steps++)
			kind->first = i;
		if (kind->steps > most->steps)
			*most = *kind;
	}
	return steps;
}

bool step_optimizer_find(struct writer_state *state, struct step_marks **stream,
			 uint64_t ticks, struct loop_nest *nest)
{
	struct step_marks *ranges = ranges_of(state->finder, (*stream)->tid);
	struct kind most;
	size_t steps;

	if (!ranges || ranges == *stream)
		return false;
	steps = count_steps(state->session, ranges, ticks, &most);
	if (steps < STEPS_LEAST ||
	    nest->level[nest->step].turns <= steps + steps / 20 + MISSING_MOST)
		return false;
	*nest = (struct loop_nest){.count = 1, .runner_up = 1};
	step_marks_find_site(ranges, most.first, &nest->level[0]);
	*stream = ranges;
	return true;
}
