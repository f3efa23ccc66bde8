/* SPDX-License-Identifier: MIT */
/*
 * cupti_flush.c - asks CUPTI for what it has, on a thread that may wait.
 *
 * CUPTI hands a buffer over when it is full; a slow program would show nothing.
 * So it is asked each second, five times as often while something is recorded
 * (what it holds is lost to a kill), and when the writer's thread wants to
 * finish a window.  The call takes CUPTI's locks and has been seen to hang, as
 * the one has that disables a kind: both are made here and nowhere else, and
 * whoever waits for them does so for a limited time.
 *
 * At the end of the program libcuda tears itself down in an exit handler that
 * it registers in cuInit().  Handlers run in reverse order, so ours is
 * registered after that, once more with the first context: the last chance to
 * get records at all, also the unfinished ones.
 */
#ifdef HAVE_CUPTI

#include "preload/cuda/cupti_source.h"

#include "collector/system/futex.h"
#include "collector/system/loader.h"
#include "collector/system/log.h"
#include "collector/session/thread.h"
#include "collector/steps/steps.h"
#include "preload/cuda/cupti_buffers.h"
#include "preload/cuda/cupti_share.h"
#include "preload/process/hook.h"
#include "preload/process/life.h"
#include "preload/process/process.h"
#include "preload/stack/unwind.h"
#include "writer/writer.h"
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PERIOD_NS     UINT64_C(1000000000)
#define OPEN_NS	      (PERIOD_NS / 5) /* while something is recorded */
#define UNANSWERED    3u /* calls of ours until another is looked for */
#define END_PERIOD_NS UINT64_C(20000000)
#define STACK_BYTES   (256u << 10)
/* How long a call of the program's waits for what the helper turns on: once
 * that is up, and in all. */
#define UP_NS	      UINT64_C(500000000)
#define AWAITED_NS    UINT64_C(2000000000)
#define LOOK_NS	      UINT64_C(5000000)

enum flush_stage { FLUSH_RUNS, FLUSH_LAST, FLUSH_DONE };

static struct {
	_Atomic uint32_t asked;	   /* futex word */
	_Atomic uint32_t stage;	   /* enum flush_stage; futex word */
	_Atomic uint32_t handlers; /* a bit for each moment */
	_Atomic uint32_t ending;
	_Atomic uint64_t ticks;
	_Atomic uint64_t forced_ticks;
	_Atomic uint32_t is_due;
	_Atomic uint32_t unused; /* nobody wakes who sleeps here */
	_Atomic uint32_t force;
	_Atomic uint32_t tid;
	_Atomic uint32_t is_up;	 /* it doesn't sleep */
	_Atomic uint32_t end_ms; /* longest end */
	_Atomic uint64_t end_ticks;
	bool is_past_end; /* what is dropped now came after that */
	bool has_dropped_late;
	uint64_t missed_ticks; /* of a forced flush that left buffers out */
	uint64_t flushed_ns;
	bool runs;
	/* Calls of our own, and what is known of them; see look_for_another().
	 */
	enum { CALLS_UNKNOWN, CALLS_COME, CALLS_SAY_NOTHING } calls;
	_Atomic uint32_t answered; /* the writer counts */
	uint32_t answered_seen, unanswered;
	bool is_in_doubt;
	uint64_t touched_seen, looked_ns;
} flush;

uint64_t cupti_flush_ticks(bool forced)
{
	/* ACQUIRE pairs with RELEASE in flush_all(): the buffers. */
	return load_acquire(forced ? &flush.forced_ticks : &flush.ticks);
}

void cupti_flush_wake(void)
{
	add_relaxed(&flush.asked, 1);
	futex_wake(&flush.asked);
}

bool cupti_flush_await(_Atomic uint32_t *word, uint32_t value)
{
	const uint64_t start = clock_monotonic_ns();
	uint64_t up_ns = 0;

	cupti_flush_wake();
	for (;;) {
		const uint64_t now = clock_monotonic_ns();

		/* Who ends or goes needs none. */
		if (load_relaxed(word) != value || !cupti_is_ours() ||
		    cupti_flush_is_ending())
			return true;
		if (!up_ns && (load_relaxed(&flush.is_up) || !flush.runs))
			up_ns = now;
		if (now - start >= AWAITED_NS ||
		    (up_ns && now - up_ns >= UP_NS))
			return false;
		futex_wait(word, value, LOOK_NS);
	}
}

