/* SPDX-License-Identifier: MIT */
/*
 * torch_observer.c - entered, left, and made way for; see torch_observer.h.
 *
 * Only the main thread enters and leaves, under the GIL.  What its profiler
 * module calls to switch an observer on has ours in front of it meanwhile:
 * PyTorch would refuse the program's.
 */
#include "preload/torch/torch_observer.h"

#include "collector/session/gate.h"
#include "preload/annotate/itt.h"
#include "preload/python/python_api.h"
#include "preload/python/python_errors.h"
#include "preload/torch/torch_operators.h"

#define MODULE	   "torch.autograd.profiler"
#define SWITCH	   "_enable_profiler"
#define EACH_NS	   UINT64_C(100000000)
#define LEAVES_MAX 3u

static struct {
	bool is_ready;
	_Atomic bool is_wanted; /* a window is open */
	_Atomic bool is_over;	/* it can't be had */
	_Atomic bool is_asked;	/* a pending call is under way */
	uint64_t next_ns;	/* the writer's */
	void *entered;		/* emit_itt(); NULL: not now */
	void *original; /* what ours stands in front of; NULL: of nothing */
	bool follows_exit;
	/* PyTorch's code runs for us, in which a pending call may come: no
	 * other one enters. */
	bool is_busy;
} observer;

static void *loaded(const char *name)
{
	void *modules = python_api.system("modules");
	void *module = modules ? python_api.item(modules, name) : NULL;

	python_api.error_clear();
	return module;
}

static void *call_named(void *object, const char *name)
{
	void *function = object ? python_api.attribute(object, name) : NULL;
	void *result = function ? python_api.call(function, NULL) : NULL;

	python_give(function);
	return result;
}

/* Any observer is on, on this thread. */
static bool is_on(void)
{
	void *module = loaded("torch.autograd");
	void *answer = call_named(module, "_profiler_enabled");
	const bool is = answer && python_api.number(answer) == 1;

	python_give(answer);
	python_give(module);
	python_api.error_clear();
	return is;
}

/* --- making way ----------------------------------------------------------- */

static void stand_aside(void *module)
{
	if (observer.original)
		python_api.set_attribute(module, SWITCH, observer.original);
	python_give(observer.original);
	observer.original = NULL;
	python_api.error_clear();
}

static void leave(void *module, struct python_errors *errors)
{
	void *entered = observer.entered;

	stand_aside(module);
	observer.entered = NULL;
	if (!entered)
		return;
	/* Again, where a handler's error has cut it short. */
	for (unsigned int i = 0; i < LEAVES_MAX; i++) {
		python_give(python_api.method(entered, "__exit__", "OOO",
					      python_api.none, python_api.none,
					      python_api.none));
		if (!python_errors_take(errors) || !is_on())
			break;
	}
	python_give(entered);
}

/* PyTorch has one observer at a time, and the program's goes first. */
static void note_theirs(void)
{
	struct session *session = load_relaxed(&session_here);

	if (session && load_relaxed(&observer.is_wanted))
		session_note(session,
			     "PyTorch's operators are left out while the "
			     "program's own profiler is on, emit_itt apart: "
			     "there is one observer at a time");
}

/* Of the program's call: what it has begun with is true again. */
static void *make_way(void *self, void *args, void *named)
{
	void *module = loaded(MODULE);
	struct python_errors errors;
	void *result = NULL;

	python_api.take(self);
	python_errors_begin(&errors);
	observer.is_busy = true;
	note_theirs();
	if (module)
		leave(module, &errors);
	if (module && !errors.type) {
		python_give(call_named(module, "_run_on_profiler_start"));
		python_errors_take(&errors);
	}
	observer.is_busy = false;
	python_give(module);
	if (!python_errors_end(&errors))
		result = python_api.call_with(self, args, named);
	python_give(self);
	return result;
}

/* What is still on when its thread ends, PyTorch complains of. */
static void *at_exit(void *self, void *args)
{
	void *module = loaded(MODULE);
	struct python_errors errors;

	(void)self;
	(void)args;
	store_relaxed(&observer.is_over, true);
	python_errors_begin(&errors);
	if (module)
		leave(module, &errors);
	python_give(module);
	if (python_errors_end(&errors))
		return NULL;
	python_api.take((void *)(uintptr_t)python_api.none);
	return (void *)(uintptr_t)python_api.none;
}

/* The interpreter is gone, all objects too.  An embedding program may begin
 * another one. */
static void ended(void)
{
	observer.follows_exit = observer.is_busy = false;
	observer.entered = observer.original = NULL;
	store_relaxed(&observer.is_over, false);
}

