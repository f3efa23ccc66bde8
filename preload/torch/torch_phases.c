/* SPDX-License-Identifier: MIT */
/*
 * torch_phases.c - one phase at a time for the process; see torch_phases.h.
 *
 * The main thread's operators tell it, and those that run backward wherever
 * they do: meanwhile the main thread waits for them.  A phase reaches from its
 * first operator to the end of its last; what lies between two is other.  So is
 * what runs without gradients (an optimizer written by hand) before a forward
 * has begun; within one it belongs to that.  Where gradients are zeroed between
 * forward and backward is learnt in the first step.
 *
 * All are drawn beside the main thread.  A forward that another thread ends, as
 * the one that runs backward for a GPU does, is kept for it.
 *
 * An optimizer's step that is given a closure (Lightning's always is, LBFGS's
 * time and again) runs the model inside: there, what something is run backward
 * of is forward, and what runs without gradients is the optimizer's.
 */
#include "preload/torch/torch_phases.h"

#include "preload/annotate/scope.h"
#include "preload/torch/torch_abi.h"
#include <string.h>

enum phase {
	PHASE_NONE,
	PHASE_DATA,
	PHASE_FORWARD,
	PHASE_BACKWARD,
	PHASE_STEP,
	PHASE_OTHER
};

static struct {
	_Atomic uint32_t is_busy; /* who comes second goes on without */
	enum phase phase;
	uint64_t start_ticks;
	uint64_t end_ticks;
	bool is_in_step;  /* of an optimizer, when the phase began */
	bool is_later;	  /* than the set-up */
	bool is_zeroed;	  /* no forward since zero_grad() */
	bool zeroes_late; /* the loop does so between forward and backward */
	bool has_kept;
	struct event kept; /* for the main thread */
} now;

static bool begins_with(const char *name, const char *start)
{
	return !strncmp(name, start, strlen(start));
}

/* No system call: the session knows who made it. */
static bool is_main(const struct thread *thread)
{
	const struct session *session = load_relaxed(&session_here);

	return session && thread->tid == (uint32_t)session->head->pid;
}

static enum phase phase_of(uint32_t scope, const char *name)
{
	if (scope == TORCH_SCOPE_USER) {
		if (begins_with(name, "enumerate(DataLoader)"))
			return PHASE_DATA;
		return begins_with(name, "Optimizer.") ? PHASE_STEP
						       : PHASE_NONE;
	}
	if (scope == TORCH_SCOPE_BACKWARD || begins_with(name, "autograd::") ||
	    begins_with(name, "torch::autograd::"))
		return PHASE_BACKWARD;
	return PHASE_FORWARD;
}

enum torch_phase_of torch_phase_of(uint32_t scope, const char *name)
{
	if (phase_of(scope, name) == PHASE_NONE)
		return TORCH_PHASE_INSIDE;
	return scope == TORCH_SCOPE_USER && begins_with(name, "Optimizer.step#")
		       ? TORCH_PHASE_STEP
		       : TORCH_PHASE_ITS_OWN;
}

static bool take(void)
{
	uint32_t free = 0;

	/* ACQUIRE pairs with RELEASE in give(): the phase as it was left. */
	return atomic_compare_exchange_strong_explicit(&now.is_busy, &free, 1,
						       memory_order_acquire,
						       memory_order_relaxed);
}

static void give(void)
{
	/* RELEASE pairs with ACQUIRE in take(). */
	store_release(&now.is_busy, 0);
}

static void draw(struct thread *thread, const struct event *event)
{
	if (!is_main(thread) && !now.has_kept) {
		now.kept = *event;
		now.has_kept = true;
		return;
	}
	if (now.has_kept)
		thread_record(thread, &now.kept);
	now.has_kept = false;
	thread_record(thread, event);
}

/* Operators that nothing is run backward of are a program's set-up, its
 * evaluation or its book-keeping.  The set-up, which takes seconds, is left
 * out: else the first step would begin with it. */
static void record(struct thread *thread, enum phase next)
{
	static const char names[][24] = {"",
					 "phase: data",
					 "phase: forward",
					 "phase: backward",
					 "phase: optimizer",
					 "phase: other"};
	const bool leads_back =
		next == PHASE_BACKWARD || (now.is_zeroed && now.zeroes_late);
	const enum phase without = now.is_in_step ? PHASE_STEP : PHASE_OTHER;
	const enum phase phase =
		now.phase == PHASE_FORWARD && !leads_back ? without : now.phase;
	const struct event event = {
		.kind = EVENT_RANGE,
		.flags = EVENT_OPERATOR,
		.name = phase ? scope_intern(names[phase]) : 0,
		.start_ticks = now.start_ticks,
		.end_ticks = now.end_ticks,
	};

	if (now.phase && now.end_ticks > now.start_ticks &&
	    (phase != PHASE_OTHER || now.is_later))
		draw(thread, &event);
	now.is_later |= phase != PHASE_NONE && phase != PHASE_OTHER;
	now.phase = PHASE_NONE;
}

/* Gradients that a closure zeroes are no end of its forward. */
static enum phase next_phase(enum phase phase, bool has_gradient, bool in_step)
{
	if (phase == PHASE_STEP && in_step)
		return now.phase;
	if (phase != PHASE_FORWARD || has_gradient ||
	    now.phase == PHASE_FORWARD)
		return phase;
	return in_step ? PHASE_STEP : PHASE_OTHER;
}

static void learn(enum phase phase, const char *name)
{
	if (begins_with(name, "Optimizer.zero_grad"))
		now.is_zeroed = true;
	else if (phase == PHASE_FORWARD)
		now.is_zeroed = false;
	else if (phase == PHASE_BACKWARD && phase != now.phase)
		now.zeroes_late = now.is_zeroed;
}

void torch_phase_begins(struct thread *thread, uint32_t scope, const char *name,
			bool has_gradient, bool in_step)
{
	enum phase phase = phase_of(scope, name);

	if ((phase != PHASE_BACKWARD && !is_main(thread)) || !take())
		return;
	phase = next_phase(phase, has_gradient, in_step);
	if (!in_step)
		learn(phase, name);
	if (phase != now.phase ||
	    (phase == PHASE_FORWARD && in_step != now.is_in_step)) {
		record(thread, phase);
		now.phase = phase;
		now.is_in_step = in_step;
		now.start_ticks = now.end_ticks = clock_ticks();
	}
	give();
}

void torch_phase_ends(struct thread *thread)
{
	if ((now.phase != PHASE_BACKWARD && !is_main(thread)) || !take())
		return;
	now.end_ticks = clock_ticks();
	give();
}

void torch_phase_finish(struct thread *thread)
{
	if (!thread_records(thread) || !take())
		return;
	record(thread, PHASE_NONE);
	if (now.has_kept)
		thread_record(thread, &now.kept);
	now.has_kept = false;
	give();
}