void cupti_flush_ask(void)
{
	store_relaxed(&flush.is_due, 1);
	cupti_flush_wake();
}

void cupti_flush_force(void)
{
	store_relaxed(&flush.force, 1);
	cupti_flush_ask();
}

/* CUPTI is another's: all of ours came before. */
static void pass(uint64_t now)
{
	/* RELEASE pairs with ACQUIRE in cupti_flush_ticks(). */
	store_release(&flush.ticks, now);
	store_release(&flush.forced_ticks, now);
	writer_wake();
}

/* A forced flush brings back all that holds records.  If one doesn't, nor the
 * next, and nothing was asked of us in between, CUPTI asks another. */
static void look_for_buffers(uint64_t before)
{
	uint64_t since;
	const unsigned int count = cupti_buffers_unreturned(before, &since);
	const bool is_last = load_relaxed(&flush.stage) != FLUSH_RUNS;

	if (!count && (!flush.is_in_doubt || is_last)) {
		flush.missed_ticks = 0;
	} else if (flush.missed_ticks || is_last) {
		if (cupti_buffers_touched() < before &&
		    (is_last || cupti_buffers_touched() < flush.missed_ticks))
			cupti_neighbour_took(
				count, count ? since : cupti_buffers_touched());
		flush.missed_ticks = 0;
		flush.is_in_doubt = false;
	} else {
		flush.missed_ticks = before;
	}
	if (is_last)
		cupti_buffers_lose(cupti_flush_end_ticks());
	else if (!cupti_is_ours())
		cupti_buffers_lose(before);
}

/* The last flush of all: as a rule since the driver has ended before us. */
static void say_missing(CUptiResult rc)
{
	store_relaxed(&load_relaxed(&session_here)->head->gpu.is_cut, 1);
	log_trouble("CUPTI did not hand over its last records (error %d): they "
		    "are missing",
		    (int)rc);
	session_note(load_relaxed(&session_here),
		     "CUPTI's last records are missing: its flush failed with "
		     "error %d",
		     (int)rc);
}

static void flush_all(uint32_t flag)
{
	const uint64_t before = clock_ticks();
	size_t dropped = 0;
	CUptiResult rc;

	if (!cupti_is_alive())
		return;
	if (!cupti_is_ours()) {
		pass(before);
		return;
	}
	rc = cupti.cuptiActivityFlushAll(flag);
	if (rc != CUPTI_SUCCESS) {
		if (flag && load_relaxed(&flush.stage) != FLUSH_RUNS)
			say_missing(rc);
		return;
	}
	if (flag)
		look_for_buffers(before);
	if (cupti.cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped) ==
		    CUPTI_SUCCESS &&
	    dropped) {
		if (flush.is_past_end)
			flush.has_dropped_late = true;
		else
			add_relaxed(
				&load_relaxed(&session_here)->head->gpu.dropped,
				dropped);
	}
	/* RELEASE pairs with ACQUIRE in cupti_flush_ticks(). */
	store_release(&flush.ticks, before);
	if (flag)
		store_release(&flush.forced_ticks, before);
	writer_wake();
}

void cupti_flush_answered(void)
{
	add_relaxed(&flush.answered, 1);
}

static bool may_be_called(void)
{
	return cupti_is_ours() && !cupti_share_is_on() &&
	       cupti_kinds_are_on() && cupti_attach_has_thread_buffers();
}

/* A second without a sign of CUPTI's, which is not known to be the program's
 * own silence. */
static bool was_silent(void)
{
	const uint32_t answered = load_relaxed(&flush.answered);
	const uint64_t touched = cupti_buffers_touched();
	const bool is_silent = touched == flush.touched_seen &&
			       answered == flush.answered_seen;

	if (answered != flush.answered_seen && flush.calls == CALLS_UNKNOWN)
		flush.calls = CALLS_COME;
	flush.answered_seen = answered;
	flush.touched_seen = touched;
	return is_silent;
}

