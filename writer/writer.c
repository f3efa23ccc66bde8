/* SPDX-License-Identifier: MIT */
/*
 * writer.c - the background thread; see writer.h.
 *
 * One thread makes passes over the session until it is told to stop or can't go
 * on.  `lock` is held during a pass and while totals are read; no hook takes
 * it.  The thread counts as busy, so whatever it calls is only forwarded.
 */
#include "writer/writer.h"

#include "collector/system/futex.h"
#include "collector/system/loader.h"
#include "collector/system/log.h"
#include "collector/system/proc.h"
#include "collector/system/spare_stack.h"
#include "collector/session/modules.h"
#include "collector/session/pool.h"
#include "collector/steps/steps.h"
#include "writer/events/event_json.h"
#include "writer/account.h"
#include "writer/checkpoint.h"
#include "writer/flight/history.h"
#include "writer/file/output.h"
#include "writer/killed_runs.h"
#include "writer/leave.h"
#include "writer/most_time.h"
#include "writer/pace.h"
#include "writer/pass.h"
#include "writer/recovery.h"
#include "writer/request.h"
#include "writer/summary.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Before the last pass, while a source still has something. */
#define LAST_PASSES_MOST 1000
/* The static TLS of everything that is loaded comes out of it. */
#define STACK_BYTES	 (2u << 20)
#define SECOND_NS	 UINT64_C(1000000000)
#define ANSWER_NS	 (2 * SECOND_NS)
#define SHOWN_PASS_NS	 UINT64_C(1000000)
#define SOURCES_MAX	 8u
/* A program that began without stdin, stdout or stderr opens it by then. */
#define ASIDE_NS	 (2 * SECOND_NS)
#define ASIDE_LOOK_NS	 UINT64_C(2000000)

enum writer_phase {
	WRITER_NONE,
	WRITER_RUNS,
	WRITER_AWAY, /* without a thread, until one is started again */
	WRITER_HERE, /* the thread that ends the program does the rest */
	WRITER_DONE,
	WRITER_GAVE_UP,
	WRITER_LEFT, /* a process of its own finishes the file */
};

/* What is asked of the thread, and whether it does it: who asked in vain takes
 * it back. */
enum writer_goes { WRITER_STAYS, WRITER_IS_TO_GO, WRITER_GOES };

static struct {
	struct writer_state state;
	struct session *session;
	pthread_mutex_t lock;
	pthread_mutex_t summary_lock;
	struct writer_summary summary;
	struct pace pace;
	struct requests requests;
	_Atomic uint32_t phase;	   /* enum writer_phase; futex word */
	_Atomic uint32_t stopping; /* somebody asked already */
	_Atomic uint32_t stop;
	_Atomic uint32_t goes;	   /* enum writer_goes */
	_Atomic uint32_t asked;	   /* questions to the writer */
	_Atomic uint32_t answered; /* those answered; futex word */
	uint64_t refreshed_ns;	   /* when the modules were last looked at */
	uint64_t stop_ticks;
	struct killed_runs killed;
	bool has_begun, has_looked; /* whatever thread did */
	uint32_t tid;		    /* of the thread now */
	char affinity[CPU_ALLOC_SIZE(1024)];
	size_t affinity_bytes;
} writer = {.lock = PTHREAD_MUTEX_INITIALIZER,
	    .summary_lock = PTHREAD_MUTEX_INITIALIZER};

/* What else brings events, once in each pass. */
static struct {
	_Atomic uint32_t count;
	struct {
		void (*poll)(void *arg);
		void *arg;
	} source[SOURCES_MAX];
} sources;

static void sources_poll(void)
{
	/* ACQUIRE pairs with RELEASE in writer_add_source(). */
	const uint32_t count = load_acquire(&sources.count);

	for (uint32_t i = 0; i < count && i < SOURCES_MAX; i++) {
		/* ACQUIRE as above: a slot is counted before it is filled. */
		if (__atomic_load_n(&sources.source[i].poll, __ATOMIC_ACQUIRE))
			sources.source[i].poll(sources.source[i].arg);
	}
}

int writer_add_source(void (*poll)(void *arg), void *arg)
{
	const uint32_t at = add_relaxed(&sources.count, 1);

	if (at >= SOURCES_MAX)
		return -ENOSPC;
	sources.source[at].arg = arg;
	/* RELEASE pairs with ACQUIRE in sources_poll(): the argument. */
	__atomic_store_n(&sources.source[at].poll, poll, __ATOMIC_RELEASE);
	return 0;
}

