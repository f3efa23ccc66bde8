/* SPDX-License-Identifier: MIT */
/*
 * life.c - decides what becomes of a process, begins and ends its recording.
 *
 * Everything here is cold.  Any thread may come first, at any time: inside the
 * loader, before our constructor, in another library's.  So there is one atomic
 * state, changed by compare-and-swap.
 *
 * While one thread makes the session, other threads wait for it, since what
 * they are about to do belongs into the recording: some hundred microseconds.
 * This can't hang:
 *
 *	The one that begins takes no lock that another may hold.  Until the gate
 *	is open it makes system calls only, and asks mallinfo2(), under whose
 *	locks no hook is ever called.  What takes the loader's or the thread
 *	library's locks, names of code and the writer's thread, comes after:
 *	rings hold what is recorded till then.
 *	No signal handler runs on its thread until it is done: one could leave
 *	it by a long jump, and it would never be.  A child, forked or sharing
 *	our memory, has another pid and doesn't wait.
 *	Should it be stopped all the same, by a debugger, say, the others wait
 *	a second, once.  What they do after that is counted, and said.
 *
 * What goes wrong is one line on stderr and a closed gate: the program runs on
 * as if we weren't there.
 */
#include "preload/process/life.h"

#include "collector/system/futex.h"
#include "collector/system/log.h"
#include "collector/system/spare_stack.h"
#include "collector/session/modules.h"
#include "collector/steps/steps.h"
#include "preload/process/binding.h"
#include "preload/process/children.h"
#include "preload/process/families.h"
#include "preload/process/hook.h"
#include "preload/process/life_parts.h"
#include "preload/process/no_thread.h"
#include "preload/process/process.h"
#include "preload/process/quiet.h"
#include "preload/process/real.h"
#include "preload/process/rights.h"
#include "writer/writer.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum life_state {
	LIFE_UNDECIDED,
	LIFE_DECIDING,
	LIFE_LEFT, /* the gate is still 0: the first hook, if any, closes it */
	LIFE_WATCHING,
	LIFE_BEGINNING,
	LIFE_RUNNING,
	LIFE_ENDED,
	LIFE_CLOSED
};

/* The session's writer: nobody's yet, to be started by whoever comes first of
 * the one that began, our constructor and the end, being started, there. */
enum writer_start {
	WRITER_UNWANTED,
	WRITER_WAITS,
	WRITER_STARTING,
	WRITER_STARTED
};

#define BEGIN_WAIT_NS UINT64_C(1000000000)

/* What the start takes is 8 KiB, and the end 14; and CUPTI's, nobody knows. */
#define BEGIN_BYTES   (64u << 10)
#define END_BYTES     (256u << 10)

static START_DATA struct life {
	_Atomic uint32_t state;	 /* enum life_state; futex word */
	_Atomic int pid;	 /* whose state this is */
	_Atomic uint32_t writer; /* enum writer_start; futex word */
	_Atomic uint32_t ender;	 /* thread that ends it, 0 none; futex word */
	_Atomic bool is_held_up; /* BEGINNING for longer than anyone waits */
	_Atomic uint64_t missed; /* calls that were forwarded meanwhile, */
	_Atomic uint64_t missed_from_ns; /* the first of them, 0 none, */
	_Atomic uint64_t missed_to_ns;	 /* and the last */
	uint64_t missed_said;
	bool constructed; /* our constructor has run */
	bool forked;	  /* without exec */
	bool execs;	  /* and so ends the recording */
	bool ends;	  /* the program, with its recording */
	bool wipes;	  /* the kernel clears the gate on fork */
	struct session *session;
} life;

bool life_is_owner(void)
{
	return load_relaxed(&life.pid) == (int)getpid();
}

/* A call that waited in vain, or found that nobody waits any more. */
static COLD void count_missed(void)
{
	const uint64_t now = clock_monotonic_ns();
	uint64_t none = 0;

	atomic_compare_exchange_strong_explicit(&life.missed_from_ns, &none,
						now, memory_order_relaxed,
						memory_order_relaxed);
	store_relaxed(&life.missed_to_ns, now);
	add_relaxed(&life.missed, 1);
}

COLD uint32_t life_settled(void)
{
	const int saved = errno;

	/* ACQUIRE pairs with RELEASE in futex_change(): the gate is open. */
	if (load_acquire(&life.state) != LIFE_BEGINNING ||
	    thread_self == THREAD_BUSY || !life_is_owner())
		return gate_bits();
	if (load_relaxed(&life.is_held_up) ||
	    !futex_wait_while(&life.state, LIFE_BEGINNING, BEGIN_WAIT_NS)) {
		store_relaxed(&life.is_held_up, true);
		count_missed();
	}
	errno = saved;
	return gate_bits();
}

