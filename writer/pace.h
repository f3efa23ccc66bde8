/* SPDX-License-Identifier: MIT */
/*
 * pace.h - how long the writer sleeps between two passes.
 *
 * The program's threads may spin at barriers on every core, so each moment that
 * the writer runs is taken from them: while the backlog is small it keeps to a
 * small share of one core and lets events pile up; when a quarter of the buffer
 * is full it takes half of one, when half is full what it needs.  With nothing
 * to do it sleeps until a hook fills a chunk or its clock says that a look is
 * due.
 */
#ifndef WRITER_PACE_H
#define WRITER_PACE_H

#include "collector/session/session.h"

struct pace {
	_Atomic uint32_t wake; /* 1 ends the sleep */
	unsigned int idle_passes;
	uint64_t most_ns; /* longest sleep, 0: as it pleases */
	uint64_t kept;	  /* chunks that are full on purpose: a history */
};

/* How long the writer may sleep at most, for steps and windows by time and for
 * the clock; 0: as the pace pleases. */
uint64_t pace_longest(struct session *session);

/* Sleeps after a pass that read `events` and took `cpu_ns`.  Returns at once
 * when pace_wake() was called since the last sleep ended. */
void pace_sleep(struct pace *pace, struct session *session, uint64_t events,
		uint64_t cpu_ns);

/* More waits than its share of a core is enough for. */
bool pace_is_behind(const struct pace *pace, struct session *session);

/* Ends the sleep.  Any thread; async-signal-safe. */
void pace_wake(struct pace *pace, struct session *session);

/* Another process has put a request into the session's mailbox: ends the
 * writer's sleep. */
void pace_wake_other(struct session_header *head);

#endif
