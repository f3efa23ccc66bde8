/* SPDX-License-Identifier: MIT */
/*
 * xla_traceme.c - on in windows, emptied, out of the program's way; see
 * xla_traceme.h.
 *
 * XLA knows its threads by numbers of its own, so that each has a lane apart
 * from the thread's.  A record of ours stands for it, in which the writer's
 * thread is the producer.
 */
#include "preload/jax/xla_traceme.h"

#include "collector/control/search.h"
#include "collector/session/gate.h"
#include "collector/session/thread.h"
#include "collector/session/thread_self.h"
#include "collector/system/loader.h"
#include "collector/system/log.h"
#include "preload/annotate/scope.h"
#include "preload/jax/xla_recorder.h"
#include "preload/python/python_api.h"
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NAME_BYTES  200u
#define LANES	    64u
#define FIRST_TID   1000000000u /* no thread's, and none of its lanes' */
#define BRACKETS    5
#define SECOND_NS   INT64_C(1000000000)
#define SPAN_MAX_NS (3600 * SECOND_NS) /* longer ones are no slices */

enum { XLA_NONE, XLA_FOUND, XLA_READY, XLA_OVER };

static struct {
	_Atomic uint32_t state;
	struct xla_recorder recorder;
	_Atomic bool is_held; /* what follows: by the writer, or the program */
	bool is_on;
	struct xla_events left; /* taken out when it was left */
	/* XLA's number of the main thread, and the kernel's. */
	uint32_t main_id, main_tid;
	/* The writer's. */
	int64_t called_ns; /* when the last call began, 0 none yet */
	uint32_t lane_count;
	bool is_full;
	struct lane {
		uint32_t id;
		struct thread *thread;
	} lanes[LANES];
} xla;

static void hold(void)
{
	/* ACQUIRE pairs with RELEASE in let_go(): whether it is on. */
	while (atomic_exchange_explicit(&xla.is_held, true,
					memory_order_acquire))
		sched_yield();
}

static void let_go(void)
{
	/* RELEASE pairs with ACQUIRE in hold(). */
	store_release(&xla.is_held, false);
}

/* --- making way ----------------------------------------------------------- */

/* For good: nothing of XLA's is called after it. */
static void leave(void)
{
	hold();
	store_relaxed(&xla.state, XLA_OVER);
	if (xla.is_on)
		xla.recorder.stop(&xla.left);
	xla.is_on = false;
	let_go();
}

/* Of the program's call. */
static void *make_way(void *self, void *args, void *named)
{
	struct session *session = load_relaxed(&session_here);

	if (load_relaxed(&xla.state) != XLA_OVER && session)
		session_note(session,
			     "XLA's annotations end where the program uses "
			     "JAX's own profiler: there is one at a time");
	leave();
	return python_api.call_with(self, args, named);
}

static bool stand_before(void *module, const char *name)
{
	static struct python_method method = {
		"traceprof", NULL, PYTHON_VARARGS | PYTHON_KEYWORDS, NULL};
	void *original = python_api.attribute(module, name);
	void *ours = NULL;
	bool is_done;

	*(void *(**)(void *, void *, void *)) & method.function = make_way;
	if (original)
		ours = python_api.make_function(&method, original, NULL);
	is_done = ours && !python_api.set_attribute(module, name, ours);
	python_give(original);
	python_give(ours);
	python_api.error_clear();
	return is_done;
}

static void *profiler_of(void *modules)
{
	static const char *const names[] = {"jaxlib._profiler",
					    "jaxlib.xla_extension.profiler"};
	void *module = NULL;

	for (size_t i = 0; !module && i < sizeof(names) / sizeof(*names); i++) {
		module = python_api.item(modules, names[i]);
		python_api.error_clear();
	}
	return module;
}

/* As a program would, by jaxlib's own class: no code in Python. */
static void annotate(void *module)
{
	void *class = python_api.attribute(module, "TraceMe");
	void *made = class ? python_api.method(module, "TraceMe", "s",
					       XLA_RECORDER_OWN)
			   : NULL;

	if (made) {
		python_give(python_api.method(made, "__enter__", NULL));
		python_api.error_clear();
		python_give(python_api.method(made, "__exit__", "OOO",
					      python_api.none, python_api.none,
					      python_api.none));
	}
	python_api.error_clear();
	python_give(made);
	python_give(class);
}

static const char *look_at(void *module)
{
	const char *why = xla_recorder_prove(&xla.recorder, annotate, module,
					     &xla.main_id);

	xla.main_tid = (uint32_t)syscall(SYS_gettid);

	if (!why && (python_api.at_end(leave) ||
		     !stand_before(module, "ProfilerSession") ||
		     !stand_before(module, "start_server")))
		why = "JAX's own profiler can't be followed";
	return why;
}

