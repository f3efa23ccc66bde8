/* SPDX-License-Identifier: MIT */
/* step_named.c - ranges that are called like a step; see step_named.h. */
#include "writer/steps/step_named.h"

#include "collector/session/names.h"
#include "writer/loops/loop_named.h"

#define KNOWN 256u

_Static_assert(KNOWN == sizeof(((struct step_names *)0)->known) /
				sizeof(((struct step_names *)0)->known[0]),
	       "a place for each");

void step_named_read(struct step_names *names, const struct session *session,
		     struct loop_mark *mark)
{
	uint64_t *known = &names->known[(mark->id >> 1) % KNOWN];
	size_t len;

	if ((*known ^ mark->id) >> 1)
		*known = (mark->id | 1) ^
			 !search_is_step_like(names_text(
				 session, (uint32_t)mark->note, &len));
	mark->is_step_like = *known & 1;
}

/* A range that is called like a step is open on the thread, and began before
 * the last hit did.  A slice that is being closed may be seen, or not: it comes
 * as a mark then. */
static bool is_open_around(const struct session *session,
			   const struct step_marks *stream,
			   const struct loop_level *found)
{
	struct thread *thread = stream->reader->thread;
	const uint64_t ticks = step_marks(stream)[found->last].ticks;
	/* ACQUIRE pairs with RELEASE in thread_open(): the slices. */
	const uint32_t depth =
		min_u32(load_acquire(&thread->depth), OPEN_SLICES_MAX);
	size_t len;

	for (uint32_t i = 0; i < depth; i++) {
		const struct open_slice slice = thread->open[i];
		const char *text;

		if (slice.kind != EVENT_SCOPE || slice.start_ticks > ticks)
			continue;
		text = names_text(session, slice.name, &len);
		if (search_is_step_like(text) &&
		    search_name(NULL, text) != found->id)
			return true;
	}
	return false;
}

/* It is the step for all that can be known now. */
static bool is_settled(struct step_names *names, const struct session *session,
		       const struct step_marks *stream,
		       const struct loop_level *found)
{
	const bool is_same = names->of == stream && names->id == found->id;

	if (is_open_around(session, stream, found)) {
		names->of = NULL;
		return false;
	}
	names->of = stream;
	names->id = found->id;
	return is_same;
}

enum step_named step_named_find(struct step_names *names,
				const struct session *session,
				struct step_marks *streams, size_t count,
				uint32_t main_tid, bool is_now,
				struct step_marks **stream,
				struct loop_level *found)
{
	uint32_t looked = 0;

	while ((*stream = step_marks_next(streams, count, main_tid, &looked))) {
		if ((*stream)->step_like < LOOP_NAMED_TURNS ||
		    !loop_named_find(step_marks(*stream), (*stream)->count,
				     is_now, found))
			continue;
		return is_now || is_settled(names, session, *stream, found)
			       ? NAMED_FOUND
			       : NAMED_SOON;
	}
	return NAMED_NONE;
}
