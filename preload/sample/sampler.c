/* SPDX-License-Identifier: MIT */
/*
 * sampler.c - timers of threads' processor time, and their signal.
 *
 * A slot holds one thread's timer.  Whoever makes, turns or deletes a timer
 * holds its slot meanwhile (tid BUSY), so that no timer is touched that is
 * somebody else's by now; who finds a slot held leaves it, and the writer's
 * next pass puts right what was missed.
 */
#include "preload/sample/sampler.h"

#include "collector/system/folder.h"
#include "collector/system/loader.h"
#include "collector/system/log.h"
#include "collector/system/proc.h"
#include "preload/process/hook.h"
#include "preload/process/life.h"
#include "preload/process/process.h"
#include "preload/sample/sample_clock.h"
#include "preload/sample/sample_room.h"
#include "preload/sample/sample_signal.h"
#include "preload/sample/sample_stack.h"
#include "preload/sample/short_threads.h"
#include "preload/sample/task_counts.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define SLOTS	     TASK_COUNTS_MAX
#define BUSY	     UINT32_MAX
#define LOOK_EACH_NS UINT64_C(100000000)
/* Of so many samples one is timed: to ask costs as much as a small stack.  Not
 * the first, which loads pages. */
#define TIMED_EACH   16u
#define TIMED_FIRST  4u

struct sample_slot {
	_Atomic uint32_t tid; /* 0 free, BUSY held */
	int timer;	      /* the kernel's number of it */
	uint32_t owner;	      /* whose clock it goes by */
	_Atomic uint32_t is_armed;
	_Atomic uint64_t cpu_ns;    /* of its thread at the last sample, or when
				    the timer was set; 0 none */
	_Atomic uintptr_t function; /* it began in; 0: unknown, or a sample
				       of it came */
	/* Of the last sample; before the first a place in the thread's
	 * function alone. */
	_Atomic uint64_t code;
	_Atomic uint32_t stack;
	uint32_t seen;		/* by the look that counts so; writer */
	_Atomic uintptr_t room; /* the handler's stack, never freed; 0 none */
	_Atomic bool is_spared; /* its thread has a stack for one frame alone */
};

static struct sampler {
	_Atomic bool is_on;
	struct session *session;
	uint64_t period_ns;
	uint64_t looked_ns; /* writer */
	uint32_t looks;
	_Atomic uint32_t used;	    /* slots up to here were ever taken */
	_Atomic uint32_t small_tid; /* had a small stack before its timer */
	_Atomic bool spares;
	_Atomic uint64_t rest_ns; /* that ended threads ran unsampled */
	bool has_said;
} sampler;

static struct sample_slot slots[SLOTS];

bool sampler_is_on(void)
{
	return load_relaxed(&sampler.is_on);
}

static bool gate_wants(void)
{
	return gate_bits() & GATE_SAMPLE;
}

/* False: its thread has ended. */
static bool set_timer(struct sample_slot *slot, bool on)
{
	const bool ticks = on && !load_relaxed(&slot->is_spared);

	store_relaxed(&slot->code, 0);
	store_relaxed(&slot->stack, 0);
	store_relaxed(&slot->function, 0);
	store_relaxed(&slot->cpu_ns,
		      ticks ? sample_clock_ns(sample_clock_of(slot->owner))
			    : 0);
	if (!sample_timer_start(slot->timer, ticks ? sampler.period_ns : 0,
				sampler.period_ns))
		return false;
	store_relaxed(&slot->is_armed, on);
	return true;
}

static void spare(struct sample_slot *slot, bool is_spared)
{
	store_relaxed(&slot->is_spared, is_spared);
	if (is_spared)
		store_relaxed(&sampler.spares, true);
	set_timer(slot, load_relaxed(&slot->is_armed));
}

/* In the handler: the return from it gives the thread its stack. */
static void leave_room(const struct sample_slot *slot, ucontext_t *context)
{
	const uintptr_t room = load_relaxed(&slot->room);

	if (room && context->uc_stack.ss_flags & SS_DISABLE)
		context->uc_stack = sample_room_stack(room);
}

/* --- timers' places --------------------------------------------------------*/

static bool hold(struct sample_slot *slot, uint32_t tid)
{
	/* ACQ_REL pairs with let_go(): the timer's number. */
	return atomic_compare_exchange_strong_explicit(&slot->tid, &tid, BUSY,
						       memory_order_acq_rel,
						       memory_order_relaxed);
}