static void sources_forget(void)
{
	memset(&sources, 0, sizeof(sources));
}

static void note_summary(void)
{
	pthread_mutex_lock(&writer.summary_lock);
	summary_take(&writer.summary, &writer.state);
	writer.summary.tid = writer.tid;
	pthread_mutex_unlock(&writer.summary_lock);
}

/* From totals that are there anyway. */
static void note_most(void)
{
	struct writer_summary *summary = &writer.summary;

	pthread_mutex_lock(&writer.summary_lock);
	summary->drawn_ns = most_time(&writer.state.totals, summary->most,
				      sizeof(summary->most));
	if (!writer.session->head->options.verdict)
		summary->most[0] = '\0';
	pthread_mutex_unlock(&writer.summary_lock);
}

/* Draws a pass that took long enough to be seen. */
static void show_pass(uint64_t start_ticks, uint64_t cpu_ns)
{
	struct writer_state *state = &writer.state;
	const uint64_t end_ticks = clock_ticks();

	if (cpu_ns < SHOWN_PASS_NS || !state->file.is_open ||
	    state->file.detail_is_over ||
	    writer_state_place(state, start_ticks) != PLACE_WRITE ||
	    writer_state_place(state, end_ticks) != PLACE_WRITE)
		return;
	event_json_pass(state, timeline_ns(&state->timeline, start_ticks),
			timeline_ns(&state->timeline, end_ticks));
}

static void refresh_modules(void)
{
	writer.refreshed_ns = clock_monotonic_ns();
	modules_refresh(writer.session);
}

/* One pass with all that goes with it.  Returns the events that it read. */
static uint64_t make_pass(uint64_t *cpu_ns)
{
	struct session_header *head = writer.session->head;
	const uint64_t cpu_start = account_cpu_ns(&writer.state);
	/* ACQUIRE pairs with RELEASE in ask(). */
	const uint32_t asked = load_acquire(&writer.asked);
	const uint64_t start_ticks = clock_ticks();
	uint64_t events;

	sources_poll();
	pthread_mutex_lock(&writer.lock);
	if (!clock_due_in(&head->clock))
		clock_anchor(&head->clock);
	/* What was sampled is named by what lies there. */
	if (head->options.sample ||
	    clock_monotonic_ns() - writer.refreshed_ns >= SECOND_NS)
		refresh_modules();
	steps_time(writer.session);
	request_poll(&writer.requests, &writer.state);
	writer.state.is_asked =
		asked != load_relaxed(&writer.answered) || writer.requests.word;
	events = pass_run(&writer.state);
	request_done(&writer.requests, &writer.state);
	*cpu_ns = account_cpu_ns(&writer.state) - cpu_start;
	show_pass(start_ticks, *cpu_ns);
	pthread_mutex_unlock(&writer.lock);
	chunk_prefault_refill(&writer.state.prefault, writer.session);
	note_summary();
	add_relaxed(&head->writer_passes, 1);
	futex_wake(&head->writer_passes);
	if (asked != load_relaxed(&writer.answered))
		futex_change(&writer.answered, asked);
	return events;
}

static void make_one_pass(void)
{
	uint64_t cpu_ns;

	make_pass(&cpu_ns);
}

/* In vain if the thread is put away meanwhile: then its next one goes on. */
static void look_after_killed(void)
{
	const struct session_header *head = writer.session->head;

	killed_runs_finish(&writer.killed, head, make_one_pass);
	if (load_relaxed(&writer.goes))
		return;
	killed_runs_say(&writer.killed, head);
	writer.has_looked = true;
}

/* A source may have more than one pass takes. */
static void poll_to_the_end(void)
{
	uint64_t cpu_ns;

	sources_poll();
	for (int i = 0; i < LAST_PASSES_MOST && !writer.state.error &&
			load_relaxed(&writer.session->head->gpu.is_live);
	     i++)
		make_pass(&cpu_ns);
}

/* The session stays for `traceprof recover`, unless there is nothing that it
 * could go on from.  In a sandbox there is no folder, but there is one
 * outside. */
static void give_up(void)
{
	if (!writer.state.file.file_index && !output_is_abroad())
		session_unlink(writer.session);
	futex_change(&writer.phase, WRITER_GAVE_UP);
}

