/* SPDX-License-Identifier: MIT */
/*
 * trigger.h - what makes the flight recorder write a file by itself.
 *
 * Looks at each event once, as soon as it is published, and at the clock.  It
 * knows nothing of files: who asks gets a reason and a line that says it in
 * words.
 */
#ifndef WRITER_TRIGGER_H
#define WRITER_TRIGGER_H

#include "collector/session/event.h"
#include "collector/control/flight.h"

/* Steps that the median is taken of, and how many it takes to have one. */
#define TRIGGER_STEPS	    63u
#define TRIGGER_STEPS_LEAST 9u
#define TRIGGER_TEXT_BYTES  160

struct trigger {
	const struct flight *flight;
	uint64_t duration[TRIGGER_STEPS]; /* ticks, overwritten in turn */
	uint64_t steps;			  /* seen so far */
	uint64_t newest_ticks;		  /* of any event's end */
	uint64_t step_ticks;		  /* when the newest step began */
	uint64_t stalled_at;	   /* what the last stall was measured from */
	enum flight_reason reason; /* the first that was met, NONE */
	char text[TRIGGER_TEXT_BYTES];
};

/* An event that was not seen before. */
void trigger_see(struct trigger *trigger, const struct event *event,
		 uint64_t ticks_per_second);

/* The time is `now`: has it stalled? */
void trigger_poll(struct trigger *trigger, uint64_t now,
		  uint64_t ticks_per_second);

#endif