/* Another client may register its buffers over ours, and nothing says so; but
 * then CUPTI asks us for none any more.  If it hasn't for a second a call of
 * our own must make it: that is relied on where the record of such a call has
 * come once, and no buffer waits for another thread's work.  What is then in
 * doubt a forced flush shows, which costs the work under way its times; so it
 * is done once. */
static void look_for_another(void)
{
	const uint64_t now = clock_monotonic_ns();

	if (flush.is_in_doubt)
		cupti_library_ask_driver();
	if (now - flush.looked_ns < PERIOD_NS)
		return;
	flush.looked_ns = now;
	if (!may_be_called() || !was_silent())
		flush.unanswered = 0;
	else if (flush.calls == CALLS_COME && flush.unanswered >= UNANSWERED) {
		flush.calls = CALLS_SAY_NOTHING;
		flush.is_in_doubt = true;
		cupti_flush_force();
	}
	if (may_be_called() && flush.calls != CALLS_SAY_NOTHING) {
		cupti_library_ask_driver();
		flush.unanswered++;
	}
}

bool cupti_flush_is_ending(void)
{
	return load_relaxed(&flush.stage) != FLUSH_RUNS;
}

uint64_t cupti_flush_end_ticks(void)
{
	return load_relaxed(&flush.end_ticks);
}

uint32_t cupti_flush_tid(void)
{
	return load_relaxed(&flush.tid);
}

/* The program may still be inside of cuInit(), where these calls wait. */
static void note_versions(void)
{
	struct gpu_state *gpu = &load_relaxed(&session_here)->head->gpu;

	store_relaxed(&gpu->driver_version, cupti_library_driver_version());
	store_relaxed(&gpu->runtime_version, cupti_library_runtime_version());
}

/* The program ends while work of a window is under way: it gets most of the
 * time that the end may take.  Other threads may go on launching meanwhile. */
static void wait_for_work(void)
{
	const uint64_t end = cupti_flush_end_ticks();
	const uint64_t until =
		clock_monotonic_ns() +
		(uint64_t)load_relaxed(&flush.end_ms) * (1000000 / 4 * 3);

	while (cupti_is_ours()) {
		flush_all(0);
		flush.is_past_end = true;
		if (!cupti_source_awaits(end))
			return;
		if (clock_monotonic_ns() >= until) {
			store_relaxed(&load_relaxed(&session_here)
					       ->head->gpu.hurried_ticks,
				      end);
			return;
		}
		futex_wait(&flush.unused, 0, END_PERIOD_NS);
	}
}

static uint64_t period(void)
{
	return steps_want_events(load_relaxed(&session_here)) ? OPEN_NS
							      : PERIOD_NS;
}

/* Nobody has asked for it. */
static bool is_time(void)
{
	return clock_monotonic_ns() - flush.flushed_ns >= PERIOD_NS ||
	       (period() == OPEN_NS && cupti_buffers_oldest() != UINT64_MAX);
}

/* Nothing that runs here is the program's; but another client of CUPTI's may
 * be asked for a buffer here, and free it anywhere. */
static void enter(void)
{
	struct thread *thread = thread_enter(load_relaxed(&session_here));

	if (thread) {
		thread->ring.never_waits = 1;
		/* Later the C library would allocate for it, as another. */
		unwind_thread_entered(thread);
		if (unwind_wants(STACK_HEAP) && !thread->stack_low)
			thread = NULL;
	}
	thread_busy();
	hook_lend(thread);
}

/* Whose records those were CUPTI doesn't tell.  A launch from before the end
 * that lacks its kernels is counted; of copies nobody knows. */
static void note_late(void)
{
	if (flush.has_dropped_late || cupti_buffers_refused_late())
		session_note(load_relaxed(&session_here),
			     "CUPTI found no room for records while the "
			     "program's end waited for the GPU: copies and "
			     "memsets from before the end may be missing");
}