bool life_is_running(void)
{
	if (unlikely(load_relaxed(&life.state) == LIFE_BEGINNING))
		life_settled();
	return load_relaxed(&life.state) == LIFE_RUNNING && life_is_owner();
}

static bool move(uint32_t from, uint32_t to)
{
	/* ACQ_REL pairs with itself: who moves the state on sees what those
	 * before did. */
	return atomic_compare_exchange_strong_explicit(&life.state, &from, to,
						       memory_order_acq_rel,
						       memory_order_relaxed);
}

static COLD void close_gate(void)
{
	gate_set_record(0);
	gate_set(GATE_CLOSED | families_closed_bits());
}

/* Opens the gate for what may begin a recording. */
static COLD void watch(void)
{
	const uint32_t bits = families_watch(life.forked);

	thread_ends_start();
	gate_set(GATE_CLOSED | bits);
	store_relaxed(&life.state, LIFE_WATCHING);
}

/* Whoever still holds a pointer into it, a frame below a signal handler that
 * forked, say, writes into nothing. */
static void drop_session(void)
{
	session_drop();
	life.session = NULL;
	store_relaxed(&session_here, NULL);
	if (thread_records(thread_self))
		thread_self = NULL;
}

/* This is a forked child that has not noticed yet. */
static void start_over(void)
{
	const uint32_t state = load_relaxed(&life.state);

	store_relaxed(&life.pid, (int)getpid());
	store_relaxed(&life.writer, WRITER_UNWANTED);
	store_relaxed(&life.ender, 0);
	store_relaxed(&life.is_held_up, false);
	store_relaxed(&life.missed, 0);
	store_relaxed(&life.missed_from_ns, 0);
	life.missed_said = 0;
	process.direct = false;
	life.forked = true;
	process.complaints = 0;
	if (state >= LIFE_BEGINNING) {
		drop_session();
		writer_forget();
		families_forget();
		steps_forget();
	}
	mailbox_forget();
	children_start();
	if (state == LIFE_CLOSED || state == LIFE_ENDED ||
	    process.options.children == CHILDREN_NONE) {
		close_gate();
		store_relaxed(&life.state, LIFE_CLOSED);
	} else {
		watch();
	}
}

void life_forked(void)
{
	const int saved = errno;

	/* Another library's handler may have called a hook before. */
	if (load_relaxed(&life.state) >= LIFE_WATCHING &&
	    (gate_bits() == GATE_UNDECIDED || !life.wipes))
		start_over();
	errno = saved;
}

COLD uint32_t life_decide(void)
{
	const int saved = errno;
	const uint32_t state = load_relaxed(&life.state);

	if (real_resolve() != REAL_READY)
		return GATE_UNDECIDED;
	if (state >= LIFE_WATCHING) {
		/* Decided, and yet the gate is 0: the kernel wiped it. */
		if (gate_bits() == GATE_UNDECIDED)
			start_over();
	} else if (state == LIFE_LEFT) {
		close_gate();
		move(LIFE_LEFT, LIFE_CLOSED);
	} else if (environ && move(LIFE_UNDECIDED, LIFE_DECIDING)) {
		if (process_read()) {
			store_relaxed(&life.pid, (int)getpid());
			/* A child of a closed process is closed too, and may
			 * as well inherit that. */
			life.wipes = !gate_protect();
			binding_complete();
			real_look_closer();
			watch();
		} else {
			if (!process_kind_is_tool())
				binding_complete();
			close_gate();
			store_relaxed(&life.state, LIFE_CLOSED);
		}
	}
	errno = saved;
	return gate_bits();
}

/* The session's thread; from here on the file grows. */
static int start_writer(void)
{
	const bool known = process.affinity_bytes > 0;

	writer_add_source(families_poll, NULL);
	writer_add_source(last_thread_poll, NULL);
	writer_add_source(rights_poll, NULL);
	writer_add_source(user_signal_poll, NULL);
	writer_add_source(exit_hooks_poll, NULL);
	return writer_start(life.session, known ? process.affinity : NULL,
			    known ? (size_t)process.affinity_bytes : 0);
}