static void let_go(struct sample_slot *slot, uint32_t tid)
{
	/* RELEASE pairs with ACQUIRE in hold(): the timer's number. */
	store_release(&slot->tid, tid);
}

/* Each timer, as the gate says. */
static void turn_all(bool on)
{
	const uint32_t used = load_relaxed(&sampler.used);

	for (uint32_t i = 0; i < used; i++) {
		struct sample_slot *slot = &slots[i];
		const uint32_t tid = load_relaxed(&slot->tid);

		if (!tid || tid == BUSY ||
		    load_relaxed(&slot->is_armed) == on || !hold(slot, tid))
			continue;
		set_timer(slot, on);
		let_go(slot, tid);
	}
}

static void gate_changed(bool open)
{
	const int saved = errno;

	if (sampler_is_on())
		turn_all(open);
	errno = saved;
}

/* --- a sample --------------------------------------------------------------*/

static uint64_t took_ns(struct sample_slot *slot, uint64_t now,
			uint64_t expired)
{
	const uint64_t before = load_relaxed(&slot->cpu_ns);

	store_relaxed(&slot->cpu_ns, now);
	return before ? now - before : sampler.period_ns * expired;
}

static void push(struct thread *thread, struct sample_place place, uint64_t now,
		 uint64_t took)
{
	struct event *slot = ring_reserve(&thread->ring, 1);

	if (likely(slot)) {
		*slot = (struct event){.kind = EVENT_CPU_SAMPLE,
				       .stack = place.stack,
				       .start_ticks = now,
				       .end_ticks = now,
				       .cpu = {took, place.code}};
		ring_commit(&thread->ring, 1, 1);
	} else {
		ring_refuse(&thread->ring, EVENT_CPU_SAMPLE, now);
	}
}

static void record(struct sample_slot *slot, struct thread *thread,
		   uint64_t took, const ucontext_t *context, bool is_beside)
{
	const uint64_t now = clock_ticks();
	struct sample_place place;

	thread_self = THREAD_SAMPLING;
	atomic_signal_fence(memory_order_seq_cst);
	place = sample_stack_take(sampler.session, thread, context, is_beside);
	push(thread, place, now, took);
	if (load_relaxed(&slot->function)) {
		short_threads_seen(load_relaxed(&slot->function), place);
		store_relaxed(&slot->function, 0);
	}
	store_relaxed(&slot->code, place.code);
	store_relaxed(&slot->stack, place.stack);
	thread_unbusy(thread);
}

/* On the thread's own clock: it may have been held up meanwhile. */
static void time_itself(struct sampling *sums, uint64_t began)
{
	if (add_relaxed(&sums->taken, 1) % TIMED_EACH != TIMED_FIRST)
		return;
	add_relaxed(&sums->timed_ns,
		    sample_clock_ns(CLOCK_THREAD_CPUTIME_ID) - began);
	add_relaxed(&sums->timed, 1);
}

/* The thread is in the program's handler, whose stack has no room for ours. */
static bool is_full(const ucontext_t *context)
{
	const char here = 0;

	return sample_room_left(&context->uc_stack,
				(uint64_t)(uintptr_t)&here) <
	       SAMPLE_LEAST_BYTES;
}

static void take(struct sample_slot *slot, const siginfo_t *info,
		 const ucontext_t *context, bool is_beside)
{
	struct session *session = load_relaxed(&session_here);
	const uint64_t expired = (uint64_t)info->si_overrun + 1;
	struct thread *thread = thread_self;
	uint64_t began, took;

	if (!sampler_is_on() || !session || session != sampler.session ||
	    !gate_wants())
		return;
	if (unlikely(is_full(context))) {
		add_relaxed(&session->head->sampling.own, 1);
		return;
	}
	began = sample_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	took = took_ns(slot, began, expired);
	if (!thread)
		thread = hook_thread_enter_lightly();
	if (thread_records(thread)) {
		record(slot, thread, took, context, is_beside);
	} else {
		add_relaxed(&session->head->sampling.own, 1);
		/* The next one stands for it. */
		store_relaxed(&slot->cpu_ns, began - took);
	}
	time_itself(&session->head->sampling, began);
}

/* A stack of the program's that is enough for the kernel's frame, as any thread
 * of Rust's has, is not for all of ours; nor is one that its handler fills. */
