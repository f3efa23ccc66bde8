/* SPDX-License-Identifier: MIT */
/*
 * python_hook.c - set, told and taken back; see python_hook.h.
 *
 * Everything but what opens and closes windows runs under the GIL, which is
 * the lock of all of it.
 */
#include "preload/python/python_hook.h"

#include "collector/session/gate.h"
#include "collector/session/names.h"
#include "collector/steps/steps.h"
#include "collector/system/loader.h"
#include "collector/system/log.h"
#include "preload/process/life.h"
#include "preload/process/process.h"
#include "preload/python/python_api.h"
#include "preload/python/python_bound.h"
#include "preload/python/python_calls.h"
#include "preload/python/python_errors.h"
#include "preload/python/python_greenlets.h"
#include "preload/python/python_monitor.h"
#include "preload/python/python_names.h"
#include "preload/python/python_profile.h"
#include <string.h>
#include <unistd.h>
#include <sys/prctl.h>
#include <time.h>

#define WALK_MAX    512u /* frames that a thread is in when a window opens */
#define NOTES_MAX   8u	 /* windows whose calls end early: one each */
#define END_BYTES   112u
#define PYTHON_ENDS "calls of Python end here (TRACEPROF_MAX_OVERHEAD)"
#define STACK_BYTES (128u << 10)
#define AWAIT_NS    200000
#define IMPORTED_EACH                                                          \
	10000u /* of a second: calls of imports so long are drawn */
#define AWAITS 20000u

static struct {
	const char *why; /* it can't be used */
	bool is_there;
	bool is_proved;
	_Atomic uint32_t window;   /* that opened last, by number */
	_Atomic uint32_t over;	   /* in which calls cost too much; 0 none */
	_Atomic bool is_wanted;	   /* one is open */
	_Atomic bool is_asked;	   /* a pending call is under way */
	_Atomic bool is_set;	   /* the interpreter tells us */
	_Atomic bool was_set;	   /* it did at some time of this window */
	_Atomic uint32_t session;  /* names are of this one */
	_Atomic bool collects;	   /* gc tells us too */
	void *collector;	   /* what gc calls; NULL: not made yet */
	void *_Atomic interpreter; /* that tells us */
	bool has_others;	   /* it was said; the writer's */
	bool is_noted;
	unsigned int ends;     /* windows in which they cost too much */
	char ended[END_BYTES]; /* in the first of them: when */
	uint64_t start_ticks;  /* of the recording */
} hook;

/* Calls of this window have cost too much: the next one tries again. */
static bool is_over(void)
{
	return load_relaxed(&hook.over) == load_relaxed(&hook.window);
}

bool python_tells(void)
{
	return gate_bits() & GATE_PYTHON && !is_over();
}

/* --- what the interpreter tells ------------------------------------------- */

static void follow_garbage(bool on);

static void begin_code(struct python_stack *stack, void *code, void *frame)
{
	const struct python_name name = python_name_of_code(code);
	uint32_t shown = 0;

	if (unlikely(name.is_import)) {
		bool is_greenlets = false;

		shown = python_name_of_import(
			frame ? frame : python_api.frame_now(), &is_greenlets);
		if (is_greenlets)
			store_relaxed(&python_has_greenlets, true);
		/* Before 3.7 a window may be open before there are modules. */
		if (!load_relaxed(&hook.collects) &&
		    load_relaxed(&hook.is_wanted))
			follow_garbage(true);
	}
	/* Another thread had the GIL meanwhile. */
	if (likely(!is_over()))
		python_call_begins(stack, name.id, shown ? shown : name.id,
				   name.is_import, frame);
}

/* What the thread is in when the first thing is heard of it.  A name may need
 * an object, and that a collection, in which another thread gets the GIL. */
static void walk(struct python_stack *stack)
{
	void *frames[WALK_MAX];
	void *frame = python_api.frame_now();
	uint32_t count = 0;

	for (; frame && count < WALK_MAX; frame = python_frame_back(frame))
		frames[count++] = frame;
	while (count--)
		begin_code(stack, python_frame_code(frames[count]),
			   frames[count]);
}

/* This thread's stack; NULL: nothing is recorded.  *is_new: what it is in, with
 * a call that begins just now, has been put on it. */
