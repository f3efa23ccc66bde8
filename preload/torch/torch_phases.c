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
 * Where an optimizer steps on another thread before the main one's phases have
 * begun, that thread's operators tell, until one steps on the main thread.
 * What runs backward on any other thread that trains is none of its steps'.
 *
 * What something is run backward of may lie in an operator that isn't, as all
 * that torch.compile has made of a function: then that one is forward.
 *
 * While torch.compile compiles, the tracer's operators are neither forward nor
 * backward: that is a phase of its own.
 *
 * An optimizer's step that is given a closure (Lightning's always is, LBFGS's
 * time and again) runs the model inside: there, what something is run backward
 * of is forward, and what runs without gradients is the optimizer's.
 */
#include "preload/torch/torch_phases.h"

#include "preload/torch/torch_abi.h"
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

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
	_Atomic uint32_t tid; /* whose operators tell; 0: the main thread's */
	enum phase phase;
	uint64_t start_ticks;
	uint64_t end_ticks;
	uint64_t outer_ticks; /* when the last one of OTHER or STEP began */
	bool is_in_step;      /* of an optimizer, when the phase began */
	bool is_later;	      /* than the set-up */
	bool is_zeroed;	      /* no forward since zero_grad() */
	bool zeroes_late; /* the loop does so between forward and backward */
	bool has_kept;
	struct event kept; /* for the thread that tells */
	_Atomic bool compiles;
	_Atomic uint64_t compile_ticks; /* since then; 0 it isn't drawn */
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

static bool tells(const struct thread *thread)
{
	const uint32_t tid = load_relaxed(&now.tid);

	return tid ? thread->tid == tid : is_main(thread);
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
	if (!tells(thread) && !now.has_kept) {
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

/* An optimizer steps on a thread that doesn't tell: from now on it does.  The
 * main thread's set-up was in no phase. */
static void take_over(const struct thread *thread)
{
	const bool is_first = !load_relaxed(&now.tid) && !now.is_later;

	if (!is_main(thread) && !is_first)
		return;
	store_relaxed(&now.tid, is_main(thread) ? 0 : thread->tid);
	now.phase = PHASE_NONE;
	now.has_kept = false;
}

/* What runs backward for the one that tells trains nothing itself. */
static bool counts(struct thread *thread, enum phase phase, bool is_forward)
{
	if (tells(thread))
		return true;
	if (phase == PHASE_STEP || is_forward)
		thread->trains = 1;
	if (phase == PHASE_STEP && take()) {
		take_over(thread);
		give();
	}
	return phase == PHASE_BACKWARD ? !thread->trains : tells(thread);
}

void torch_phase_begins(struct thread *thread,
			const struct scope_details *details, const char *name,
			bool has_gradient, bool in_step)
{
	enum phase phase = phase_of(details->category, name);

	if (load_relaxed(&now.compiles) ||
	    !counts(thread, phase,
		    phase == PHASE_FORWARD && details->payload != 0) ||
	    !take())
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
		now.outer_ticks = now.start_ticks;
	} else if (phase == PHASE_OTHER || phase == PHASE_STEP) {
		now.outer_ticks = clock_ticks();
	}
	give();
}

/* Compiled since then, if that is drawn. */
static void record_compilation(struct thread *thread, uint64_t since)
{
	const struct event event = {
		.kind = EVENT_RANGE,
		.flags = EVENT_OPERATOR,
		.name = scope_intern("phase: compilation"),
		.start_ticks = since,
		.end_ticks = clock_ticks(),
	};

	if (!since)
		return;
	draw(thread, &event);
	now.is_later = true;
}

/* The thread that tells, whether it is recorded just now or not. */
static bool is_telling(void)
{
	const struct session *session = load_relaxed(&session_here);
	const uint32_t tid = load_relaxed(&now.tid);

	return session && (uint32_t)syscall(SYS_gettid) ==
				  (tid ? tid : (uint32_t)session->head->pid);
}

/* What came before it belongs to a forward that goes on behind it.  Another
 * thread may compile beside a training, which is none of its steps'; and the
 * end may come on another. */
void torch_phase_compiles(bool on)
{
	struct thread *thread = thread_self;
	const bool is_its = is_telling();
	/* No time is left from a window before. */
	const uint64_t since = atomic_exchange_explicit(&now.compile_ticks, 0,
							memory_order_relaxed);

	store_relaxed(&now.compiles, on && is_its);
	if (!is_its || !thread_records(thread) || !take())
		return;
	if (on) {
		record(thread, PHASE_BACKWARD);
		store_relaxed(&now.compile_ticks, clock_ticks());
	} else {
		record_compilation(thread, since);
	}
	give();
}

bool torch_phase_is_without_gradient(void)
{
	return now.phase == PHASE_OTHER || now.phase == PHASE_STEP;
}

void torch_phase_inside(struct thread *thread, bool in_step)
{
	const enum phase without = in_step ? PHASE_STEP : PHASE_OTHER;

	if (!tells(thread) || !take())
		return;
	if (now.phase == without) {
		record(thread, PHASE_FORWARD);
		now.phase = PHASE_FORWARD;
		now.is_in_step = in_step;
		now.start_ticks = now.end_ticks = now.outer_ticks;
		now.is_zeroed &= in_step;
	}
	give();
}

void torch_phase_ends(struct thread *thread)
{
	const bool is_its = now.phase == PHASE_BACKWARD && !thread->trains;

	if ((!is_its && !tells(thread)) || !take())
		return;
	now.end_ticks = clock_ticks();
	give();
}

void torch_phase_finish(struct thread *thread)
{
	if (!thread_records(thread) || !take())
		return;
	record(thread, PHASE_NONE);
	record_compilation(thread,
			   atomic_exchange_explicit(&now.compile_ticks, 0,
						    memory_order_relaxed));
	if (now.has_kept)
		thread_record(thread, &now.kept);
	now.has_kept = false;
	give();
}

void torch_phase_forget(void)
{
	now.phase = PHASE_NONE;
	now.is_later = now.has_kept = false;
	store_relaxed(&now.compile_ticks, 0);
	store_relaxed(&now.compiles, false);
	store_relaxed(&now.tid, 0);
	store_relaxed(&now.is_busy, 0);
}
