/* SPDX-License-Identifier: MIT */
/*
 * scope.h - what annotations, NVTX ranges and operators share: the gate, names,
 * and scopes that are pushed and popped.
 *
 * A scope is an open slice of its thread while it lasts and one event at its
 * end.  Each has an owner (traceprof.h, or an NVTX domain), and a pop takes the
 * innermost of its owner's.  Where that isn't the innermost of all, the scopes
 * cross: it becomes a range, on a lane beside the thread's, and leaves a hole
 * in the open slices that goes when it is innermost.  One that was pushed while
 * nothing was recorded is hidden, so that pops find their pushes.
 */
#ifndef PRELOAD_SCOPE_H
#define PRELOAD_SCOPE_H

#include "collector/session/gate.h"
#include "collector/steps/steps.h"
#include "preload/process/hook.h"

#define SCOPE_OWN 1u /* the owner that traceprof.h is; others are addresses */

/* What an event says beyond its name; all zero: nothing. */
struct scope_details {
	uint32_t colour;   /* 0xAARRGGBB; of an operator, see event.h */
	uint32_t category; /* its number */
	uint32_t category_name;
	uint32_t payload_type;
	uint64_t payload;
	/* An operator of PyTorch: the category is its scope, its name the
	 * shapes, the payload its sequence number and one, 0 none. */
	bool is_operator;
	bool is_looked_up; /* EVENT_LOOKED_UP */
	uint32_t thread;   /* as PyTorch counts threads */
	uint64_t forward;  /* another one; of a message its id */
	uint32_t place;	   /* python_frames_place() */
	uint32_t line;	   /* of an operator: python_frames_line() */
};

/* The gate, decided; a first caller makes the process interesting and is named
 * as the reason.  Keeps errno. */
uint32_t scope_gate_cold(uint32_t open, const char *caller);

static inline uint32_t scope_gate(const char *caller)
{
	const uint32_t open = gate_bits();

	if (likely(open == GATE_CLOSED ||
		   (open & (GATE_SCOPE | GATE_SCOPE_MARK))))
		return open;
	return scope_gate_cold(open, caller);
}

/* The id of a name, which is cut after 1023 bytes, not inside a character. */
uint32_t scope_intern(const char *name);

/* An event of a kind with details, at one moment or from `start_ticks` on. */
void scope_record_now(struct thread *thread, enum event_kind kind,
		      uint32_t name, uint64_t start_ticks,
		      const struct scope_details *details);

/* The same for one that isn't shown: 0 where no range's end may be a step's. */
static inline uint32_t scope_intern_hidden(const char *name)
{
	return unlikely(load_relaxed(&steps_ending)) ? scope_intern(name) : 0;
}

/* How many scopes of an owner's are open on a thread. */
unsigned int scope_depth(const struct thread *thread, uint64_t owner);

/* Which of some owners the innermost scope of theirs is of; 0 there is none. */
uint64_t scope_innermost(const struct thread *thread, const uint64_t owners[],
			 unsigned int count);

/* `details` may be NULL.  Not shown: the push is only remembered; where its end
 * may be a step's, with its name. */
void scope_push(struct thread *thread, uint64_t owner, bool is_shown,
		uint32_t name, const struct scope_details *details);

/* What the innermost slice of all will say, if it is a scope of the owner's;
 * NULL it isn't. */
struct scope_details *scope_details_here(const struct thread *thread,
					 uint64_t owner);

/* False: the owner has none open. */
bool scope_pop(struct thread *thread, uint64_t owner);

#endif