static struct python_stack *stack_here(struct thread **thread, void *caller,
				       bool *is_new)
{
	struct python_stack *stack;

	if (unlikely(!python_tells())) {
		python_hook_rest();
		return NULL;
	}
	*thread = hook_thread();
	if (unlikely(!*thread))
		return NULL;
	stack = python_calls_here(*thread, load_relaxed(&hook.window), is_new);
	if (stack && !*is_new)
		*is_new = python_has_switched(*thread, stack, caller);
	if (stack && unlikely(*is_new))
		walk(stack);
	return stack;
}

static void pass_bound(struct thread *thread);

/* The same for a call that begins, if it may cost something. */
static struct python_stack *stack_for(struct thread **thread, void *caller,
				      bool *is_new)
{
	struct python_stack *stack = stack_here(thread, caller, is_new);

	if (likely(stack) &&
	    !python_bound_is_passed(load_relaxed(&session_here),
				    stack->imports))
		return stack;
	if (stack)
		pass_bound(*thread);
	return NULL;
}

void python_hook_begins(void *code, void *frame)
{
	const uint64_t begun = python_bound_begin();
	struct thread *thread;
	bool is_new = false;
	struct python_stack *stack;

	frame = python_told_frame(frame);
	stack = stack_for(&thread, python_caller(frame), &is_new);
	if (likely(stack && !is_new))
		begin_code(stack, code, frame);
	python_bound_end(load_relaxed(&session_here), begun);
}

void python_hook_ends(void *code, void *frame)
{
	const uint64_t begun = python_bound_begin();
	struct thread *thread;
	bool is_new = false;
	struct python_stack *stack =
		stack_here(&thread, python_told_frame(frame), &is_new);

	if (likely(stack))
		python_call_ends(thread, stack, python_name_of_code(code).id);
	python_bound_end(load_relaxed(&session_here), begun);
}

void python_hook_function_begins(void *function, void *frame)
{
	const uint64_t begun = python_bound_begin();
	struct thread *thread;
	bool is_new = false;
	struct python_stack *stack;

	frame = python_told_frame(frame);
	stack = stack_for(&thread, frame, &is_new);
	if (likely(stack)) {
		const uint32_t name = python_name_of_function(function).id;

		/* Another thread had the GIL meanwhile. */
		if (likely(!is_over()))
			python_call_begins(stack, name, name, false, frame);
	}
	python_bound_end(load_relaxed(&session_here), begun);
}

void python_hook_function_ends(void *function, void *frame)
{
	const uint64_t begun = python_bound_begin();
	struct thread *thread;
	bool is_new = false;
	struct python_stack *stack =
		stack_here(&thread, python_told_frame(frame), &is_new);

	if (likely(stack && !is_new))
		python_call_ends(thread, stack,
				 python_name_of_function(function).id);
	python_bound_end(load_relaxed(&session_here), begun);
}

void python_hook_left(void)
{
	struct thread *thread = thread_self;

	if (!(gate_bits() & GATE_PYTHON) || !thread_records(thread))
		return;
	python_calls_end(thread);
	/* Other threads lose it as they end, and all with the interpreter. */
	if (thread->tid == (uint32_t)getpid() && python_api.is_initialized())
		python_hook_say("calls of Python are left out of the main "
				"thread from where the program sets a profile "
				"function of its own (sys.setprofile, "
				"cProfile)");
}

/* --- garbage collections -------------------------------------------------- */

/* gc.callbacks: (phase, info). */
static void *collected(void *self, void *args)
{
	struct thread *thread;
	bool is_new = false;
	void *frame = python_told_frame(NULL);
	struct python_stack *stack = stack_here(&thread, frame, &is_new);
	void *first = python_api.tuple_at(args, 0);
	void *info = first ? python_api.tuple_at(args, 1) : NULL;
	const char *phase = first ? python_api.utf8(first) : NULL;
	void *generation = info ? python_api.item(info, "generation") : NULL;
	const uint32_t name =
		stack && generation
			? python_name_text("garbage collection (generation ",
					   python_api.number(generation))
			: 0;

	(void)self;
	if (generation)
		python_api.give(generation);
	python_api.error_clear();
	if (name && phase && !strcmp(phase, "start"))
		python_call_begins(stack, name, name, false, frame);
	else if (name && !is_new)
		python_call_ends(thread, stack, name);
	python_api.take((void *)(uintptr_t)python_api.none);
	return (void *)(uintptr_t)python_api.none;
}

