/* SPDX-License-Identifier: MIT */
/*
 * writer_state.h - all that is known while a session is written down.
 *
 * One state writes one session: in the writer thread of the live process
 * (writer.c) or in another process after its death (recovery.c).  Both run
 * pass_run() over it; nothing else differs but where the time comes from.
 *
 * What must outlive a kill lies in the session and is renewed by
 * checkpoint_make(); what lies here can be made anew from there.
 */
#ifndef WRITER_WRITER_STATE_H
#define WRITER_WRITER_STATE_H

#include "collector/session/thread.h"
#include "writer/state/drain.h"
#include "writer/text/json.h"
#include "writer/state/lane.h"
#include "writer/state/naming.h"
#include "writer/state/nest.h"
#include "writer/state/window_file.h"
#include "writer/state/region_join.h"
#include "writer/state/spool.h"
#include "writer/state/chunk_prefault.h"
#include "writer/state/timeline.h"
#include "writer/state/totals.h"

struct gpu;
struct heap_sites;
struct history;
struct room;
struct step_finder;

/* `","pid":1,"tid":1,"ts":` as a thread's own lane has it. */
struct lane_text {
	uint32_t len;	  /* 0: not made yet */
	uint32_t tid_len; /* up to the end of the thread's number */
	char text[56];
};

/* What the writer knows of one thread's record and of its ring. */
/* What the running step holds, and the fullest one before it
 * (writer/draw/last_step.h). */
struct step_content {
	uint64_t count, most;
	uint64_t begin_ticks; /* of the first of them */
	uint64_t end_ticks;   /* of the first `most` of them */
	uint64_t from_ticks;  /* where the step before it ended */
	uint64_t limit_ticks; /* it would cross another slice there, 0 none */
	bool is_left;	      /* a slice that it began in has ended */
};

struct ring_reader {
	struct ring_reader *older;
	struct thread *thread;

	/* How far the ring was read, for each of those who read it. */
	struct drain drain;   /* next event to write down */
	struct drain scan;    /* next event to look at ahead */
	struct drain ends;    /* next one that may end a region for which
				 members wait: between those two */
	struct drain seen;    /* next event that triggers have not seen */
	uint64_t first_limit; /* published at the pass's first look, */
	uint64_t limit;	      /* and at its second */

	/* Of this pass. */
	bool is_stopped;  /* the drain left published events for later */
	bool is_deferred; /* ... because they belong to a later window */
	bool is_late;	  /* the drain is past the first look */
	bool saw_heap;	  /* events told what is live */

	/* Of a thread that is over. */
	bool is_ending;		  /* all drained: free after a checkpoint */
	unsigned int passes_over; /* checkpoints since, with a wait open */

	/* What was written of it. */
	struct pending_wait pending; /* a wait whose end isn't known yet */
	uint64_t loss_drawn;
	int64_t heap_live;
	int64_t heap_known; /* the same, as far as calls are settled by time, */
	int64_t heap_least; /* and the least until its next one */
	uint64_t marks_taken;	/* of calls that were thinned */
	uint32_t marks_seen;	/* by the search for the step, modulo 2^32 */
	uint64_t heap_taken[2]; /* of those of the heap */
	uint64_t heap_last;	/* block, if its last call made one */
	/* While a step is searched for: the longest share of a region that this
	 * thread had, EVENT_NONE none. */
	struct event share;
	uint32_t share_tid;
	struct step_content step;

	/* Its lanes in the file. */
	uint64_t named_in_file; /* file_index in which its lane is named */
	uint32_t lanes_named;	/* bit per side lane, in that file */
	uint32_t worker;	/* its number in a team, 0 none known, */
	uint32_t worker_tid;	/* and which thread had that */
	struct lane_text place;
	struct nest nest;	 /* of the main lane */
	struct lane_set *ranges; /* NULL until the first range */
	struct flame *flame;	 /* NULL until the first sample */
};

/* What a checkpoint makes permanent. */
struct writer_counts {
	uint64_t written;
	uint64_t thinned; /* calls that are in totals alone */
	uint64_t cut;
	uint64_t outside;    /* of these, in no window */
	uint64_t past_max;   /* past TRACEPROF_MAX_MB */
	uint64_t past_heap;  /* of these, small blocks past half of it */
	uint64_t deleted;    /* written, in parts that made room for others */
	uint64_t unwritable; /* no number, damaged, or no memory */
	uint64_t unnamed;    /* of those written: no room for the name */
	uint64_t arrows;     /* from operators to what runs them backward */
	struct wait_counts waits;
	uint64_t committed; /* by hooks, when account_unread() looked */
	uint64_t file_events;
	uint64_t last_ticks;
	uint64_t written_by_kind[EVENT_KIND_COUNT];
	uint64_t teams; /* of the regions, with more members than one */
};

struct by_time;

struct heap_totals {
	int64_t live; /* base and the last known live bytes of each thread */
	int64_t peak;
	int64_t sampled; /* last value that was drawn */
	uint64_t sampled_ns;
	bool any_sample;
	struct by_time *steps; /* calls of the slice that is drained */
	bool is_in_parts;      /* ... which has more than these */
};