/* The gate's bits that don't depend on windows, and those that do. */
static uint32_t wanted_bits(struct session *session, uint64_t ticks,
			    uint32_t *record)
{
	uint32_t bits = GATE_CLOSED | families_begin(session, record);

	gate_set_record(*record);
	gate_publish();
	steps_start(session, ticks);
	if (steps_source() == STEP_OMP)
		bits |= GATE_OMP_MARK;
	if (steps_source() != STEP_AUTO)
		bits &= ~(uint32_t)GATE_OMP_CALLER;
	return bits;
}

/* Where shared memory has no room, in a container say. */
static void say_mortal(struct session *session)
{
	static const char text[] =
		"no room for shared memory in /dev/shm or $XDG_RUNTIME_DIR: a "
		"kill would lose what is not in the file yet, up to a second";

	log_say("%s", text);
	session_note(session, "%s", text);
}

static int begin(const char *reason)
{
	uint32_t bits, record;
	uint64_t ticks;
	int rc;

	clock_choose(process.options.clock == CLOCK_MONOTONIC_ONLY);
	ticks = clock_ticks();
	rc = session_create(&process.options, reason, &life.session);
	if (rc) {
		log_trouble("no memory for a session (%s): nothing is recorded",
			    strerrordesc_np(-rc));
		return rc;
	}
	life.session->head->record_pid = process.record_pid;
	/* Of many ranks and workers one speaks, unless something is wrong. */
	if (load_relaxed(&life.session->head->rank) > 0 || life.forked)
		log_start(true);
	if (life.forked)
		store_relaxed(&life.session->head->rank_is_late, true);
	if (!session_outlives(life.session))
		say_mortal(life.session);
	/* RELEASE pairs with the dependency of whoever loads the pointer: the
	 * session is whole. */
	store_release(&session_here, life.session);
	children_traced();
	children_watch(false);
	bits = wanted_bits(life.session, ticks, &record);
	store_relaxed(&life.writer, WRITER_WAITS);
	gate_set(bits | (steps_want_events(life.session) ? record : 0));
	return 0;
}

/* Calls of threads that did not wait any longer. */
static void say_missed(void)
{
	struct session_header *head = life.session->head;
	const uint64_t missed =
		atomic_exchange_explicit(&life.missed, 0, memory_order_relaxed);

	if (!missed)
		return;
	life.missed_said += missed;
	add_relaxed(&head->unrecorded_calls, missed);
	add_relaxed(&head->held_up_calls, missed);
	session_note(life.session,
		     "%lu {call|calls} came while the start of the recording "
		     "was held up, and {is|are} not in it",
		     (unsigned long)missed);
	log_trouble("%lu {call|calls} came while the start of the recording "
		    "was held up, and {is|are} not in it",
		    (unsigned long)missed);
}

/* Not cold, so that the linker keeps it away from what each process runs. */
#define FOR_RECORDED __attribute__((noinline))

/* They show as a gap.  On a thread of the program's that has a record now. */
static FOR_RECORDED void draw_missed(void)
{
	const struct clock_segments *clock = &life.session->head->clock;
	const double rate = (double)clock_ticks_per_second(clock) / 1e9;
	const uint64_t ticks = clock_ticks();
	const uint64_t now = clock_monotonic_ns();
	const uint64_t from = load_relaxed(&life.missed_from_ns);
	const uint64_t to = load_relaxed(&life.missed_to_ns);
	struct thread *thread = from ? hook_thread() : NULL;
	const struct event event = {
		.kind = EVENT_LOSS,
		.start_ticks = ticks - (uint64_t)((double)(now - from) * rate),
		.end_ticks = ticks - (uint64_t)((double)(now - to) * rate),
		.loss.count = life.missed_said,
	};

	if (thread && now >= to)
		thread_record(thread, &event);
}

/* Starts the writer, unless somebody has.  0 or -errno, which is said. */
static COLD int bring_writer(void)
{
	uint32_t waits = WRITER_WAITS;
	int rc;

	if (!atomic_compare_exchange_strong_explicit(
		    &life.writer, &waits, WRITER_STARTING, memory_order_relaxed,
		    memory_order_relaxed))
		return 0;
	/* A run that is killed before the writer's first pass still has names
	 * for its code. */
	modules_refresh(life.session);
	rc = start_writer();
	futex_change(&life.writer, WRITER_STARTED);
	if (rc > 0)
		no_thread_say(NULL, rc);
	if (rc < 0)
		log_trouble("the writer can't be started (%s): nothing is "
			    "recorded",
			    strerrordesc_np(-rc));
	return rc < 0 ? rc : 0;
}