/* The file is whole: nothing is to be recovered. */
static void end_session(void)
{
	store_release(&writer.session->head->state, SESSION_ENDED);
	spool_end(&writer.state.spool, true);
	session_unlink(writer.session);
}

/* In a process that has nothing else to do.  Where it can't write, the session
 * stays for `traceprof recover`; who removed the file wants no other one. */
static void finish_alone(void *arg)
{
	struct session_header *head = writer.session->head;
	int rc;

	(void)arg;
	store_relaxed(&head->finisher, (uint32_t)getpid());
	rc = pass_finish(&writer.state, writer.stop_ticks);
	if (!rc || rc == -ENOENT)
		end_session();
}

/* Much is left, and the program needn't wait for it. */
static bool leave(void)
{
	struct writer_state *state = &writer.state;
	struct session_header *head = writer.session->head;
	const uint64_t before_ns = state->cpu_before_ns;
	uint64_t left_ns;
	bool seeks_step;

	/* What is wrong with the file is said while there is somebody to read
	 * it. */
	if (!leave_is_worth_while(state, &left_ns))
		return false;
	seeks_step = leave_find_step(state, &left_ns);
	if (checkpoint_make(state))
		return false;
	note_summary();
	/* Before the program can end: who waits for it looks for this. */
	head->left_events = writer.summary.seen - writer.summary.dropped;
	store_relaxed(&head->finisher, (uint32_t)getpid());
	writer.summary.left = account_left(state);
	writer.summary.left_ns = left_ns;
	writer.summary.seeks_step = seeks_step;
	state->cpu_before_ns = account_cpu_ns(state);
	if (!leave_start(state, finish_alone, NULL))
		return true;
	store_relaxed(&head->finisher, 0);
	state->cpu_before_ns = before_ns;
	return false;
}

static void finish(void)
{
	struct writer_state *state = &writer.state;
	struct session_header *head = writer.session->head;
	int rc;

	poll_to_the_end();
	pthread_mutex_lock(&writer.lock);
	clock_anchor(&head->clock);
	modules_refresh(writer.session);
	if (leave()) {
		pthread_mutex_unlock(&writer.lock);
		futex_change(&writer.phase, WRITER_LEFT);
		return;
	}
	rc = pass_finish(state, writer.stop_ticks);
	pthread_mutex_unlock(&writer.lock);
	note_summary();
	note_most();
	if (rc) {
		give_up();
		return;
	}
	end_session();
	futex_change(&writer.phase, WRITER_DONE);
}

/* What the mode is likely to need, at once: in the program's first moments the
 * other processors are idle.  The end of a short run doesn't wait for it. */
static void prefault_all(void)
{
	while (!load_relaxed(&writer.stop) && !load_relaxed(&writer.goes) &&
	       chunk_prefault_extend(&writer.state.prefault, writer.session))
		;
}

/* While a number of stdin, stdout or stderr is free, what is opened here would
 * take it, and the program may be about to: nothing is, for a moment.  Somebody
 * who wants something of the writer wakes it. */
static void wait_aside(void)
{
	struct clock_segments *clock = &writer.session->head->clock;
	const uint64_t end = clock_monotonic_ns() + ASIDE_NS;

	while (!proc_is_aside() && clock_monotonic_ns() < end &&
	       !load_relaxed(&writer.pace.wake) &&
	       !pace_is_behind(&writer.pace, writer.session)) {
		if (!clock_due_in(clock))
			clock_anchor(clock);
		futex_wait(&writer.pace.wake, 0, ASIDE_LOOK_NS);
	}
}

/* Ends this thread, and nothing else, if that is asked. */
static bool goes_away(void)
{
	uint32_t asked = WRITER_IS_TO_GO;

	if (likely(load_relaxed(&writer.goes) == WRITER_STAYS) ||
	    !atomic_compare_exchange_strong_explicit(
		    &writer.goes, &asked, WRITER_GOES, memory_order_relaxed,
		    memory_order_relaxed))
		return false;
	writer.state.cpu_before_ns = account_cpu_ns(&writer.state);
	futex_change(&writer.phase, WRITER_AWAY);
	return true;
}

static void begin(void)
{
	wait_aside();
	refresh_modules();
	writer.has_begun = true;
}

