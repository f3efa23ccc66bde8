/* SPDX-License-Identifier: MIT */
/* cupti_neighbour.c - CUPTI to another and back; see cupti_neighbour.h. */
#ifdef HAVE_CUPTI

#include "preload/cuda/cupti_neighbour.h"

#include "collector/system/clock.h"
#include "collector/system/futex.h"
#include "collector/system/log.h"
#include "collector/steps/steps.h"
#include "preload/cuda/cupti_buffers.h"
#include "preload/cuda/cupti_clock.h"
#include "preload/cuda/cupti_share.h"
#include "preload/cuda/cupti_source.h"
#include "preload/process/quiet.h"
#include <sys/syscall.h>
#include <unistd.h>

/* The program's thread waits at most so long for us to let go. */
#define LEAVE_NS   UINT64_C(2000000000)
/* The other is done if it has nothing on and is silent for so long: of a
 * second. */
#define IDLE_SHARE 2u
/* CUPTI's calls for that have been seen to hang: then it is given up. */
#define HANG_NS	   (UINT64_C(2000000) * CUPTI_TURN_MS)
/* Between two looks of the writer's. */
#define PASS_NS	   UINT64_C(1000000000)
#define INSIDE_MAX 32u

enum holder { OURS, LEAVING, THEIRS, RETURNING, TAKEN };

static struct {
	_Atomic uint32_t holder; /* enum holder; futex word */
	/* Its own, whoever CUPTI is with. */
	_Atomic uint64_t kinds; /* a bit each */
	_Atomic uint64_t last_ticks;
	_Atomic uint32_t subscriptions;
	_Atomic uint32_t wants_subscription;
	/* Its threads inside of a call that may take CUPTI; how many more. */
	_Atomic uint32_t inside[INSIDE_MAX];
	_Atomic uint32_t more_inside;
	_Atomic bool said;
	/* Our thread is at it since then, monotonic; 0 it isn't. */
	_Atomic uint64_t busy_ns;
	/* What it registered last: CUPTI has room for one of each. */
	CUpti_TimestampCallbackFunc _Atomic clock;
	CUpti_BuffersCallbackRequestFunc _Atomic request;
	CUpti_BuffersCallbackCompleteFunc _Atomic complete;
} other;

bool cupti_is_ours(void)
{
	/* ACQUIRE pairs with RELEASE in move(): CUPTI is set up. */
	return cupti_is_alive() && load_acquire(&other.holder) == OURS;
}

static bool move(enum holder from, enum holder to)
{
	uint32_t was = from;
	const bool moved = atomic_compare_exchange_strong_explicit(
		&other.holder, &was, to, memory_order_acq_rel,
		memory_order_relaxed);

	if (moved)
		futex_wake(&other.holder);
	return moved;
}

/* One after the other: who moves the holder on. */
static void time_begins(uint64_t start, bool is_loss)
{
	struct session *session = load_relaxed(&session_here);
	struct gpu_state *gpu = &session->head->gpu;
	const uint32_t number = load_relaxed(&gpu->taken_count);
	struct gpu_taken *taken = &gpu->taken[number % GPU_TAKEN_MAX];

	if (number == GPU_TAKEN_MAX)
		session_note(session, "CUPTI was another profiler's more often "
				      "than is drawn");
	store_relaxed(&taken->start_ticks, start);
	store_relaxed(&taken->end_ticks, 0);
	store_relaxed(&taken->tid, (uint32_t)syscall(SYS_gettid));
	store_relaxed(&taken->is_loss, is_loss);
	/* RELEASE pairs with ACQUIRE in gpu_taken_draw(). */
	store_release(&gpu->taken_count, number + 1);
}

static void time_ends(void)
{
	struct gpu_state *gpu = &load_relaxed(&session_here)->head->gpu;
	const uint32_t count = load_relaxed(&gpu->taken_count);

	if (count)
		store_relaxed(
			&gpu->taken[(count - 1) % GPU_TAKEN_MAX].end_ticks,
			clock_ticks());
}

static void say(const char *how)
{
	session_note(load_relaxed(&session_here),
		     "another profiler in the program %s CUPTI: no records of "
		     "the GPU until it was done",
		     how);
	if (!atomic_exchange_explicit(&other.said, true, memory_order_relaxed))
		log_trouble("another profiler in the program uses CUPTI: "
			    "meanwhile the GPU is not recorded");
}

/* CUPTI stays as its first subscriber wanted it. */
static void say_refused(void)
{
	if (atomic_exchange_explicit(&other.said, true, memory_order_relaxed))
		return;
	session_note(load_relaxed(&session_here),
		     "another profiler in the program doesn't share CUPTI");
	log_trouble("another profiler in the program doesn't share CUPTI and "
		    "is refused: TRACEPROF_CUPTI_SHARE=off lets it in");
}

/* --- to another ----------------------------------------------------------- */

bool cupti_neighbour_is_first(void)
{
	if (!load_relaxed(&other.subscriptions) && !load_relaxed(&other.kinds))
		return false;
	if (move(OURS, THEIRS)) {
		time_begins(clock_ticks(), false);
		say("had");
	}
	return true;
}

