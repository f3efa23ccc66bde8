/* SPDX-License-Identifier: MIT */
/* trigger.c - slow steps, stalls, failed calls; see trigger.h. */
#include "writer/flight/trigger.h"

#include "collector/system/log.h"
#include <string.h>

/* An answer, not an error: the work is still under way. */
#define CUDA_NOT_READY 600u

static bool is_wanted(const struct trigger *trigger, enum flight_reason reason)
{
	return !trigger->reason && trigger->flight->triggers >> reason & 1;
}

static uint64_t median(const struct trigger *trigger)
{
	uint64_t sorted[TRIGGER_STEPS];
	const uint64_t count = min_u64(trigger->steps, TRIGGER_STEPS);

	for (uint64_t i = 0; i < count; i++) {
		const uint64_t value = trigger->duration[i];
		uint64_t at = i;

		for (; at && sorted[at - 1] > value; at--)
			sorted[at] = sorted[at - 1];
		sorted[at] = value;
	}
	return sorted[count / 2];
}

static double micros(uint64_t ticks, uint64_t ticks_per_second)
{
	return (double)ticks * 1e6 / (double)ticks_per_second;
}

static void see_step(struct trigger *trigger, const struct event *event,
		     uint64_t ticks_per_second)
{
	const uint64_t took = event->end_ticks > event->start_ticks
				      ? event->end_ticks - event->start_ticks
				      : 0;
	char took_text[32], usual_text[32];
	const bool is_long = trigger->flight->slow_ns &&
			     micros(took, ticks_per_second) * 1000 >
				     (double)trigger->flight->slow_ns;
	double usual = 0;

	trigger->step_ticks = max_u64(trigger->step_ticks, event->end_ticks);
	if (trigger->flight->slow_percent &&
	    trigger->steps >= TRIGGER_STEPS_LEAST)
		usual = (double)median(trigger);
	if (is_wanted(trigger, FLIGHT_SLOW) &&
	    (is_long ||
	     (usual > 0 &&
	      (double)took * 100 > usual * trigger->flight->slow_percent))) {
		trigger->reason = FLIGHT_SLOW;
		log_time(took_text, sizeof(took_text),
			 micros(took, ticks_per_second));
		log_time(usual_text, sizeof(usual_text),
			 is_long ? (double)trigger->flight->slow_ns / 1000
				 : usual * 1e6 / (double)ticks_per_second);
		log_format(trigger->text, sizeof(trigger->text),
			   "step %ld took %s, %s %s", (long)event->step.number,
			   took_text, is_long ? "more than" : "the median is",
			   usual_text);
	}
	trigger->duration[trigger->steps++ % TRIGGER_STEPS] = took;
}

static void see_call(struct trigger *trigger, uint64_t result)
{
	if (!result || result == CUDA_NOT_READY ||
	    !is_wanted(trigger, FLIGHT_CUDA_ERROR))
		return;
	trigger->reason = FLIGHT_CUDA_ERROR;
	log_format(trigger->text, sizeof(trigger->text),
		   "a CUDA call returned error %lu", (unsigned long)result);
}

void trigger_see(struct trigger *trigger, const struct event *event,
		 uint64_t ticks_per_second)
{
	switch (event->kind) {
	case EVENT_STEP: see_step(trigger, event, ticks_per_second); break;
	case EVENT_CALL: see_call(trigger, event->call.result); break;
	case EVENT_GPU_API:
		if (!(event->flags & EVENT_MOVED))
			see_call(trigger, event->api.result);
		break;
	default: break;
	}
	trigger->newest_ticks =
		max_u64(trigger->newest_ticks, event->end_ticks);
}

void trigger_poll(struct trigger *trigger, uint64_t now,
		  uint64_t ticks_per_second)
{
	/* Steps, once there are any: what else moves is no progress. */
	const uint64_t last = trigger->step_ticks ? trigger->step_ticks
						  : trigger->newest_ticks;
	const double limit = (double)trigger->flight->stall_ns / 1e9 *
			     (double)ticks_per_second;

	if (!is_wanted(trigger, FLIGHT_STALL) || !last ||
	    last == trigger->stalled_at || now <= last ||
	    (double)(now - last) < limit)
		return;
	trigger->stalled_at = last;
	trigger->reason = FLIGHT_STALL;
	log_format(
		trigger->text, sizeof(trigger->text), "no %s for %lu ms",
		trigger->step_ticks ? "step" : "event",
		(unsigned long)(micros(now - last, ticks_per_second) / 1000));
}