/* False: it goes on in another thread. */
static bool make_passes(void)
{
	bool is_first = !writer.has_begun;
	uint64_t cpu_ns;

	if (is_first)
		begin();
	/* ACQUIRE pairs with RELEASE in writer_stop(): stop_ticks. */
	while (!load_acquire(&writer.stop)) {
		const uint64_t events = make_pass(&cpu_ns);

		if (writer.state.error)
			break;
		if (goes_away())
			return false;
		if (is_first)
			prefault_all();
		is_first = false;
		if (!writer.has_looked &&
		    !pace_is_behind(&writer.pace, writer.session))
			look_after_killed();
		writer.pace.most_ns = pace_longest(writer.session);
		writer.pace.kept = history_chunks(&writer.state);
		if (!writer.pace.kept)
			writer.pace.kept = writer.state.packed_chunks;
		pace_sleep(&writer.pace, writer.session, events, cpu_ns);
	}
	return true;
}

static void end(void)
{
	if (!writer.has_looked && !writer.state.error)
		look_after_killed();
	if (writer.state.error)
		give_up();
	else
		finish();
	/* Nobody is left waiting for an answer. */
	futex_change(&writer.answered, load_relaxed(&writer.asked));
}

static void *run(void *arg)
{
	(void)arg;
	thread_busy();
	prctl(PR_SET_NAME, "traceprof", 0, 0, 0);
	if (writer.affinity_bytes)
		sched_setaffinity(0, writer.affinity_bytes,
				  (const cpu_set_t *)writer.affinity);
	writer.tid = (uint32_t)syscall(SYS_gettid);
	/* The first one's, by which the file calls it. */
	if (!writer.state.writer_tid)
		writer.state.writer_tid = writer.tid;
	if (make_passes())
		end();
	return NULL;
}

int writer_start(struct session *session, const void *affinity,
		 size_t affinity_bytes)
{
	struct thread *was = thread_busy();
	int rc;

	rc = pass_start(&writer.state, session, true);
	if (rc)
		goto out;
	writer.session = session;
	if (affinity && affinity_bytes <= sizeof(writer.affinity)) {
		memcpy(writer.affinity, affinity, affinity_bytes);
		writer.affinity_bytes = affinity_bytes;
	}
	recovery_stop(false);
	output_make_room();
	output_stay_here();
	store_relaxed(&writer.phase, WRITER_AWAY);
	rc = -writer_call_back();
out:
	thread_unbusy(was);
	return rc;
}

uint32_t writer_put_away(unsigned int wait_ms)
{
	uint32_t asked = WRITER_IS_TO_GO;

	if (load_relaxed(&writer.phase) != WRITER_RUNS)
		return 0;
	store_relaxed(&writer.goes, asked);
	recovery_stop(true);
	writer_wake();
	if (!futex_wait_while(&writer.phase, WRITER_RUNS,
			      (uint64_t)wait_ms * 1000000) &&
	    !atomic_compare_exchange_strong_explicit(
		    &writer.goes, &asked, WRITER_STAYS, memory_order_relaxed,
		    memory_order_relaxed))
		futex_wait_while(&writer.phase, WRITER_RUNS, SECOND_NS);
	recovery_stop(false);
	/* ACQUIRE pairs with RELEASE in futex_change(): its last pass. */
	return load_acquire(&writer.phase) == WRITER_RUNS ? 0 : writer.tid;
}

/* One at a time, where the kernel didn't tell that there are other threads. */
static bool comes_back(uint32_t as)
{
	uint32_t away = WRITER_AWAY;

	return atomic_compare_exchange_strong_explicit(&writer.phase, &away, as,
						       memory_order_relaxed,
						       memory_order_relaxed);
}

bool writer_has_thread(void)
{
	return load_relaxed(&writer.phase) == WRITER_RUNS;
}

int writer_call_back(void)
{
	int rc;

	if (load_relaxed(&writer.phase) != WRITER_AWAY)
		return 0;
	store_relaxed(&writer.goes, WRITER_STAYS);
	if (!comes_back(WRITER_RUNS))
		return 0;
	rc = background_start(run, STACK_BYTES);
	if (rc)
		store_relaxed(&writer.phase, WRITER_AWAY);
	return rc;
}

static int result(void)
{
	/* ACQUIRE pairs with RELEASE in futex_change(). */
	switch (load_acquire(&writer.phase)) {
	case WRITER_HERE:
	case WRITER_RUNS: return -ETIMEDOUT;
	case WRITER_GAVE_UP: return -ECANCELED;
	case WRITER_LEFT: return -EINPROGRESS;
	default: return 0;
	}
}