static void *loaded(const char *name)
{
	void *modules = python_api.system("modules");

	return modules ? python_api.item(modules, name) : NULL;
}

static void follow_garbage(bool on)
{
	static struct python_method method = {"traceprof", NULL, PYTHON_VARARGS,
					      NULL};
	void *gc, *callbacks, *done = NULL;

	if (load_relaxed(&hook.collects) == on)
		return;
	if (!hook.collector) {
		*(void *(**)(void *, void *)) & method.function = collected;
		hook.collector = python_api.make_function(&method, NULL, NULL);
	}
	gc = loaded("gc");
	callbacks = gc ? python_api.attribute(gc, "callbacks") : NULL;
	if (hook.collector && callbacks)
		done = python_api.method(callbacks, on ? "append" : "remove",
					 "O", hook.collector);
	if (done) {
		store_relaxed(&hook.collects, on);
		python_api.give(done);
	}
	if (callbacks)
		python_api.give(callbacks);
	if (gc)
		python_api.give(gc);
	python_api.error_clear();
}

/* --- on and off ----------------------------------------------------------- */

/* The machinery of imports may hold a lock that can't be taken again by its own
 * thread: KeyError in the midst of the program's import.  It takes the lock in
 * acquire(), from which a destructor may have been called. */
static bool may_import(void)
{
	void *frame = python_api.frame_now();

	if (frame && python_name_is_of_imports(python_frame_code(frame), NULL))
		return false;
	for (; frame; frame = python_frame_back(frame))
		if (python_name_is_of_imports(python_frame_code(frame),
					      "acquire"))
			return false;
	return true;
}

/* Its module isn't among the first that an interpreter has.  False: an error of
 * the program's came in the midst of it. */
static bool import_collector(void)
{
	struct python_errors errors;
	void *gc = loaded("gc");

	python_api.error_clear();
	if (!gc && may_import()) {
		python_errors_begin(&errors);
		gc = python_api.import("gc");
		python_errors_take(&errors);
		if (gc)
			python_api.give(gc);
		return !python_errors_end(&errors);
	}
	if (gc)
		python_api.give(gc);
	return true;
}

static void turn(bool on)
{
	void *type, *value, *trace;

	python_api.error_fetch(&type, &value, &trace);
	/* First, so that no call of ours is told.  Else with the next import,
	 * or when the writer asks again. */
	if (on)
		follow_garbage(true);
	if (python_api.minor >= PYTHON_MONITORS)
		python_monitor_turn(on);
	else
		python_profile_turn(on);
	if (!on)
		follow_garbage(false);
	python_api.error_clear();
	python_api.error_restore(type, value, trace);
}

/* The first that is told something while nothing is recorded. */
COLD void python_hook_rest(void)
{
	struct thread *thread = thread_self;

	if (load_relaxed(&hook.is_wanted) && gate_bits() != GATE_UNDECIDED) {
		if (!is_over())
			return;
		/* Before 3.12 each thread is told until it is here. */
		if (thread_records(thread))
			python_calls_end(thread);
	}
	turn(false);
	store_relaxed(&hook.is_set, false);
}

/* "1.200 s into window 0"; while the step is looked for nothing is a window. */
static void end_text(struct session *session, uint64_t now, char *text,
		     size_t bytes)
{
	struct session_header *head = session->head;
	const double second =
		(double)(clock_ticks_per_second(&head->clock) + 1);
	const uint64_t opened = load_relaxed(&head->windows.opened);
	const struct window *window =
		&head->windows.window[(opened + WINDOWS_MAX - 1) % WINDOWS_MAX];

	if (opened)
		log_format(text, bytes, "%.3f s into window %lu",
			   (double)(now - window->start_ticks) / second,
			   (unsigned long)(opened - 1));
	else
		log_format(text, bytes,
			   "%.3f s after the recording began, before its step "
			   "was known (TRACEPROF_STEP=NAME sets one)",
			   (double)(now - hook.start_ticks) / second);
}

