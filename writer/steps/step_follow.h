/* SPDX-License-Identifier: MIT */
/*
 * step_follow.h - a step that was found: its windows are cut, and its thread
 * takes over.
 *
 * Also what step_finder.c and step_follow.c share: the search's state.
 */
#ifndef WRITER_STEP_FOLLOW_H
#define WRITER_STEP_FOLLOW_H

#include "collector/session/pool.h"
#include "writer/steps/step_barriers.h"
#include "writer/steps/step_by_hand.h"
#include "writer/steps/step_calls.h"
#include "writer/steps/step_cut.h"
#include "writer/steps/step_finder.h"
#include "writer/steps/step_lane.h"
#include "writer/steps/step_named.h"
#include "writer/steps/step_operators.h"

struct step_finder {
	struct step_marks streams[STEP_STREAMS_MAX];
	size_t stream_count;
	unsigned int drops;
	uint64_t divisor; /* hits to a step: as it was asked for, */
	uint64_t asked;
	bool keeps;		    /* events, while the step isn't known */
	bool is_drawn;		    /* in the one file that there is */
	bool is_over;		    /* that run was searched */
	uint64_t kept_ticks;	    /* what began before it may be gone */
	unsigned int room_at_start; /* chunks */
	struct step_calls calls;
	struct step_names names;
	struct step_operators operators;
	struct step_barriers barriers;
	struct step_by_hand by_hand;

	bool leaves_teams; /* regions within a team's are no marks */

	struct step_marks *of; /* whose loop it is, NULL not known yet */
	struct loop_nest nest; /* ... and what is said of it */
	struct loop_level level;
	/* Of a level that is_end, else NULL: what is done in its turns. */
	const struct step_marks *work;
	size_t work_length;    /* ... and the median of a turn in its marks */
	uint64_t torch_ticks;  /* of PyTorch's first operator, 0 none yet */
	uint64_t closed_ticks; /* parts that were closed without a step */
	bool is_sure;	       /* and isn't thought about again; it was said */
	uint64_t forgotten;    /* hits before the first mark that is there */
	struct step_lane lane;
	struct step_cut cut;
	bool is_counted;       /* what came before the thread joined */
	uint64_t handed_ticks; /* from when on the thread may mark steps */
	uint64_t windows;      /* those that were cut */
	uint32_t seen_state;   /* as of the last pass */
	uint64_t seen_ticks;   /* and before which all calls had come, */
	uint64_t run_ticks;    /* ... and all else */
	bool has_ended;	       /* the run as a whole: nothing more comes */
};

static inline struct step_search *
step_search_of(const struct writer_state *state)
{
	return &state->session->head->search;
}

/* Half of the buffer is taken by what is kept. */
static inline bool step_is_pressed(struct writer_state *state)
{
	return state->finder->keeps &&
	       pool_room(state->session) * 2 < state->finder->room_at_start;
}

/* Marks to which nothing is to come any more. */
static inline size_t step_ready(const struct writer_state *state,
				const struct step_marks *stream)
{
	return stream->family == SEARCH_CALLS
		       ? step_marks_before(stream, state->finder->seen_ticks)
		       : stream->count;
}

/* The finder of a run, on or dead. */
void step_finder_make(struct writer_state *state);

/* A mark that came; false: it is left out. */
bool step_finder_take(struct writer_state *state, struct step_marks *stream,
		      const struct loop_mark *mark);

/* `stream` has the step that `nest` tells of. */
void step_found(struct writer_state *state, struct step_marks *stream,
		const struct loop_nest *nest, bool is_sure);

/* The level that was found before the program was killed, from where its first
 * turn began.  False: its stream is gone. */
bool step_recall_level(struct writer_state *state);

/* Looks at all streams; `is_now`: what is found is taken, as sure as it is. */
void step_try_streams(struct writer_state *state, bool is_now);

/* That no step was found, and what would set one. */
void step_tell_none(struct writer_state *state, const char *what);

/* The program's own call took over: no step of a loop is looked for, and those
 * that were found are drawn where a window was cut for them. */
void step_stand_back(struct writer_state *state);

static inline uint32_t step_main_tid(const struct writer_state *state)
{
	return (uint32_t)state->session->head->pid;
}

static inline size_t step_most_marks(const struct step_finder *finder)
{
	return step_marks_most(finder->streams, finder->stream_count);
}

/* Looks at all streams, and takes what is certain; or what is likeliest. */
void step_look_on(struct writer_state *state);
void step_look_now(struct writer_state *state);

/* Where they found none: the setting that most likely begins a step, "" not
 * known. */
void step_look_for_setting(struct writer_state *state,
			   const struct step_marks *stream, char *text,
			   size_t bytes);

/* The next look at a stream, if it is due. */
bool step_next_look(const struct writer_state *state,
		    const struct step_marks *stream, struct step_look *look);

/* Whether what a look found will be found again and again. */
bool step_is_certain(struct writer_state *state, struct step_marks *stream,
		     size_t count, const struct loop_nest *nest);

/* What was found is final, and said. */
void step_settle(struct writer_state *state);

/* Each pass, while the thread doesn't count. */
void step_follow(struct writer_state *state);

/* ... and as soon as it does: what is left of the search is drawn and ends. */
void step_follow_live(struct writer_state *state);

/* The steps up to the first that the thread counted itself. */
void step_follow_draw_before(struct writer_state *state, uint64_t live);

#endif