static bool needs_room(const struct sample_slot *slot,
		       const ucontext_t *context)
{
	const char here = 0;
	const uint64_t left = sample_room_left(&context->uc_stack,
					       (uint64_t)(uintptr_t)&here);

	return unlikely(left < SAMPLE_WALK_BYTES) &&
	       left >= SAMPLE_LEAVE_BYTES && load_relaxed(&slot->room);
}

struct beside {
	struct sample_slot *slot;
	const siginfo_t *info;
	const ucontext_t *context;
};

static void take_beside(void *arg)
{
	const struct beside *beside = arg;

	take(beside->slot, beside->info, beside->context, true);
}

/* All signals are blocked: none finds the stack free that we have left. */
static __attribute__((noinline)) void take_in_room(struct sample_slot *slot,
						   const siginfo_t *info,
						   const ucontext_t *context)
{
	struct beside beside = {slot, info, context};

	sample_room_run(load_relaxed(&slot->room), take_beside, &beside);
}

static __attribute__((noinline)) void take_here(struct sample_slot *slot,
						const siginfo_t *info,
						const ucontext_t *context)
{
	take(slot, info, context, false);
}

static SIGNAL_HANDLER void handle_sample(int number, siginfo_t *info,
					 void *context)
{
	struct sample_slot *slot = info->si_value.sival_ptr;
	const int saved = errno;

	if (info->si_code == SI_TIMER && slot >= slots &&
	    slot < slots + SLOTS) {
		if (needs_room(slot, context))
			take_in_room(slot, info, context);
		else
			take_here(slot, info, context);
		leave_room(slot, context);
		/* It came before the timer. */
		if (unlikely(sample_room_is_small(
			    &((ucontext_t *)context)->uc_stack)))
			spare(slot, true);
	} else {
		sample_signal_hand_on(number, info, context);
	}
	errno = saved;
}

/* --- timers ----------------------------------------------------------------*/

static int make_timer(struct sample_slot *slot, uint32_t tid)
{
	const clockid_t clock = sample_clock_of(tid);
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID,
				 .sigev_signo = SAMPLE_SIGNAL,
				 .sigev_value.sival_ptr = slot};

	slot->owner = tid;
	event._sigev_un._tid = (pid_t)tid;
	return (int)syscall(SYS_timer_create, clock, &event, &slot->timer);
}

static struct sample_slot *find(uint32_t tid)
{
	const uint32_t used = load_relaxed(&sampler.used);

	for (uint32_t i = 0; i < used; i++) {
		if (load_relaxed(&slots[i].tid) == tid)
			return &slots[i];
	}
	return NULL;
}

static struct sample_slot *find_own(void)
{
	return find((uint32_t)syscall(SYS_gettid));
}

static struct sample_slot *hold_free(void)
{
	for (uint32_t i = 0; i < SLOTS; i++) {
		uint32_t used = load_relaxed(&sampler.used);

		if (load_relaxed(&slots[i].tid) || !hold(&slots[i], 0))
			continue;
		while (used <= i &&
		       !atomic_compare_exchange_weak_explicit(
			       &sampler.used, &used, i + 1,
			       memory_order_relaxed, memory_order_relaxed))
			;
		return &slots[i];
	}
	return NULL;
}

static void drop(struct sample_slot *slot)
{
	syscall(SYS_timer_delete, slot->timer);
	store_relaxed(&slot->is_armed, false);
	let_go(slot, 0);
}

/* The thread itself and the writer may each have given it a timer, and its time
 * would count twice: the later one goes. */
static void drop_second(uint32_t tid)
{
	struct sample_slot *first = find(tid);
	const uint32_t used = load_relaxed(&sampler.used);

	for (struct sample_slot *slot = first; slot && ++slot < slots + used;) {
		if (load_relaxed(&slot->tid) == tid && hold(slot, tid)) {
			/* The thread may have it as its own already. */
			store_relaxed(&slot->room, 0);
			drop(slot);
			add_relaxed(&sampler.session->head->sampling.timers,
				    -1);
		}
	}
}

static void add_timer(uint32_t tid)
{
	struct sampling *sums = &sampler.session->head->sampling;
	struct sample_slot *slot = hold_free();

	if (!slot || make_timer(slot, tid)) {
		add_relaxed(&sums->without, 1);
		if (slot)
			let_go(slot, 0);
		return;
	}
	add_relaxed(&sums->timers, 1);
	if (!load_relaxed(&slot->room))
		store_relaxed(&slot->room, sample_room_make());
	slot->seen = sampler.looks;
	if (load_relaxed(&sampler.small_tid) == tid)
		store_relaxed(&sampler.spares, true);
	store_relaxed(&slot->is_spared,
		      load_relaxed(&sampler.small_tid) == tid);
	set_timer(slot, gate_wants());
	let_go(slot, tid);
	/* Each of two shows its own first: one of them sees both. */
	atomic_thread_fence(memory_order_seq_cst);
	drop_second(tid);
}