struct writer_state {
	/* Whose session, and who writes it. */
	struct session *session;
	bool is_live;		/* this is the traced process */
	bool is_recovered;	/* a file or a run was taken over */
	bool keeps;		/* events, for windows that lie in the past */
	_Atomic bool is_ending; /* the program, soon */
	bool is_finishing;	/* nothing more comes */
	bool is_scanned;	/* all that this pass may drain */
	int error;		/* -errno that ended the writing */
	uint64_t pid;		/* as the file shows it */
	uint32_t writer_tid;
	uint64_t cpu_before_ns; /* of the writer, in the traced process */
	struct arena arena;	/* of readers, and of the parts below */

	/* The rings. */
	struct ring_reader *readers; /* newest first */
	uint64_t looked_ticks;	     /* of the last look, if the program runs */
	unsigned int retired;	     /* threads over, as of the last look, */
	unsigned int retired_kept;   /* ... and what a checkpoint since then
				      couldn't give back yet */
	struct drain_spent spent;    /* chunks that go back to the pool */
	struct chunk_prefault prefault; /* of chunks, where it is live */
	struct spool spool;		/* the rings' part on disk */
	uint64_t packed_chunks;		/* of theirs that are packed */
	uint64_t spare_chunk;	/* for one more when none is free; or 0 */
	uint64_t late_since_ns; /* events wait for room; 0 none do */
	uint64_t late_passes;
	uint64_t ends_since_ns; /* monotonic; the program's end waits */
	const _Atomic bool *is_cancelled; /* of a recovery; NULL: it never is */
	bool is_asked;			  /* somebody waits for this pass */
	uint64_t drain_until_ns;	  /* monotonic; 0: to the end */
	uint64_t slice_ticks;		  /* of one round in a large backlog */
	uint64_t budget;		  /* slots that may still be read */

	/* The windows: which is written, and its file. */
	uint64_t window; /* index of the window that is written */
	uint64_t opened; /* windows known to be open or closed */
	struct window_file file;
	struct json json;     /* texts not yet handed to the file */
	struct fields fields; /* and notes on them */
	bool writer_is_named; /* the writer's lane, in this file */

	/* What events mean. */
	struct timeline timeline;
	struct naming naming;
	struct totals totals;
	bool totals_are_whole; /* of the file: nothing lies before them */
	bool says_calls;       /* that not all of OpenMP are drawn, */
	bool says_blocks;      /* or of the heap */
	struct region_join regions;
	uint64_t next_index;  /* "Ev Idx" */
	uint64_t last_id;     /* "External id" of the last slice */
	uint64_t reserved_id; /* the next slice's, 0 none */
	struct event share;   /* the next slice's, if it is its region's */

	/* The account. */
	struct writer_counts counts;
	struct bound *bound; /* NULL until a tail was written */
	struct heap_totals heap;
	uint64_t passes;

	/* The last checkpoint. */
	uint64_t checkpoints;
	uint64_t text_at_checkpoint;
	uint64_t events_at_checkpoint; /* written + cut */
	uint64_t checkpoint_ns;	       /* CLOCK_MONOTONIC */

	/* Parts that not every run has, each made by its own folder. */
	struct gpu *gpu;	  /* NULL until there are records of GPUs */
	struct history *history;  /* NULL without a flight recorder */
	struct room *room;	  /* NULL: events are written down at once */
	struct hash_index stacks; /* struct drawn_stack, by id */
	struct hash_index tasks;  /* struct task_sums, by tid */
	struct heap_sites *heap_sites; /* NULL: not in that mode */
	struct step_finder *finder;    /* NULL: no step is searched for */
	struct forward_table *forward; /* NULL: no operator yet */
};

static inline bool writer_state_is_cancelled(const struct writer_state *state)
{
	return state->is_cancelled &&
	       load_relaxed((_Atomic bool *)state->is_cancelled);
}

/* 0 or -ENOMEM. */
int writer_state_start(struct writer_state *state, struct session *session,
		       bool is_live);

/* Frees everything; an open file is left as it is. */
void writer_state_end(struct writer_state *state);

/* Finds the thread records that came since the last call. */
int writer_state_find_readers(struct writer_state *state);

/* Counts the threads that are over, but for those whose records are kept. */
void writer_state_count_retired(struct writer_state *state);

/* The window that is written now, NULL none; looks for new ones. */
struct window *writer_state_window(struct writer_state *state);

/* Is the start of an event in that window? */
enum event_place {
	PLACE_WRITE, /* yes */
	PLACE_SKIP,  /* in none that is still to be written */
	PLACE_DEFER, /* in a later one, or its file isn't begun */
};
enum event_place writer_state_place(struct writer_state *state, uint64_t ticks);

/* Where an event begins as its window sees it: a dump of the flight recorder
 * holds what was still going on at its begin too, from there on. */
uint64_t writer_state_begin(struct writer_state *state,
			    const struct event *event);

/* In a forked child, which may want the numbers of its parent's files. */
void writer_state_close(struct writer_state *state);

#endif