void xla_traceme_arrange(struct session *session)
{
	uint32_t found = XLA_FOUND;
	void *modules, *module;
	const char *why = "JAX's own profiler can't be followed";

	/* ACQUIRE pairs with RELEASE in xla_traceme_find(): the recorder. */
	if (load_acquire(&xla.state) != XLA_FOUND)
		return;
	modules = python_api.system("modules");
	module = modules ? profiler_of(modules) : NULL;
	if (module)
		why = look_at(module);
	if (why) {
		store_relaxed(&xla.state, XLA_OVER);
		session_note(session, "XLA's annotations are left out: %s",
			     why);
	} else {
		session_note(session, "XLA's annotations: %s are missing",
			     xla.recorder.empty
				     ? "the last ones of threads that end"
				     : "those that end while they are fetched");
		/* RELEASE pairs with ACQUIRE in xla_traceme_poll(). */
		atomic_compare_exchange_strong_explicit(
			&xla.state, &found, XLA_READY, memory_order_release,
			memory_order_relaxed);
	}
	python_give(module);
}

void xla_traceme_find(struct session *session, const char *path, uint64_t bias)
{
	const char *why = xla_recorder_find(&xla.recorder, path, bias);

	if (why)
		session_note(session, "XLA's annotations are left out: %s",
			     why);
	/* RELEASE pairs with ACQUIRE in xla_traceme_arrange(). */
	store_release(&xla.state, why ? XLA_OVER : XLA_FOUND);
}

/* --- slices --------------------------------------------------------------- */

struct telling {
	struct session *session;
	uint64_t now_ticks;
	int64_t now_ns;
	double ticks_per_ns;
};

/* Both clocks at one moment, of the tightest bracket. */
static void pair_clocks(struct telling *telling)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < BRACKETS; i++) {
		const uint64_t before = clock_ticks();
		const int64_t now_ns = xla_recorder_now_ns();
		const uint64_t took = clock_ticks() - before;

		if (took < least) {
			least = took;
			telling->now_ticks = before + took / 2;
			telling->now_ns = now_ns;
		}
	}
	telling->ticks_per_ns =
		(double)clock_ticks_per_second(&telling->session->head->clock) /
		(double)SECOND_NS;
}

static uint64_t ticks_of(const struct telling *telling, int64_t ns)
{
	const double ago = (double)(telling->now_ns - ns);

	return telling->now_ticks - (uint64_t)(ago * telling->ticks_per_ns);
}

/* NULL: more threads than are followed. */
static struct thread *lane_of(struct session *session,
			      const struct xla_thread *thread)
{
	const size_t len = strcspn(thread->name.at, "/");
	struct lane *lane;

	for (uint32_t i = 0; i < xla.lane_count; i++) {
		if (xla.lanes[i].id == thread->id)
			return xla.lanes[i].thread;
	}
	if (xla.lane_count == LANES)
		return NULL;
	lane = &xla.lanes[xla.lane_count];
	lane->thread = thread_enter(session);
	thread_busy();
	if (!lane->thread)
		return NULL;
	lane->id = thread->id;
	lane->thread->ring.never_waits = 1;
	lane->thread->tid = FIRST_TID + xla.lane_count++;
	if (thread->id == xla.main_id)
		lane->thread->beside = xla.main_tid;
	lane->thread->is_named = 1;
	log_format(lane->thread->name, sizeof(lane->thread->name), "XLA: %.*s",
		   (int)min_u64(len, 24), thread->name.at);
	return lane->thread;
}

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* What the program does itself, on its main thread: it calls functions of
 * jax.jit, and annotates what it calls them in.  Of XLA's own annotations none
 * is around a call.  They come as they end. */
static uint32_t scope_of(const struct thread *lane,
			 const struct xla_event *event)
{
	const char *name = event->name.at;

	if (!lane->beside)
		return 0;
	if (begins(name, "PjitFunction(")) {
		xla.called_ns = event->start_ns;
		return OPERATOR_CALL;
	}
	if (strstr(name, "step_num=") && search_is_step_like(name))
		return OPERATOR_STEP;
	return xla.called_ns > event->start_ns ? OPERATOR_AROUND : 0;
}