/* What it ran so far was ours.  It has a sample as soon as the kernel looks: it
 * may be gone before a period is over. */
static void begun(struct sample_slot *slot, uint32_t tid, uintptr_t function)
{
	const uint64_t now = sample_clock_ns(CLOCK_THREAD_CPUTIME_ID);

	add_relaxed(&sampler.session->head->sampling.begun_ns, now);
	if (!hold(slot, tid))
		return;
	store_relaxed(&slot->code, function + 1);
	store_relaxed(&slot->function, function);
	if (load_relaxed(&slot->cpu_ns)) {
		store_relaxed(&slot->cpu_ns, now);
		sample_timer_start(slot->timer, 1, sampler.period_ns);
	}
	let_go(slot, tid);
}

void sampler_thread_begins(uintptr_t function)
{
	const uint32_t tid = (uint32_t)syscall(SYS_gettid);
	struct sample_slot *old = find(tid);

	/* The writer was faster, or a thread before had this number. */
	if (old && hold(old, tid)) {
		store_relaxed(&old->is_spared, false);
		if (set_timer(old, gate_wants()))
			let_go(old, tid);
		else
			drop(old);
	}
	if (!find(tid))
		add_timer(tid);
	old = find(tid);
	if (!old)
		return;
	sample_room_enter(load_relaxed(&old->room));
	if (function)
		begun(old, tid, function);
}

/* What short threads ran after their last sample is put together: whoever
 * completes a period has it in one more, at the place of its last; of none,
 * where others that began as it did had their first. */
void sampler_thread_ends(void)
{
	struct sample_slot *slot = sampler_is_on() ? find_own() : NULL;
	struct thread *thread = thread_self;
	struct sample_place place;
	uint64_t rest;

	if (!slot || !load_relaxed(&slot->cpu_ns) || !gate_wants() ||
	    load_relaxed(&session_here) != sampler.session ||
	    !thread_records(thread))
		return;
	thread_self = THREAD_SAMPLING;
	atomic_signal_fence(memory_order_seq_cst);
	place.code = load_relaxed(&slot->code);
	place.stack = load_relaxed(&slot->stack);
	if (load_relaxed(&slot->function))
		place = short_threads_place(load_relaxed(&slot->function),
					    place);
	rest = sample_clock_ns(CLOCK_THREAD_CPUTIME_ID) -
	       load_relaxed(&slot->cpu_ns);
	rest += add_relaxed(&sampler.rest_ns, rest);
	if (rest >= sampler.period_ns && (place.code || place.stack)) {
		rest = atomic_exchange_explicit(&sampler.rest_ns, 0,
						memory_order_relaxed);
		push(thread, place, clock_ticks(), rest);
	}
	thread_unbusy(thread);
}

void sampler_stack_set(const stack_t *stack)
{
	const bool spares = sample_room_is_small(stack);
	struct sample_slot *slot;
	uint32_t tid;

	if (!process.options.sample)
		return;
	tid = (uint32_t)syscall(SYS_gettid);
	if (spares || load_relaxed(&sampler.small_tid) == tid)
		store_relaxed(&sampler.small_tid, spares ? tid : 0);
	slot = find(tid);
	if (!slot || load_relaxed(&slot->is_spared) == spares ||
	    !hold(slot, tid))
		return;
	spare(slot, spares);
	let_go(slot, tid);
}

uintptr_t sampler_room(void)
{
	struct sample_slot *slot = find_own();

	return slot ? load_relaxed(&slot->room) : 0;
}

/* A thread in /proc/self/task. */
static void look_at(uint32_t tid, uint32_t writer)
{
	struct sample_slot *slot = find(tid);

	if (slot) {
		slot->seen = sampler.looks;
		drop_second(tid);
	} else if (tid != writer) {
		add_timer(tid);
	}
}

static bool look_at_name(const char *tid, void *writer)
{
	look_at((uint32_t)atoi(tid), *(const uint32_t *)writer);
	return true;
}

/* Threads that were not seen to begin get timers, those of threads that have
 * ended are deleted. */