/* Waits for our thread, which does it; CUPTI's calls may hang. */
static void leave(void)
{
	const uint64_t until = clock_monotonic_ns() + LEAVE_NS;
	uint64_t now;

	time_begins(clock_ticks(), false);
	cupti_flush_ask();
	while (load_acquire(&other.holder) == LEAVING &&
	       (now = clock_monotonic_ns()) < until)
		futex_wait(&other.holder, LEAVING, until - now);
	if (move(LEAVING, THEIRS))
		session_note(load_relaxed(&session_here),
			     "CUPTI was handed over, and our last records did "
			     "not come in time");
	say("took");
}

/* SEQ_CST: either take_up() sees it, or who enters sees that it returns. */
static void enter(void)
{
	const uint32_t tid = (uint32_t)syscall(SYS_gettid);

	for (uint32_t i = 0; i < INSIDE_MAX; i++) {
		uint32_t none = 0;

		if (atomic_compare_exchange_strong_explicit(
			    &other.inside[i], &none, tid, memory_order_seq_cst,
			    memory_order_relaxed))
			return;
	}
	atomic_fetch_add_explicit(&other.more_inside, 1, memory_order_seq_cst);
}

/* One that was cancelled in its call has left it. */
static bool is_anyone_inside(void)
{
	for (uint32_t i = 0; i < INSIDE_MAX; i++) {
		uint32_t tid = atomic_load_explicit(&other.inside[i],
						    memory_order_seq_cst);

		if (!tid)
			continue;
		if (!syscall(SYS_tgkill, getpid(), (int)tid, 0))
			return true;
		atomic_compare_exchange_strong_explicit(&other.inside[i], &tid,
							0, memory_order_relaxed,
							memory_order_relaxed);
	}
	return atomic_load_explicit(&other.more_inside, memory_order_seq_cst);
}

void cupti_neighbour_comes(bool subscribes)
{
	const uint64_t until = clock_monotonic_ns() + LEAVE_NS;
	struct quiet quiet;

	enter();
	if (!cupti_is_alive())
		return;
	quiet = quiet_begin();
	if (cupti_share_is_on()) {
		say_refused();
		quiet_end(&quiet);
		return;
	}
	if (subscribes)
		store_relaxed(&other.wants_subscription, 1);
	while (load_acquire(&other.holder) == RETURNING &&
	       clock_monotonic_ns() < until)
		futex_wait(&other.holder, RETURNING, LEAVE_NS / 20);
	if (move(OURS, LEAVING))
		leave();
	else if (subscribes)
		cupti_callbacks_unsubscribe();
	quiet_end(&quiet);
}

void cupti_neighbour_is_done(void)
{
	const uint32_t tid = (uint32_t)syscall(SYS_gettid);

	store_relaxed(&other.last_ticks, clock_ticks());
	for (uint32_t i = 0; i < INSIDE_MAX; i++) {
		if (load_relaxed(&other.inside[i]) != tid)
			continue;
		/* RELEASE pairs with the look in take_up(): it was made. */
		store_release(&other.inside[i], 0);
		return;
	}
	/* RELEASE pairs with the look in take_up(): its call is made. */
	atomic_fetch_sub_explicit(&other.more_inside, 1, memory_order_release);
}

void cupti_neighbour_subscribed(bool is_subscribed)
{
	if (is_subscribed)
		add_relaxed(&other.subscriptions, 1);
	else if (load_relaxed(&other.subscriptions))
		atomic_fetch_sub_explicit(&other.subscriptions, 1,
					  memory_order_relaxed);
}

void cupti_neighbour_registered(CUpti_BuffersCallbackRequestFunc request,
				CUpti_BuffersCallbackCompleteFunc complete)
{
	cupti_buffers_strange(complete);
	store_relaxed(&other.complete, complete);
	store_relaxed(&other.request, request);
}

void cupti_neighbour_timed(CUpti_TimestampCallbackFunc clock)
{
	store_relaxed(&other.clock, clock);
}

void cupti_neighbour_turned(uint32_t kind, bool on)
{
	const uint64_t bit = UINT64_C(1) << (kind % 64);

	store_relaxed(&other.last_ticks, clock_ticks());
	if (on)
		atomic_fetch_or_explicit(&other.kinds, bit,
					 memory_order_relaxed);
	else
		atomic_fetch_and_explicit(&other.kinds, ~bit,
					  memory_order_relaxed);
}

/* All that CUPTI knew is gone; our subscription went before. */
void cupti_neighbour_finalised(void)
{
	store_relaxed(&other.kinds, 0);
	store_relaxed(&other.subscriptions, 0);
	store_relaxed(&other.clock, NULL);
	store_relaxed(&other.request, NULL);
}

/* --- our thread ----------------------------------------------------------- */

/* It may have registered its own before we came, or so long before it turns
 * anything on that we took it for idle. */
static void give_back(void)
{
	const CUpti_TimestampCallbackFunc clock = load_relaxed(&other.clock);
	const CUpti_BuffersCallbackRequestFunc request =
		load_relaxed(&other.request);

	if (clock && cupti.cuptiActivityRegisterTimestampCallback)
		cupti.cuptiActivityRegisterTimestampCallback(clock);
	if (request)
		cupti.cuptiActivityRegisterCallbacks(
			request, load_relaxed(&other.complete));
}

