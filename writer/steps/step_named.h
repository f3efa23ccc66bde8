/* SPDX-License-Identifier: MIT */
/*
 * step_named.h - TRACEPROF_STEP=auto: ranges that are called like a step need
 * no search, and go before all others.
 *
 * A range comes when it has ended.  So while the run goes on what is open on
 * the thread is looked at, too, and nothing is taken that isn't the same at the
 * next pass: what ended between the two looks has come by then.
 */
#ifndef WRITER_STEP_NAMED_H
#define WRITER_STEP_NAMED_H

#include "writer/steps/step_marks.h"

/* What is known of names by their sites: the id, but for its lowest bit. */
struct step_names {
	uint64_t known[256];
	const struct step_marks *of; /* as of the last look, NULL none */
	uint64_t id;
};

/* Whether a range's mark is called like a step. */
void step_named_read(struct step_names *names, const struct session *session,
		     struct loop_mark *mark);

enum step_named { NAMED_NONE, NAMED_SOON, NAMED_FOUND };

/* Of all streams; NAMED_SOON: there is one, but it may lie within another that
 * isn't over.  `is_now`: all that there is has come. */
enum step_named step_named_find(struct step_names *names,
				const struct session *session,
				struct step_marks *streams, size_t count,
				uint32_t main_tid, bool is_now,
				struct step_marks **stream,
				struct loop_level *found);

#endif
