/* SPDX-License-Identifier: MIT */
/*
 * thin_tasks.h - explicit tasks, and waits, that are thinned (thin.h).
 *
 * How long one takes is known at its end, and that decides: what is short is
 * added to its site's sums, what is long is drawn.  Tasks lie in each other, in
 * what creates them and in waits.  So what counts is how much of a task lies in
 * no task that is drawn, its bare time; with each one drawn that much is off
 * the list, and no more are drawn than the share has room for.  Of a wait it is
 * the time without tasks.
 *
 * Who looks at a lane sees what a wait is by what lies in it: tasks that are
 * not drawn would be waits there, and waits tasks.  So the bare time of tasks
 * is kept for the wait they lie in, and drawn when there is enough of it, or
 * before that wait is: as one slice that takes as long as they took together,
 * behind the last slice there (EVENT_OMP_TASKS).  Likewise in a task, or in a
 * member's share of a region, its short waits (EVENT_OMP_WAITS).  Neither is a
 * call, or in any sum.
 *
 * struct thread.thin.frame is where this thread is; what begins keeps a copy
 * and puts it back at its end.
 */
#ifndef COLLECTOR_THIN_TASKS_H
#define COLLECTOR_THIN_TASKS_H

#include "collector/session/thin.h"

/* Tasks become a slice when they took so many times as long as one that is
 * drawn. */
#define THIN_ROW  16u
/* So do waits in a task, and tasks in a wait, that took one part in so many of
 * it. */
#define THIN_PART 8u
/* A task is drawn if something in it is, unless that many slices are open. */
#define THIN_DEEP 16u

/* A task or a wait begins. */
static inline void thin_enter(struct thread *thread, struct thin_frame *frame)
{
	frame->covered = thread->thin.frame.covered;
	frame->bare = thread->thin.frame.bare;
	frame->idle = thread->thin.frame.idle;
	frame->next = thread->ring.next;
	thread->thin.frame.bare = 0;
}

/* What began with the frame has ended. */
static inline void thin_leave(struct thread *thread,
			      const struct thin_frame *frame)
{
	thread->thin.frame.bare = frame->bare;
}

/* Of tasks since the frame's beginning, drawn or not. */
static inline uint64_t thin_tasks_ticks(const struct thread *thread,
					const struct thin_frame *frame)
{
	const struct thin_frame *here = &thread->thin.frame;

	return here->bare + here->covered - frame->covered;
}

/* Since the frame's beginning something was drawn that lies on a lane. */
bool thin_holds_slice(const struct thread *thread,
		      const struct thin_frame *frame);

/* Tasks that were not drawn become a slice, as far as there is room for it
 * from `from_ticks` on. */
void thin_show(struct thread *thread, uint64_t from_ticks, uint64_t now_ticks);

/* Waits likewise, beyond the `before` that others have. */
void thin_show_waits(struct thread *thread, uint64_t before, uint64_t region,
		     uint64_t from_ticks, uint64_t now_ticks);

/* A task of such a bare time, or a share, is about to be drawn. */
static inline void thin_waits(struct thread *thread, uint64_t before,
			      uint64_t bare, uint64_t region,
			      uint64_t from_ticks, uint64_t now_ticks)
{
	const uint64_t idle = thread->thin.frame.idle;

	if (unlikely(idle > before && idle - before > bare / THIN_PART))
		thin_show_waits(thread, before, region, from_ticks, now_ticks);
}

static inline uint64_t thin_bare(const struct thread *thread,
				 const struct thin_frame *frame, uint64_t took)
{
	const uint64_t inside = thread->thin.frame.covered - frame->covered;

	return took > inside ? took - inside : 0;
}

/* A task of such a bare time ends, with so many slices open around it.  True if
 * it is drawn, though it is thinned. */
static inline bool thin_draws(const struct thread *thread,
			      const struct thin_frame *frame, uint64_t bare,
			      uint32_t depth)
{
	return bare >= thread->thin.long_ticks ||
	       (unlikely(thread->ring.next != frame->next) &&
		depth < THIN_DEEP && thin_holds_slice(thread, frame));
}

/* Of a code that was not met since the last slice. */
static inline void thin_meet(struct thin *thin, uint64_t code)
{
	if (!thin->bare_code && thin->bare_other)
		return;
	if (!thin->bare_code)
		thin->bare_code = code;
	else if (!thin->bare_other)
		thin->bare_other = code;
	else
		thin->bare_code = 0;
}

/* A task that is not drawn is over, and added to its site. */
static inline void thin_task_left(struct thread *thread, uint64_t bare,
				  uint64_t code, uint64_t region,
				  uint64_t now_ticks)
{
	struct thin *thin = &thread->thin;

	thin->frame.bare += bare;
	thin->bare_region = region;
	if (unlikely(thin->bare_code != code && thin->bare_other != code))
		thin_meet(thin, code);
	if (unlikely(thin->frame.bare >= THIN_ROW * thin->long_ticks))
		thin_show(thread, 0, now_ticks);
}

/* Tasks in the wait at a region's end: before the region's slice, or the next
 * share on this thread. */
static inline void thin_settle(struct thread *thread, uint64_t from_ticks,
			       uint64_t now_ticks)
{
	if (unlikely(thread->thin.frame.bare))
		thin_show(thread, from_ticks, now_ticks);
	thread->thin.frame.bare = 0;
	thread->thin.frame.idle = 0;
}

/* A member's share ends.  Tasks in it were its work. */
static inline void thin_share(struct thread *thread, uint64_t region,
			      uint64_t start_ticks, uint64_t end_ticks)
{
	thin_waits(thread, 0, end_ticks - start_ticks, region, start_ticks,
		   end_ticks);
	thread->thin.frame.bare = 0;
}

#endif
