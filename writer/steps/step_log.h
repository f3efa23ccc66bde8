/* SPDX-License-Identifier: MIT */
/*
 * step_log.h - the marks of a run that may be killed.
 *
 * Streams of marks are the writer's own memory and die with it, while the
 * events that they came from are in a file by then.  So each mark goes to the
 * session, too, in the order in which it was seen, for a recovery that looks
 * for the step as the run's end would have.
 *
 * It takes a sixteenth of the session at most.  What no longer fits is missed:
 * then it is known that the log isn't whole.
 */
#ifndef WRITER_STEP_LOG_H
#define WRITER_STEP_LOG_H

#include "collector/session/session.h"
#include "writer/loops/loop.h"

/* A kernel, for the call that launched it: its name is the id. */
#define STEP_LOG_KERNEL 16u

struct step_log_entry {
	struct loop_mark mark;
	uint32_t tid;
	uint32_t family; /* enum search_family, or STEP_LOG_KERNEL */
};

void step_log_add(struct session *session, uint32_t tid, uint32_t family,
		  const struct loop_mark *mark);

/* A way through it, of a session that may say anything. */
struct step_log_way {
	uint64_t block, blocks_left;
	uint32_t at;
};

void step_log_begin(const struct session *session, struct step_log_way *way);

/* NULL: that was the last one. */
const struct step_log_entry *step_log_next(const struct session *session,
					   struct step_log_way *way);

#endif