/* PyTorch has imported its module; nothing is imported here. */
static bool follow_exit(void)
{
	static struct python_method method = {"traceprof", NULL, PYTHON_VARARGS,
					      NULL};
	void *module, *function, *done = NULL;

	if (observer.follows_exit)
		return true;
	*(void *(**)(void *, void *)) & method.function = at_exit;
	module = loaded("atexit");
	function =
		module ? python_api.make_function(&method, NULL, NULL) : NULL;
	if (function && !python_api.at_end(ended))
		done = python_api.method(module, "register", "O", function);
	observer.follows_exit = done != NULL;
	python_give(done);
	python_give(function);
	python_give(module);
	return observer.follows_exit;
}

static bool stand_before(void *module)
{
	static struct python_method method = {
		"traceprof", NULL, PYTHON_VARARGS | PYTHON_KEYWORDS, NULL};
	void *original = python_api.attribute(module, SWITCH);
	void *ours = NULL;
	bool is_done;

	*(void *(**)(void *, void *, void *)) & method.function = make_way;
	if (original)
		ours = python_api.make_function(&method, original, NULL);
	is_done = ours && !python_api.set_attribute(module, SWITCH, ours);
	if (is_done)
		observer.original = original;
	else
		python_give(original);
	python_give(ours);
	return is_done;
}

/* --- on and off ----------------------------------------------------------- */

static void give_up(void)
{
	store_relaxed(&observer.is_over, true);
	session_note(load_relaxed(&session_here),
		     "PyTorch's operators are left out: its own observer, "
		     "emit_itt, isn't to be had");
}

static void enter(void *module, struct python_errors *errors)
{
	void *class =
		follow_exit() ? python_api.attribute(module, "emit_itt") : NULL;
	void *entered = class ? python_api.call(class, NULL) : NULL;
	void *done =
		entered ? python_api.method(entered, "__enter__", NULL) : NULL;
	const bool is_entered = done != NULL;

	python_give(done);
	python_give(class);
	python_errors_take(errors);
	if (is_entered && stand_before(module) && is_on()) {
		observer.entered = entered;
		return;
	}
	/* A handler's error may have come when it was on already. */
	if (is_entered || (entered && is_on())) {
		observer.entered = entered;
		leave(module, errors);
	} else {
		python_give(entered);
	}
	if (!errors->type)
		give_up();
}

/* It lies half made among the modules until its import is done. */
static bool is_being_imported(void)
{
	void *module = loaded("torch");
	void *spec = module ? python_api.attribute(module, "__spec__") : NULL;
	void *value = spec ? python_api.attribute(spec, "_initializing") : NULL;
	const bool is = value && python_api.number(value) == 1;

	python_give(value);
	python_give(spec);
	python_give(module);
	python_api.error_clear();
	return is;
}

/* False: an error of the program's has come, and is set. */
static bool change(void *module, bool on)
{
	struct python_errors errors;

	python_errors_begin(&errors);
	observer.is_busy = true;
	/* Another thread's state may have undone it. */
	leave(module, &errors);
	if (on && !errors.type)
		enter(module, &errors);
	observer.is_busy = false;
	return !python_errors_end(&errors);
}

/* The pending call. */
static int settle(void *unused)
{
	const bool on = load_relaxed(&observer.is_wanted);
	void *type, *value, *trace, *module;
	bool is_due, is_done = true;

	(void)unused;
	store_relaxed(&observer.is_asked, false);
	if (observer.is_busy)
		return 0;
	python_api.error_fetch(&type, &value, &trace);
	module = is_being_imported() ? NULL : loaded(MODULE);
	if (module && on && !observer.entered && is_on())
		note_theirs();
	is_due = on ? !load_relaxed(&observer.is_over) && !is_on()
		    : observer.entered || observer.original;
	if (module && is_due)
		is_done = change(module, on);
	python_give(module);
	if (!is_done)
		return -1;
	python_api.error_clear();
	python_api.error_restore(type, value, trace);
	return 0;
}

static void ask(void)
{
	if (!observer.is_ready ||
	    atomic_exchange_explicit(&observer.is_asked, true,
				     memory_order_relaxed))
		return;
	if (!python_api_ask(settle))
		store_relaxed(&observer.is_asked, false);
}

void torch_observer_follow(bool open)
{
	store_relaxed(&observer.is_wanted, open);
	ask();
}

/* Its module may be imported later, or the program's profiler be done. */
void torch_observer_poll(void)
{
	const uint64_t now = clock_monotonic_ns();

	if (now < observer.next_ns || !load_relaxed(&observer.is_wanted) ||
	    load_relaxed(&observer.is_over))
		return;
	observer.next_ns = now + EACH_NS;
	ask();
}

void torch_observer_start(void)
{
	static const struct itt_listener listener = {
		"PyTorch", torch_told_begins, torch_told_ends};

	observer.is_ready = true;
	itt_listen(&listener);
}

void torch_observer_forget(void)
{
	store_relaxed(&observer.is_asked, false);
	store_relaxed(&observer.is_wanted, false);
	observer.is_busy = false;
}