static void look(void)
{
	uint32_t writer = (uint32_t)syscall(SYS_gettid);
	int fd;

	if (!proc_is_aside()) {
		look_at((uint32_t)getpid(), writer);
		return;
	}
	fd = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	sampler.looks++;
	folder_read(fd, look_at_name, &writer);
	close(fd);
	for (uint32_t i = 0; i < load_relaxed(&sampler.used); i++) {
		const uint32_t tid = load_relaxed(&slots[i].tid);

		if (tid && tid != BUSY && slots[i].seen != sampler.looks &&
		    syscall(SYS_tgkill, getpid(), (int)tid, 0) &&
		    hold(&slots[i], tid))
			drop(&slots[i]);
	}
}

/* What the kernel counts of those that have a slot. */
static void count_all(void)
{
	if (!task_counts_begin(sampler.session, gate_wants()))
		return;
	for (uint32_t i = 0; i < load_relaxed(&sampler.used); i++) {
		const uint32_t tid = load_relaxed(&slots[i].tid);

		if (tid && tid != BUSY)
			task_counts_look(i, tid);
	}
	task_counts_end();
}

/* --- life ------------------------------------------------------------------*/

void sampler_prepare(void)
{
	/* The heap may have begun the recording, before our constructor. */
	if (!process.options.sample ||
	    (!life_is_watching() && !load_relaxed(&session_here)))
		return;
	sample_stack_prepare();
	sample_stack_thread_begins();
	sample_room_enter(sample_room_make());
}

/* The signal's handler is the parent's, where that had one already; else the
 * writer sees to it and the timer. */
void sampler_child_begun(void)
{
	if (!sampler_is_on())
		return;
	hook_thread();
	if (sample_signal_is_installed())
		sampler_thread_begins(0);
}

bool sampler_start(struct session *session)
{
	if (!process.options.sample)
		return false;
	sampler.session = session;
	/* In a forked child it is the parent's. */
	store_relaxed(&sampler.rest_ns, 0);
	short_threads_forget();
	sampler.period_ns = 1000000000u / (uint64_t)process.options.sample;
	session->head->sampling.period_ns = sampler.period_ns;
	store_relaxed(&sampler.is_on, true);
	gate_on_change(GATE_SAMPLER, gate_changed);
	return true;
}

void sampler_poll(void)
{
	const uint64_t now = clock_monotonic_ns();
	bool keeps_forks_out;

	if (!sampler_is_on()) {
		/* The last round, of a recording that has ended. */
		if (sampler.session)
			count_all();
		return;
	}
	if (!sample_signal_install(handle_sample)) {
		session_note(sampler.session,
			     "no samples: the C library has no handler for "
			     "signal 33");
		store_relaxed(&sampler.is_on, false);
		return;
	}
	sample_stack_poll(sampler.session);
	if (!sampler.looked_ns || now - sampler.looked_ns >= LOOK_EACH_NS) {
		sampler.looked_ns = now;
		keeps_forks_out = loader_enter_soon();
		look();
		if (keeps_forks_out)
			loader_leave();
	}
	turn_all(gate_wants());
	count_all();
	if (load_relaxed(&sampler.spares) && !sampler.has_said) {
		sampler.has_said = true;
		session_note(sampler.session,
			     "no samples of a thread whose stack for signals "
			     "has no room for two");
	}
}

void sampler_end(void)
{
	if (!sampler_is_on())
		return;
	store_relaxed(&sampler.is_on, false);
	gate_on_change(GATE_SAMPLER, NULL);
	for (uint32_t i = 0; i < load_relaxed(&sampler.used); i++) {
		const uint32_t tid = load_relaxed(&slots[i].tid);

		if (tid && tid != BUSY && hold(&slots[i], tid))
			drop(&slots[i]);
	}
}

/* Timers are not inherited.  The room of the thread that forked is, but it may
 * get another place. */
void sampler_forget(void)
{
	store_relaxed(&sampler.is_on, false);
	sampler.session = NULL;
	task_counts_forget();
	sampler.looked_ns = 0;
	gate_on_change(GATE_SAMPLER, NULL);
	for (uint32_t i = 0; i < load_relaxed(&sampler.used); i++) {
		store_relaxed(&slots[i].is_armed, false);
		store_relaxed(&slots[i].room, 0);
		store_relaxed(&slots[i].tid, 0);
	}
	store_relaxed(&sampler.used, 0);
}