/* It didn't wait any longer, and turned kinds on that we turned off since. */
static void turn_on_again(void)
{
	const uint64_t on = load_relaxed(&other.kinds);

	for (unsigned int kind = 0; kind < 64; kind++) {
		if (on >> kind & 1)
			cupti.cuptiActivityEnable((CUpti_ActivityKind)kind);
	}
}

/* Kernels may take longer than it waits: what would be in its way goes before
 * them, buffers, threads' numbers and subscription. */
static void clear_the_way(void)
{
	cupti.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	cupti.cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT);
	if (load_relaxed(&other.wants_subscription))
		cupti_callbacks_unsubscribe();
}

static bool is_leaving(void)
{
	return load_relaxed(&other.holder) == LEAVING;
}

static void let_go(void)
{
	cupti_kinds_leave(clear_the_way);
	/* What came meanwhile; later, it would be the other's. */
	if (is_leaving())
		cupti.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	cupti_clock_leave(is_leaving);
	cupti_buffers_lose(clock_ticks());
	cupti_attach_leave();
	give_back();
	if (!move(LEAVING, THEIRS))
		turn_on_again();
}

static bool is_idle(void)
{
	const struct session *session = load_relaxed(&session_here);
	const uint64_t idle =
		clock_ticks_per_second(&session->head->clock) / IDLE_SHARE;

	return !load_relaxed(&other.kinds) &&
	       clock_ticks() - load_relaxed(&other.last_ticks) > idle;
}

static void take_up(void)
{
	struct session *session = load_relaxed(&session_here);

	if (!move(THEIRS, RETURNING))
		return;
	/* SEQ_CST: see enter(). */
	if (is_anyone_inside()) {
		move(RETURNING, THEIRS);
		return;
	}
	/* What it has left there comes to it. */
	cupti.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	if (!load_relaxed(&other.subscriptions))
		store_relaxed(&other.wants_subscription, 0);
	if (!cupti_callbacks_return(load_relaxed(&other.wants_subscription)))
		session_note(session, "the other profiler keeps CUPTI's "
				      "subscription: no callbacks from now on");
	if (!cupti_attach_again()) {
		move(RETURNING, TAKEN);
		return;
	}
	time_ends();
	move(RETURNING, OURS);
	cupti_kinds_want(steps_want_gpu(session));
	session_note(session, "CUPTI is ours again");
}

void cupti_neighbour_look(void)
{
	store_relaxed(&other.busy_ns, clock_monotonic_ns());
	switch (load_acquire(&other.holder)) {
	case LEAVING: let_go(); break;
	case THEIRS:
		/* Not if it was given up meanwhile. */
		if (is_idle() && cupti_is_alive())
			take_up();
		break;
	default: break;
	}
	store_relaxed(&other.busy_ns, 0);
}

/* --- the writer's thread -------------------------------------------------- */

/* So long our thread has been at one round, as far as this one saw: a process
 * that was stopped meanwhile hangs in nothing. */
static uint64_t busy_for(void)
{
	static uint64_t round_ns, seen_ns, sum_ns;
	const uint64_t since = load_relaxed(&other.busy_ns);
	const uint64_t now = clock_monotonic_ns();

	if (since != round_ns)
		sum_ns = 0;
	else if (since)
		sum_ns += min_u64(now - seen_ns, PASS_NS);
	round_ns = since;
	seen_ns = now;
	return sum_ns;
}

void cupti_neighbour_watch(void)
{
	struct session *session = load_relaxed(&session_here);

	if (busy_for() < HANG_NS || !cupti_is_alive())
		return;
	session_note(session, "CUPTI hangs since it was handed to another "
			      "profiler or taken back: no records of the GPU "
			      "from then on");
	log_trouble("CUPTI hangs since another profiler in the program took "
		    "it: the GPU is not recorded any more");
	store_relaxed(&session->head->gpu.is_cut, 1);
	cupti_kill();
}

void cupti_neighbour_took(unsigned int buffers, uint64_t since)
{
	if (!move(OURS, TAKEN))
		return;
	/* What was in them is missing since the oldest was lent. */
	time_begins(since, true);
	time_ends();
	time_begins(clock_ticks(), false);
	if (buffers)
		session_note(load_relaxed(&session_here),
			     "%u buffers did not come back from CUPTI: another "
			     "profiler in the program has taken it",
			     buffers);
	else
		session_note(load_relaxed(&session_here),
			     "CUPTI asks for no buffer any more: another "
			     "profiler in the program has taken it");
	log_trouble("another profiler in the program has taken CUPTI: the GPU "
		    "is not recorded any more");
}

void cupti_neighbour_forget(void)
{
	store_relaxed(&other.holder, OURS);
	for (uint32_t i = 0; i < INSIDE_MAX; i++)
		store_relaxed(&other.inside[i], 0);
	store_relaxed(&other.more_inside, 0);
	store_relaxed(&other.busy_ns, 0);
}

#endif