static COLD void bring_writer_or_close(void)
{
	if (bring_writer() && move(LIFE_RUNNING, LIFE_CLOSED)) {
		close_gate();
		session_unlink(life.session);
	}
}

static FOR_RECORDED void begin_and_tell(void *reason)
{
	process_complain();
	if (begin(reason)) {
		close_gate();
		futex_change(&life.state, LIFE_CLOSED);
		return;
	}
	futex_change(&life.state, LIFE_RUNNING);
	say_missed();
	if (life.constructed)
		bring_writer_or_close();
}

FOR_RECORDED uint32_t life_begin_in_allocation(const char *reason)
{
	struct quiet quiet;
	sigset_t all, was;

	/* A child that shares our memory may run a hook, but owns nothing. */
	if (!life_is_owner())
		return gate_bits();
	if (load_relaxed(&life.state) != LIFE_WATCHING)
		return life_settled();
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &was);
	if (!move(LIFE_WATCHING, LIFE_BEGINNING)) {
		pthread_sigmask(SIG_SETMASK, &was, NULL);
		return life_settled();
	}
	families_watch_ends();
	last_thread_blocks(&was);
	quiet = quiet_begin();
	spare_stack_if_needed(BEGIN_BYTES, begin_and_tell, (void *)reason);
	quiet_end(&quiet);
	/* A handler that leaves us now leaves nothing half done. */
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	if (life.missed_said)
		draw_missed();
	return gate_bits();
}

/* Inside the profiler, of which a fork makes a copy, is no time for it. */
void life_child_begins(void)
{
	const int saved = errno;
	const char *reason = NULL;

	if (life_is_watching() && life.constructed && !thread_self &&
	    process.options.children == CHILDREN_ALL && life_is_owner())
		reason = families_reason_at_start();
	if (reason) {
		families_child_begins();
		life_begin(reason);
		families_child_begun();
	}
	errno = saved;
}

COLD uint32_t life_begin(const char *reason)
{
	const uint32_t bits = life_begin_in_allocation(reason);
	const int saved = errno;

	if (load_relaxed(&life.state) == LIFE_RUNNING && life_is_owner())
		exit_hooks_begin();
	errno = saved;
	return bits;
}

bool life_is_watching(void)
{
	return load_relaxed(&life.state) == LIFE_WATCHING;
}

static void report(int rc)
{
	struct writer_summary summary;
	enum program_then then = life.ends ? PROGRAM_ENDS : PROGRAM_GOES_ON;

	/* A forked child's trace has been told of. */
	if (life.execs && !life.forked)
		then = PROGRAM_BECOMES_ANOTHER;
	writer_summarise(&summary);
	closing_report(life.session, &summary, rc, life.missed_said, then);
}

/* Another thread may be starting the writer; not so if this is a signal handler
 * on the one that does. */
static bool writer_is_there(const struct thread *thread)
{
	return thread == THREAD_BUSY ||
	       futex_wait_while(&life.writer, WRITER_STARTING,
				(uint64_t)process.options.exit_ms * 1000000u);
}

static void close_all(void *thread)
{
	struct session *session = life.session;
	int rc;

	writer_ends_soon();
	steps_end(session, thread_records(thread) ? thread : NULL,
		  clock_ticks());
	close_gate();
	/* Half of the time that there is. */
	families_end((unsigned int)process.options.exit_ms / 2);
	say_missed();
	children_ended();
	if (!life.execs || !closing_is_launcher())
		children_say(session);
	rc = bring_writer();
	if (!rc && !writer_is_there(thread))
		rc = -ETIMEDOUT;
	if (!rc)
		rc = writer_stop((unsigned int)process.options.exit_ms);
	if (!rc)
		session_unlink(session);
	report(rc);
}

static void finish(void)
{
	struct thread *thread = hook_thread_at_end(life.session);
	const struct quiet quiet = quiet_begin();

	if (thread_records(thread)) {
		thread_drop_left(thread, __builtin_frame_address(0));
		families_finish(thread);
	}
	spare_stack_if_needed(END_BYTES, close_all, thread);
	quiet_end(&quiet);
}

/* While another thread ends the recording: an end of the process meanwhile
 * would leave the session behind.  A handler on that very thread can't wait. */
static COLD void wait_for_ender(void)
{
	uint32_t ender;

	/* ACQUIRE pairs with ACQ_REL in move(): the state, read before. */
	atomic_thread_fence(memory_order_acquire);
	ender = load_relaxed(&life.ender);
	if (ender && ender != (uint32_t)syscall(SYS_gettid) && life_is_owner())
		futex_wait_while(&life.ender, ender,
				 (uint64_t)process.options.exit_ms * 1000000u);
}

