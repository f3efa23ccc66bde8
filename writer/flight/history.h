/* SPDX-License-Identifier: MIT */
/*
 * history.h - the flight recorder: what stays in the rings until it is wanted.
 *
 * While no window is written, the writer drains only what is older than the
 * history is to be long; the rest stays in its rings, where it survives a kill.
 * A dump is a window that lies in the past: it is added to the table of windows
 * and then drained as any other, so that each event is in one file at most and
 *
 *	seen = written + cut + dropped
 *
 * holds in each; what grew too old is cut, and counted as `aged` besides.
 *
 * Length is measured back from the newest event, not from now: what led up to
 * a stall is kept however long it lasts.  A dump for a slow step ends with that
 * step, however late the writer saw it; what is slow after that is the next
 * one's.  What crosses a dump's begin is drawn from there on.
 */
#ifndef WRITER_HISTORY_H
#define WRITER_HISTORY_H

#include "collector/control/flight.h"
#include "writer/state/writer_state.h"
#include "writer/flight/trigger.h"

/* A dump that is to be made. */
struct history_due {
	uint64_t end_ticks;
	uint64_t newest_ticks; /* of the events then: its length ends there */
	enum flight_reason reason;
	char text[TRIGGER_TEXT_BYTES];
};

#define HISTORY_DUE_MAX 16u

struct history {
	struct flight flight;
	struct trigger trigger;
	uint64_t *starts;  /* of the last steps, overwritten in turn */
	uint32_t room;	   /* for so many */
	uint64_t steps;	   /* seen so far */
	uint64_t from;	   /* ticks: nothing that ended earlier is kept */
	uint64_t triggers; /* that made a dump due */
	bool said_short;
	bool said_enough;
	struct history_due due[HISTORY_DUE_MAX]; /* by their ends */
	unsigned int due_count;
};

/* The live process's, if its flight recorder is on.  0 or -ENOMEM. */
int history_start(struct writer_state *state);

/* After a look at all rings: each event that is new. */
void history_poll(struct writer_state *state);

/* What ended before this may be drained; UINT64_MAX: all, since a window is
 * written or there is no flight recorder. */
uint64_t history_keep(struct writer_state *state);

/* The rings hold more than the buffer should: makes the history shorter.
 * False: it needn't or can't be. */
bool history_shorten(struct writer_state *state);

/* Chunks that the history takes and that no hook waits for. */
uint64_t history_chunks(struct writer_state *state);

/* A dump is wanted, of what there is now.  The index of the window that it will
 * be, unless another one opens first. */
uint64_t history_wish(struct writer_state *state, enum flight_reason reason,
		      const char *text);

/* Adds the windows of the dumps that are due.  True: there is one to write. */
bool history_dump(struct writer_state *state);

/* Recovery: what the dead process's history holds becomes a window. */
void history_recover(struct writer_state *state, uint64_t end_ticks);

#endif
