/* SPDX-License-Identifier: MIT */
/*
 * step_marks.h - one thread's regions, its ranges or its calls of CUDA, as
 * marks for period_find(), in the order of their beginnings.
 */
#ifndef WRITER_STEP_MARKS_H
#define WRITER_STEP_MARKS_H

#include "collector/control/search.h"
#include "writer/steps/period.h"
#include "writer/state/writer_state.h"

#define STEP_MARKS_MAX 65536u

struct step_marks {
	struct ring_reader *reader;
	uint32_t tid;
	uint32_t family; /* enum search_family */
	struct array marks;
	size_t count;
	size_t next_try; /* count from which on to look again */
};

static inline struct period_mark *step_marks(const struct step_marks *marks)
{
	return marks->marks.base;
}

/* The mark of a region or a range.  False: it is none. */
bool step_marks_read(const struct session *session, const struct event *event,
		     uint32_t *family, struct period_mark *mark);

/* Puts a mark in its place: events come by their ends, what was around others
 * after them.  The place, or the count where there is no memory. */
size_t step_marks_add(struct step_marks *marks, const struct period_mark *mark);

/* Forgets the older half. */
void step_marks_halve(struct step_marks *marks);

/* Marks that began before `ticks`. */
size_t step_marks_before(const struct step_marks *marks, uint64_t ticks);

/* period_find() over the first `count` of them. */
int step_marks_find(const struct step_marks *marks, size_t count,
		    const struct period_needs *needs, struct period *found);

/* The same for ranges that are called like a step, by their names alone. */
bool step_marks_find_range(const struct step_marks *marks,
			   const struct session *session, struct period *found);

/* Whether a mark is the marker's hit; hits from its first one on that began
 * before `ticks`. */
bool step_marks_is_hit(const struct step_marks *marks,
		       const struct period *period, size_t at);
uint64_t step_marks_count(const struct step_marks *marks,
			  const struct period *period, uint64_t ticks);

/* 'omp region "update"', for one line. */
void step_marks_describe(const struct step_marks *marks, size_t at,
			 struct naming *naming, char *text, size_t bytes);

#endif
