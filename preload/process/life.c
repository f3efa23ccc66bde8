/* SPDX-License-Identifier: MIT */
/*
 * life.c - decides what becomes of a process, begins and ends its recording.
 *
 * Everything here is cold.  Any thread may come first, at any time: inside the
 * loader, before our constructor, in another library's.  So there is one atomic
 * state, changed by compare-and-swap, and nobody ever waits for another.
 *
 * What goes wrong is one line on stderr and a closed gate: the program runs on
 * as if we weren't there.
 */
#include "preload/process/life.h"

#include "collector/system/log.h"
#include "collector/session/modules.h"
#include "collector/steps/steps.h"
#include "preload/process/families.h"
#include "preload/process/life_parts.h"
#include "preload/process/process.h"
#include "preload/process/quiet.h"
#include "preload/process/real.h"
#include "writer/writer.h"
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
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

static START_DATA struct life {
	_Atomic int state;
	_Atomic int pid;	   /* whose state this is */
	_Atomic bool writer_waits; /* to be started by the constructor */
	bool constructed;	   /* our constructor has run */
	bool forked;		   /* without exec */
	bool wipes;		   /* the kernel clears the gate on fork */
	struct session *session;
} life;

bool life_is_owner(void)
{
	return load_relaxed(&life.pid) == (int)getpid();
}

bool life_is_running(void)
{
	return load_relaxed(&life.state) == LIFE_RUNNING && life_is_owner();
}

static bool move(int from, int to)
{
	/* ACQ_REL pairs with itself: who moves the state on sees what those
	 * before did. */
	return atomic_compare_exchange_strong_explicit(&life.state, &from, to,
						       memory_order_acq_rel,
						       memory_order_relaxed);
}

/* Nothing more is wanted. */
static COLD void close_gate(void)
{
	gate_set_record(0);
	gate_set(GATE_CLOSED | families_closed_bits());
}

/* Opens the gate for what may make the process interesting. */
static COLD void watch(void)
{
	const uint32_t bits = families_watch(life.forked);

	thread_ends_start();
	gate_set(GATE_CLOSED | bits);
	store_relaxed(&life.state, LIFE_WATCHING);
}

/* Puts private memory where the parent's session is mapped: whoever still
 * holds a pointer into it, a frame below a signal handler that forked, say,
 * writes into nothing. */
static void drop_session(void)
{
	if (life.session)
		mmap(life.session->base, life.session->bytes,
		     PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
		     -1, 0);
	life.session = NULL;
	store_relaxed(&session_here, NULL);
	if (thread_records(thread_self))
		thread_self = NULL;
}

/* This is a forked child that has not noticed yet. */
static void start_over(void)
{
	const int state = load_relaxed(&life.state);

	store_relaxed(&life.pid, (int)getpid());
	store_relaxed(&life.writer_waits, false);
	process.direct = false;
	life.forked = true;
	process.complaints = 0;
	if (state >= LIFE_BEGINNING) {
		drop_session();
		writer_forget();
		families_forget();
		steps_forget();
	}
	control_forget();
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
	const int state = load_relaxed(&life.state);

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
			real_look_closer();
			watch();
		} else {
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

	writer_add_source(families_cost_poll, NULL);
	writer_add_source(last_thread_poll, NULL);
	writer_add_source(user_signal_poll, NULL);
	return writer_start(life.session, known ? process.affinity : NULL,
			    known ? (size_t)process.affinity_bytes : 0);
}

/* The gate's bits that don't depend on windows, and those that do. */
static uint32_t wanted_bits(struct session *session, uint32_t *record)
{
	uint32_t bits = GATE_CLOSED | families_begin(session, record);

	gate_set_record(*record);
	gate_publish();
	steps_start(session);
	if (steps_source() == STEP_OMP)
		bits |= GATE_OMP_MARK;
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
	const char *object;
	int rc;

	clock_choose(process.options.clock == CLOCK_MONOTONIC_ONLY);
	rc = session_create(&process.options, reason, &life.session);
	if (rc) {
		log_trouble("no memory for a session (%s): nothing is recorded",
			    strerrordesc_np(-rc));
		return rc;
	}
	/* Of many ranks and workers one speaks, unless something is wrong. */
	if (life.session->head->rank > 0 || life.forked)
		log_start(true);
	if (!session_outlives(life.session))
		say_mortal(life.session);
	if (!real_sees_heap(&object))
		session_note(life.session,
			     "heap not recorded: the allocator is built into "
			     "%s",
			     object);
	/* RELEASE pairs with the dependency of whoever loads the pointer: the
	 * session is whole. */
	store_release(&session_here, life.session);
	bits = wanted_bits(life.session, &record);
	if (!life.constructed) {
		store_relaxed(&life.writer_waits, true);
	} else {
		/* A run that is killed before the writer's first pass still
		 * has names for its code. */
		modules_refresh(life.session);
		rc = start_writer();
		if (rc)
			goto fail;
	}
	store_relaxed(&life.state, LIFE_RUNNING);
	gate_set(bits | (steps_want_events(life.session) ? record : 0));
	return 0;
fail:
	log_trouble("the writer thread can't be started (%s): nothing is "
		    "recorded",
		    strerrordesc_np(-rc));
	session_unlink(life.session);
	return rc;
}