static void tell(const struct xla_thread *thread, const struct xla_event *event,
		 void *arg)
{
	const struct telling *telling = arg;
	const int64_t took_ns = event->end_ns - event->start_ns;
	const int64_t ago_ns = telling->now_ns - event->end_ns;
	const char *name = event->name.at;
	char text[NAME_BYTES];
	struct thread *lane;

	/* Halves of what ended on another thread, a clock that was set, and
	 * marks of an end. */
	if (event->start_ns <= 0 || took_ns < 0 || took_ns > SPAN_MAX_NS ||
	    ago_ns < 0 || ago_ns > SPAN_MAX_NS || begins(name, "end: "))
		return;
	lane = lane_of(telling->session, thread);
	if (!lane) {
		xla.is_full = true;
		return;
	}
	log_format(text, sizeof(text), "%.*s",
		   (int)min_u64(strcspn(name, "#"), sizeof(text) - 1), name);
	thread_record(lane,
		      &(struct event){
			      .kind = EVENT_SCOPE,
			      .flags = EVENT_OPERATOR,
			      .name = scope_intern(text),
			      .start_ticks = ticks_of(telling, event->start_ns),
			      .end_ticks = ticks_of(telling, event->end_ns),
			      .scope = {.category = scope_of(lane, event)}});
}

/* What XLA's threads have allocated is given back as the program's would be:
 * on a thread that counts. */
static void take(struct session *session, struct xla_events *events)
{
	struct telling telling = {.session = session};

	pair_clocks(&telling);
	xla_recorder_tell(events, tell, &telling);
	if (xla.lane_count)
		thread_unbusy(xla.lanes[0].thread);
	xla_recorder_release(&xla.recorder, events);
	thread_busy();
	if (xla.is_full)
		session_note(session, "XLA's annotations of more than 64 "
				      "threads are left out");
}

/* On a GPU XLA's ranges come by NVTX. */
static bool has_ranges(const struct session *session)
{
	return load_relaxed(&session->head->gpu.source) == GPU_SOURCE_CUPTI;
}

/* So nothing is lost that ends just then.  Who else may have stopped it left
 * nothing to be taken. */
static bool is_kept_on(bool wanted)
{
	return xla.is_on && wanted && xla.recorder.empty &&
	       load_relaxed(&xla.state) == XLA_READY &&
	       atomic_load(xla.recorder.level) >= 0;
}

void xla_traceme_poll(struct session *session)
{
	const bool wanted = gate_bits() & GATE_SCOPE && !has_ranges(session);
	struct xla_events events = {0};
	bool is_refused = false, stays_on;

	/* ACQUIRE pairs with RELEASE in xla_traceme_arrange(). */
	if (load_acquire(&xla.state) < XLA_READY ||
	    (!wanted && !xla.is_on && !xla.left.begin) || !loader_enter())
		return;
	hold();
	stays_on = is_kept_on(wanted);
	if (stays_on)
		xla.recorder.empty(&events);
	else if (xla.is_on)
		xla.recorder.stop(&events);
	xla.is_on = stays_on;
	if (!xla.is_on && load_relaxed(&xla.state) == XLA_READY && wanted) {
		xla.is_on = xla_recorder_start(&xla.recorder);
		is_refused = !xla.is_on;
	}
	if (is_refused)
		store_relaxed(&xla.state, XLA_OVER);
	let_go();
	loader_leave();
	if (is_refused)
		session_note(session, "XLA's annotations end: another profiler "
				      "has its recorder");
	if (xla.left.begin)
		take(session, &xla.left);
	if (events.begin)
		take(session, &events);
}

/* The writer would come by some tenths of a second later, when a window of a
 * few steps is over; while it is at it, it sees itself that one is open. */
void xla_traceme_follow(bool open)
{
	struct session *session = load_relaxed(&session_here);

	/* ACQUIRE pairs with RELEASE in xla_traceme_arrange(), and that of the
	 * exchange with let_go(). */
	if (!open || !session || load_acquire(&xla.state) != XLA_READY ||
	    has_ranges(session) ||
	    atomic_exchange_explicit(&xla.is_held, true, memory_order_acquire))
		return;
	if (!xla.is_on && load_relaxed(&xla.state) == XLA_READY)
		xla.is_on = xla_recorder_start(&xla.recorder);
	let_go();
}

/* Nobody would empty it there, until the child is recorded itself. */
void xla_traceme_forget(void)
{
	if (xla.is_on)
		atomic_store(xla.recorder.level, -1);
	xla.is_on = false;
	xla.lane_count = 0;
	xla.called_ns = 0;
	xla.main_tid = (uint32_t)pthread_self() == xla.main_id
			       ? (uint32_t)getpid()
			       : 0;
	store_relaxed(&xla.is_held, false);
	memset(&xla.left, 0, sizeof(xla.left));
}