/* A mark where calls end, and when and why in words. */
static void say_end(struct session *session, struct thread *thread,
		    unsigned int left_open)
{
	const uint64_t now = clock_ticks();
	const struct event mark = {
		.kind = EVENT_MARK,
		.name = names_intern_string(session, PYTHON_ENDS),
		.start_ticks = now,
		.end_ticks = now,
	};
	char where[END_BYTES];
	char others[64] = "";

	thread_record(thread, &mark);
	python_ends(session->head, now);
	end_text(session, now, where, sizeof(where));
	if (!hook.ends++)
		memcpy(hook.ended, where, sizeof(hook.ended));
	if (hook.ends > NOTES_MAX)
		return;
	if (left_open)
		log_format(others, sizeof(others),
			   ", nor are %u that other threads were in",
			   left_open);
	session_note(session,
		     "calls of Python end %s, where they cost more than "
		     "TRACEPROF_MAX_OVERHEAD=%ld: those after that aren't "
		     "recorded%s",
		     where, (long)process.options.max_overhead, others);
}

/* No call more of this window. */
COLD static void pass_bound(struct thread *thread)
{
	struct session *session = load_relaxed(&session_here);
	unsigned int left_open = 0;

	store_relaxed(&hook.over, load_relaxed(&hook.window));
	python_calls_end(thread);
	if (python_api.minor >= PYTHON_MONITORS)
		left_open = python_calls_leave(session);
	say_end(session, thread, left_open);
	turn(false);
	store_relaxed(&hook.is_set, false);
}

COLD void python_hook_say(const char *text)
{
	struct session *session = load_relaxed(&session_here);

	if (!session || hook.is_noted)
		return;
	hook.is_noted = true;
	session_note(session, "%s", text);
	log_say("%s", text);
}

/* The interpreter is gone, all objects too.  An embedding program may begin
 * another one. */
static void ended(void)
{
	struct thread *thread = thread_self;

	if (thread_records(thread))
		python_calls_end(thread);
	store_relaxed(&hook.is_set, false);
	store_relaxed(&hook.collects, false);
	store_relaxed(&hook.is_asked, false);
	hook.is_proved = false;
	hook.collector = NULL;
	store_relaxed(&hook.interpreter, NULL);
	python_monitor_forget();
	python_names_clear(false);
}

/* The pending call: on the main thread, between two instructions. */
static int set(void *unused)
{
	(void)unused;
	store_relaxed(&hook.is_asked, false);
	if (!load_relaxed(&hook.is_wanted) || is_over())
		return 0;
	if (!import_collector())
		return -1;
	python_greenlets_look();
	if (load_relaxed(&hook.is_set)) {
		follow_garbage(true);
		return 0;
	}
	if (!hook.is_proved && !python_api_prove()) {
		hook.why = "its objects don't lie as its version's do";
		python_hook_say("calls of Python are left out: its objects "
				"don't lie as its version's do");
		return 0;
	}
	if (!hook.is_proved && python_api.at_end(ended)) {
		hook.why = "its end can't be followed";
		python_hook_say("calls of Python are left out: its end can't "
				"be followed");
		return 0;
	}
	hook.is_proved = true;
	store_relaxed(&hook.interpreter, python_api_main());
	turn(true);
	store_relaxed(&hook.is_set, true);
	store_relaxed(&hook.was_set, true);
	return 0;
}

static void ask(void)
{
	if (hook.why || atomic_exchange_explicit(&hook.is_asked, true,
						 memory_order_relaxed))
		return;
	if (!python_api_ask(set))
		store_relaxed(&hook.is_asked, false);
}

static void follow(bool open)
{
	struct thread *thread = thread_self;

	if (open) {
		python_goes_on(load_relaxed(&session_here)->head,
			       clock_ticks());
		add_relaxed(&hook.window, 1);
		store_relaxed(&hook.was_set, load_relaxed(&hook.is_set));
		store_relaxed(&hook.is_wanted, true);
		ask();
		return;
	}
	store_relaxed(&hook.is_wanted, false);
	if (thread_records(thread))
		python_calls_end(thread);
	/* An interpreter that has ended tells nothing any more. */
	if (!load_relaxed(&hook.was_set))
		python_hook_say("no calls of Python: its main thread ran none "
				"in the window");
}