static void *run(void *unused)
{
	uint32_t seen = 0;

	(void)unused;
	enter();
	prctl(PR_SET_NAME, "traceprof-gpu", 0, 0, 0);
	/* Not where the thread is pinned that initialised CUDA. */
	if (process.affinity_bytes > 0)
		sched_setaffinity(0, (size_t)process.affinity_bytes,
				  (const cpu_set_t *)process.affinity);
	store_relaxed(&flush.tid, (uint32_t)syscall(SYS_gettid));
	note_versions();
	/* ACQUIRE pairs with RELEASE in cupti_flush_end(). */
	while (load_acquire(&flush.stage) == FLUSH_RUNS) {
		if (load_relaxed(&flush.asked) == seen) {
			store_relaxed(&flush.is_up, 0);
			futex_wait(&flush.asked, seen, period());
			store_relaxed(&flush.is_up, 1);
			if (load_relaxed(&flush.asked) == seen && is_time())
				store_relaxed(&flush.is_due, 1);
		}
		seen = load_relaxed(&flush.asked);
		if (load_relaxed(&flush.stage) != FLUSH_RUNS)
			break;
		cupti_neighbour_look();
		cupti_kinds_turn();
		cupti_callbacks_turn();
		look_for_another();
		if (!atomic_exchange_explicit(&flush.is_due, 0,
					      memory_order_relaxed))
			continue;
		flush.flushed_ns = clock_monotonic_ns();
		flush_all(0);
		/* Another's unfinished records would lose their times. */
		if ((atomic_exchange_explicit(&flush.force, 0,
					      memory_order_relaxed) ||
		     flush.missed_ticks) &&
		    !cupti_share_is_on())
			flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	}
	wait_for_work();
	/* First what is complete, then what isn't: forced records are lost for
	 * good. */
	flush_all(0);
	flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	note_late();
	hook_lend(NULL);
	/* RELEASE pairs with ACQUIRE in cupti_flush_end(): the buffers. */
	store_release(&flush.stage, FLUSH_DONE);
	futex_wake(&flush.stage);
	return NULL;
}

int cupti_flush_start(void)
{
	const int rc = background_start(run, STACK_BYTES);

	flush.runs = !rc;
	return rc;
}

void cupti_flush_end(unsigned int wait_ms)
{
	const uint64_t end = clock_monotonic_ns() + (uint64_t)wait_ms * 1000000;

	if (!flush.runs ||
	    atomic_exchange_explicit(&flush.ending, 1, memory_order_relaxed))
		return;
	store_relaxed(&flush.end_ms, wait_ms);
	store_relaxed(&flush.end_ticks, clock_ticks());
	/* RELEASE pairs with ACQUIRE in run(). */
	store_release(&flush.stage, FLUSH_LAST);
	cupti_flush_ask();
	/* ACQUIRE pairs with RELEASE in run(). */
	while (load_acquire(&flush.stage) != FLUSH_DONE) {
		const uint64_t now = clock_monotonic_ns();

		if (now >= end) {
			store_relaxed(
				&load_relaxed(&session_here)->head->gpu.is_cut,
				1);
			log_trouble("CUPTI did not hand over its last records "
				    "within %u ms: they are missing",
				    wait_ms);
			session_note(load_relaxed(&session_here),
				     "CUPTI's last records are missing: its "
				     "flush did not return");
			return;
		}
		futex_wait(&flush.stage, FLUSH_LAST, end - now);
	}
}

/* Half of what the end of the program may take; the rest is the writer's. */
static void at_exit(void)
{
	bool is_held;

	if (!life_is_running())
		return;
	is_held = life_hold_exit();
	cupti_end((unsigned int)process.options.exit_ms / 2);
	life_release_exit(is_held);
}

void cupti_flush_at_exit(enum cupti_moment moment)
{
	const uint32_t bit = 1u << moment;

	if (!(atomic_fetch_or_explicit(&flush.handlers, bit,
				       memory_order_relaxed) &
	      bit))
		atexit(at_exit);
}

void cupti_flush_forget(void)
{
	flush.runs = false;
	hook_lend(NULL);
}

#endif