/* False: another thread does, or did; what it does has been waited for.  The
 * session's note is by whom, NULL for none. */
static COLD bool end_running(bool ends, const char *by)
{
	const uint32_t self = (uint32_t)syscall(SYS_gettid);
	uint32_t none = 0;
	bool is_moved;

	/* Before the state: who finds it ended finds who ends it. */
	if (!atomic_compare_exchange_strong_explicit(&life.ender, &none, self,
						     memory_order_acq_rel,
						     memory_order_relaxed)) {
		wait_for_ender();
		return false;
	}
	is_moved = move(LIFE_RUNNING, LIFE_ENDED);
	if (is_moved && by)
		session_note(life.session, "%s ended the recording", by);
	if (is_moved) {
		const bool is_held = ends && life_hold_exit();

		life.ends = ends;
		finish();
		life_release_exit(is_held);
	}
	futex_change(&life.ender, 0);
	return is_moved;
}

/* Known without a system call, which may be fatal to a child in a sandbox.  An
 * undecided child holds a copy of its parent's state. */
static COLD bool has_an_end(void)
{
	const uint32_t state = load_relaxed(&life.state);

	return (state == LIFE_BEGINNING || state == LIFE_RUNNING ||
		(state == LIFE_WATCHING && !life.forked)) &&
	       gate_bits() != GATE_UNDECIDED;
}

COLD void life_end(void)
{
	const int saved = errno;

	if (!has_an_end() || !life_is_owner()) {
		wait_for_ender();
		errno = saved;
		return;
	}
	life_settled();
	if (load_relaxed(&life.state) == LIFE_RUNNING) {
		end_running(true, NULL);
	} else if (move(LIFE_WATCHING, LIFE_ENDED)) {
		close_gate();
		closing_explain(&process.options, families_calls_watched());
	} else {
		wait_for_ender();
	}
	errno = saved;
}

void life_confine(const char *by)
{
	struct writer_summary summary;
	const int saved = errno;

	/* A forked child has not decided yet, and could not do so later. */
	if (gate_bits() == GATE_UNDECIDED)
		life_decide();
	if (!life_is_owner())
		return;
	life_settled();
	if (load_relaxed(&life.state) == LIFE_RUNNING &&
	    end_running(false, by)) {
		writer_summarise(&summary);
		last_thread_wait_gone(summary.tid);
		if (summary.path[0])
			log_say("%s ended the recording: what comes after it "
				"is in no trace",
				by);
	} else if (move(LIFE_WATCHING, LIFE_CLOSED)) {
		close_gate();
		if (process.direct)
			log_say("no trace: a seccomp filter came first");
	} else {
		wait_for_ender();
	}
	errno = saved;
}

bool life_exec(bool will_run)
{
	const int saved = errno;
	bool ends = false;

	if (will_run && life_is_running()) {
		life.execs = true;
		ends = end_running(false, NULL);
	} else {
		wait_for_ender();
	}
	errno = saved;
	return ends;
}

void life_exec_failed(void)
{
	const int saved = errno;

	log_trouble("the recording was finished for an exec that then failed "
		    "(%s); nothing is recorded after it",
		    strerrordesc_np(saved));
	errno = saved;
}

static COLD __attribute__((constructor)) void construct(void)
{
	const bool first = load_relaxed(&life.state) == LIFE_UNDECIDED;

	life.constructed = true;
	/* No page is touched, nothing looked up for what is none of our
	 * business. */
	if (first && !process_matters() && move(LIFE_UNDECIDED, LIFE_LEFT)) {
		if (!process_kind_is_tool()) {
			binding_complete();
			families_hide(false);
		}
		return;
	}
	/* The gate's page is not read before it is written: that would be one
	 * fault more. */
	if (first || gate_bits() == GATE_UNDECIDED)
		life_decide();
	families_hide(load_relaxed(&life.state) != LIFE_CLOSED);
	if (load_relaxed(&life.state) == LIFE_CLOSED)
		return;
	fork_hooks_start();
	exit_hooks_start();
	user_signal_start();
	families_prepare();
	if (families_reason_at_start())
		children_watch(true);
	/* Another library's constructor, or the loader, came first. */
	if (load_relaxed(&life.writer) == WRITER_WAITS) {
		const struct quiet quiet = quiet_begin();

		bring_writer_or_close();
		quiet_end(&quiet);
	}
}