/* Of other interpreters no calls are told: they have observers of their own.
 * The newest one comes first, and without the GIL no more can be asked. */
static void look_for_others(struct session *session)
{
	void *own = load_relaxed(&hook.interpreter);
	void *newest = own && load_relaxed(&hook.is_set)
			       ? python_api.first_interpreter()
			       : NULL;

	if (!newest || newest == own || hook.has_others)
		return;
	hook.has_others = true;
	session_note(session, "calls of Python are those of its first "
			      "interpreter: others that it made are left out");
	log_say("calls of Python are those of its first interpreter: others "
		"that it made are left out");
}

void python_poll(struct session *session)
{
	look_for_others(session);
	if (load_relaxed(&hook.is_wanted) && !is_over() &&
	    !(load_relaxed(&hook.is_set) && load_relaxed(&hook.collects)))
		ask();
}

/* The first module that it reads comes when it has just started: no later, as
 * busy as the machine may be. */
void python_look(void)
{
	if (load_relaxed(&hook.is_wanted) && !load_relaxed(&hook.is_set) &&
	    !is_over())
		ask();
}

/* The interpreter starts within milliseconds, which the writer would sleep
 * through. */
static void *await(void *unused)
{
	const struct timespec time = {.tv_nsec = AWAIT_NS};

	(void)unused;
	thread_busy();
	prctl(PR_SET_NAME, "traceprof-wait", 0, 0, 0);
	for (unsigned int i = 0; i < AWAITS && !python_api.is_initialized();
	     i++)
		nanosleep(&time, NULL);
	if (load_relaxed(&hook.is_wanted))
		ask();
	return NULL;
}

/* --- life ----------------------------------------------------------------- */

void python_prepare(void)
{
	if (!process.options.python || !python_api_is_there())
		return;
	hook.is_there = true;
	hook.why = python_api_look();
}

bool python_is_prepared(void)
{
	return hook.is_there;
}

void python_await(void)
{
	/* Should there be no thread, the writer asks later. */
	if (hook.is_there && !hook.why && life_is_running() &&
	    !python_api.is_initialized())
		background_start(await, STACK_BYTES);
}

bool python_start(struct session *session)
{
	if (!process.options.python || !hook.is_there)
		return false;
	if (hook.why) {
		python_api_left_out(session, "calls of Python", hook.why);
		log_say("calls of Python are left out: %s", hook.why);
		return false;
	}
	/* Names are the session's. */
	python_names_clear(false);
	python_bound_start(process.options.max_overhead);
	hook.ends = 0;
	hook.start_ticks = clock_ticks();
	python_calls_start(clock_ticks_per_second(&session->head->clock) /
			   IMPORTED_EACH);
	gate_on_change(GATE_INTERPRETER, follow);
	return true;
}

void python_start_late(struct session *session)
{
	const bool is_open = steps_are_recorded(session);

	if (!python_start(session))
		return;
	gate_add_record(GATE_PYTHON, is_open);
	if (is_open)
		follow(true);
}

/* Where calls ended, and what to do. */
static void say_ends(void)
{
	char more[32] = "";

	if (!hook.ends)
		return;
	if (hook.ends > 1)
		log_format(more, sizeof(more), ", and early in %u more",
			   hook.ends - 1);
	log_say("calls of Python end %s%s, where they cost more than "
		"TRACEPROF_MAX_OVERHEAD=%ld: raise it, or record fewer steps "
		"(TRACEPROF_ACTIVE=5), or samples (TRACEPROF_SAMPLE=499)",
		hook.ended, more, (long)process.options.max_overhead);
}

void python_finish(struct thread *thread)
{
	if (process.options.python && !hook.is_there && python_api_is_there())
		python_hook_say("no calls of Python: its interpreter was "
				"loaded while the program ran");
	if (load_relaxed(&hook.is_wanted))
		python_calls_end(thread);
	say_ends();
}

/* The interpreter's own tables are in the child's memory too. */
void python_forget(void)
{
	store_relaxed(&hook.is_wanted, false);
	store_relaxed(&hook.is_asked, false);
	store_relaxed(&hook.is_set, false);
	hook.is_noted = hook.has_others = false;
	gate_on_change(GATE_INTERPRETER, NULL);
}