COLD uint32_t life_begin(const char *reason)
{
	struct quiet quiet;

	/* A child that shares our memory may run a hook, but owns nothing. */
	if (!life_is_owner() || !move(LIFE_WATCHING, LIFE_BEGINNING))
		return gate_bits();
	quiet = quiet_begin();
	process_complain();
	if (begin(reason)) {
		store_relaxed(&life.state, LIFE_CLOSED);
		close_gate();
	}
	quiet_end(&quiet);
	return gate_bits();
}

bool life_is_watching(void)
{
	return load_relaxed(&life.state) == LIFE_WATCHING;
}

static void report(int rc)
{
	struct writer_summary summary;

	writer_summarise(&summary);
	const struct closing closing = {
		.files = summary.files,
		.written = summary.written,
		.cut = summary.cut,
		.dropped = summary.dropped,
		.bytes = summary.bytes,
		.hooks_ns = summary.hooks_ns,
		.writer_ns = summary.writer_cpu_ns,
		.path = summary.path,
		.timed_out = rc == -ETIMEDOUT,
		.gave_up = rc == -ECANCELED,
	};

	closing_report(life.session, &closing);
}

/* Ends the recording. */
static void finish(void)
{
	struct session *session = life.session;
	struct thread *thread = thread_self;
	const struct quiet quiet = quiet_begin();
	int rc = 0;

	if (thread_records(thread)) {
		thread_drop_left(thread, __builtin_frame_address(0));
		families_finish(thread);
	}
	steps_end(session, thread_records(thread) ? thread : NULL,
		  clock_ticks());
	close_gate();
	/* Half of the time that there is. */
	families_end((unsigned int)process.options.exit_ms / 2);
	if (atomic_exchange_explicit(&life.writer_waits, false,
				     memory_order_relaxed))
		rc = start_writer();
	if (!rc)
		rc = writer_stop((unsigned int)process.options.exit_ms);
	if (!rc)
		session_unlink(session);
	report(rc);
	quiet_end(&quiet);
}

/* Known without a system call, which may be fatal to a child in a sandbox.  An
 * undecided child holds a copy of its parent's state. */
static COLD bool has_an_end(void)
{
	const int state = load_relaxed(&life.state);

	return (state == LIFE_RUNNING ||
		(state == LIFE_WATCHING && !life.forked)) &&
	       gate_bits() != GATE_UNDECIDED;
}

COLD void life_end(void)
{
	const int saved = errno;

	if (!has_an_end() || !life_is_owner())
		return;
	if (move(LIFE_RUNNING, LIFE_ENDED)) {
		finish();
	} else if (move(LIFE_WATCHING, LIFE_ENDED)) {
		close_gate();
		if (process.direct)
			closing_explain(&process.options,
					families_calls_watched());
	}
	errno = saved;
}

void life_confine(void)
{
	struct writer_summary summary;
	const int saved = errno;

	/* A forked child has not decided yet, and could not do so later. */
	if (gate_bits() == GATE_UNDECIDED)
		life_decide();
	if (!life_is_owner())
		return;
	if (move(LIFE_RUNNING, LIFE_ENDED)) {
		session_note(life.session, "seccomp ended the recording");
		finish();
		writer_summarise(&summary);
		last_thread_wait_gone(summary.tid);
	} else if (move(LIFE_WATCHING, LIFE_CLOSED)) {
		close_gate();
		if (process.direct)
			log_say("no trace: a seccomp filter came first");
	}
	errno = saved;
}

bool life_exec(void)
{
	const int saved = errno;
	const bool ends = life_is_running() && move(LIFE_RUNNING, LIFE_ENDED);

	if (ends)
		finish();
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

/* A session that was made before us waits for its writer: another library's
 * constructor, or the loader, came first. */
static void start_late_writer(void)
{
	const struct quiet quiet = quiet_begin();
	int rc;

	if (atomic_exchange_explicit(&life.writer_waits, false,
				     memory_order_relaxed)) {
		rc = start_writer();
		if (rc && move(LIFE_RUNNING, LIFE_CLOSED)) {
			close_gate();
			log_trouble("the writer thread can't be started (%s): "
				    "nothing is recorded",
				    strerrordesc_np(-rc));
			session_unlink(life.session);
		}
	}
	quiet_end(&quiet);
}

static __attribute__((constructor)) void construct(void)
{
	const bool first = load_relaxed(&life.state) == LIFE_UNDECIDED;

	life.constructed = true;
	/* No page is touched, nothing looked up for what is none of our
	 * business. */
	if (first && !process_matters() && move(LIFE_UNDECIDED, LIFE_LEFT))
		return;
	/* The gate's page is not read before it is written: that would be one
	 * fault more. */
	if (first || gate_bits() == GATE_UNDECIDED)
		life_decide();
	if (load_relaxed(&life.state) == LIFE_CLOSED)
		return;
	fork_hooks_start();
	exit_hooks_start();
	user_signal_start();
	families_prepare();
	if (load_relaxed(&life.writer_waits))
		start_late_writer();
}