void writer_ends_soon(void)
{
	store_relaxed(&writer.state.is_ending, true);
}

static void run_end(void *unused)
{
	(void)unused;
	end();
}

/* On this thread, whose stack may be a signal handler's.  What is too large for
 * a file's limit is told by a signal, to the thread that writes. */
static void end_here(void)
{
	const struct timespec now = {0};
	sigset_t all, large, was;

	/* What this thread ran before is not the writer's. */
	writer.state.cpu_before_ns -=
		account_cpu_ns(&writer.state) - writer.state.cpu_before_ns;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &was);
	spare_stack_run(STACK_BYTES, run_end, NULL);
	sigemptyset(&large);
	sigaddset(&large, SIGXFSZ);
	if (!sigismember(&was, SIGXFSZ))
		sigtimedwait(&large, NULL, &now);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
}

int writer_stop(unsigned int wait_ms)
{
	uint32_t phase;
	bool is_here;

	/* If it can. */
	writer_call_back();
	phase = load_relaxed(&writer.phase);
	if ((phase != WRITER_RUNS && phase != WRITER_AWAY) ||
	    atomic_exchange_explicit(&writer.stopping, 1, memory_order_relaxed))
		return result();
	writer.stop_ticks = clock_ticks();
	recovery_stop(true);
	is_here = comes_back(WRITER_HERE);
	/* RELEASE pairs with ACQUIRE in make_passes(). */
	store_release(&writer.stop, 1);
	if (is_here)
		end_here();
	writer_wake();
	futex_wait_while(&writer.phase, WRITER_RUNS,
			 (uint64_t)wait_ms * 1000000);
	return result();
}

void writer_wake(void)
{
	if (load_relaxed(&writer.phase) == WRITER_RUNS)
		pace_wake(&writer.pace, writer.session);
}

void writer_forget(void)
{
	loader_forget();
	writer_state_close(&writer.state);
	memset(&writer, 0, sizeof(writer));
	sources_forget();
	pthread_mutex_init(&writer.lock, NULL);
	pthread_mutex_init(&writer.summary_lock, NULL);
}

/* Lets the writer make a pass that begins after this call. */
static bool ask(void)
{
	const uint32_t question = add_relaxed(&writer.asked, 1) + 1;
	const uint64_t end = clock_monotonic_ns() + ANSWER_NS;
	uint32_t answered;

	while (load_relaxed(&writer.phase) == WRITER_RUNS) {
		const uint64_t now = clock_monotonic_ns();

		/* ACQUIRE pairs with RELEASE in futex_change(): the totals. */
		answered = load_acquire(&writer.answered);
		if ((int32_t)(answered - question) >= 0)
			return true;
		if (now >= end)
			return false;
		writer_wake();
		futex_wait_while(&writer.answered, answered, end - now);
	}
	return load_relaxed(&writer.phase) != WRITER_NONE;
}

int writer_totals(void (*total)(const struct writer_total *, void *arg),
		  void *arg)
{
	struct thread *was = thread_busy();
	struct label *const *sorted;
	int cancels, rc = -ETIMEDOUT;
	size_t count;

	/* total() may be a point of cancellation. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancels);
	if (!ask())
		goto out;
	pthread_mutex_lock(&writer.lock);
	count = totals_sort(&writer.state.totals, false, &sorted);
	rc = 0;
	for (size_t i = 0; i < count; i++) {
		const struct label *label = sorted[i];
		const struct writer_total one = {
			.name = label->plain,
			.category = label->category,
			.calls = label->run.calls,
			.total_ns = label->run.sum_ns,
			.min_ns = label->run.min_ns,
			.max_ns = label->run.max_ns,
		};

		if (event_is_block(label->kind))
			continue;
		total(&one, arg);
		rc++;
	}
	pthread_mutex_unlock(&writer.lock);
out:
	pthread_setcancelstate(cancels, &cancels);
	thread_unbusy(was);
	return rc;
}

void writer_totals_reset(void)
{
	struct thread *was = thread_busy();

	if (ask()) {
		pthread_mutex_lock(&writer.lock);
		totals_reset_run(&writer.state.totals);
		pthread_mutex_unlock(&writer.lock);
	}
	thread_unbusy(was);
}

void writer_summarise(struct writer_summary *summary)
{
	pthread_mutex_lock(&writer.summary_lock);
	*summary = writer.summary;
	pthread_mutex_unlock(&writer.summary_lock);
}
