/* SPDX-License-Identifier: MIT */
/*
 * torch_compile.c - compilations become ranges, and the graph breaks that they
 * meet ranges in them; see torch_compile.h.
 *
 * All but torch_compile_poll() runs under the GIL, and calls functions in C
 * alone: in those of Python an interrupt could be raised, which is the
 * program's.  A compilation is a range, since the handler tells of the
 * outermost one of all threads, whose end may come on another.
 */
#include "preload/torch/torch_compile.h"

#include "collector/session/gate.h"
#include "collector/system/log.h"
#include "preload/annotate/nvtx_range.h"
#include "preload/annotate/scope.h"
#include "preload/process/hook.h"
#include "preload/python/python_api.h"
#include "preload/python/python_names.h"
#include "preload/torch/torch_phases.h"
#include <errno.h>
#include <string.h>

#define TEXT_BYTES  512u
#define FRAMES_MAX  16u /* between the handler and what compiles */
#define BREAKS_MAX  128u
#define SECONDS_MAX 100000.0
#define EACH_NS	    UINT64_C(100000000)

static struct {
	bool is_ready;
	bool is_done;
	_Atomic bool is_asked; /* a pending call is under way */
	uint64_t next_ns;      /* the writer's */
	uint64_t range;
	uint64_t start_ticks;
	uint64_t restart_ticks;
	uint32_t breaks;
	struct {
		uint64_t hash;
		long count;
	} seen[BREAKS_MAX];
} compile;

static void *none(void)
{
	python_api.error_clear();
	python_api.take((void *)(uintptr_t)python_api.none);
	return (void *)(uintptr_t)python_api.none;
}

/* An attribute that is text; false: it isn't. */
static bool read_text(void *object, const char *name, char *text, size_t bytes)
{
	void *value = object ? python_api.attribute(object, name) : NULL;
	const char *found = value ? python_api.utf8(value) : NULL;

	log_format(text, bytes, "%s", found ? found : "");
	python_give(value);
	python_api.error_clear();
	return found != NULL;
}

static bool is_compiling(void *frame)
{
	void *code = python_api.attribute(frame, "f_code");
	char name[TEXT_BYTES];
	const bool is = code &&
			read_text(code, "co_name", name, sizeof(name)) &&
			!strcmp(name, "_compile");

	python_give(code);
	return is;
}

/* A local of the caller that compiles; NULL: there is none. */
static void *local_of_compile(const char *name)
{
	void *frame = python_api.frame_now();
	void *locals = NULL, *found = NULL;

	if (frame)
		python_api.take(frame);
	for (unsigned int i = 0; frame && i < FRAMES_MAX; i++) {
		void *back;

		if (is_compiling(frame)) {
			locals = python_api.attribute(frame, "f_locals");
			found = locals ? python_api.item(locals, name) : NULL;
			break;
		}
		back = python_api.attribute(frame, "f_back");
		python_give(frame);
		frame = back;
	}
	python_give(locals);
	python_give(frame);
	python_api.error_clear();
	return found;
}

/* Of the function whose code is compiled. */
static void name_function(char *text, size_t bytes)
{
	void *code = local_of_compile("code");

	if (code)
		python_name_write(code, text, bytes);
	python_give(code);
	python_api.error_clear();
}

static struct nvtx_event event_of(const char *text)
{
	return (struct nvtx_event){.size = sizeof(struct nvtx_event),
				   .message_type = NVTX_ASCII,
				   .message.ascii = text};
}

/* Called with what set it off and its number, from 2.7 on. */
static void *begins(void *self, void *args)
{
	void *told = python_api.tuple_at(args, 0);
	void *trigger;
	char what[TEXT_BYTES] = "", number[64] = "", text[2 * TEXT_BYTES];
	struct nvtx_event event;

	(void)self;
	python_api.error_clear();
	if (told) {
		trigger = python_api.attribute(told, "callback_trigger");
		read_text(told, "compile_id", number, sizeof(number));
		read_text(trigger, "_name_", what, sizeof(what));
		python_give(trigger);
	}
	if (!strcmp(what, "LAZY_BACKWARD"))
		log_format(what, sizeof(what), "backward");
	else if (strcmp(what, "CUDAGRAPH_RECORDING") != 0)
		name_function(what, sizeof(what));
	log_format(text, sizeof(text), "torch.compile%s%s%s%s%s",
		   *what ? ": " : "", what, *number ? " [" : "", number,
		   *number ? "]" : "");
	event = event_of(text);
	if (compile.range)
		nvtx_end(compile.range);
	compile.range = nvtx_start(NULL, &event);
	compile.start_ticks = clock_ticks();
	torch_phase_compiles(true);
	return none();
}

static uint64_t hash_of(const char *text)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	while (*text)
		hash = (hash ^ (unsigned char)*text++) *
		       UINT64_C(0x100000001b3);
	return hash;
}

/* More of one reason than at the end of the last compilation. */
static bool is_new(const char *reason, long count)
{
	const uint64_t hash = hash_of(reason);
	uint32_t at = 0;
	long before;

	while (at < compile.breaks && compile.seen[at].hash != hash)
		at++;
	if (at == BREAKS_MAX)
		return false;
	if (at == compile.breaks) {
		compile.breaks++;
		compile.seen[at].hash = hash;
		compile.seen[at].count = 0;
	}
	before = compile.seen[at].count;
	compile.seen[at].count = count;
	return count > before;
}

/* When the compilation began the trace again that it kept, as it does after a
 * break; its beginning: it kept the first one, or doesn't tell. */
static uint64_t restart_ticks(uint64_t now)
{
	const struct session *session = load_relaxed(&session_here);
	void *took = local_of_compile("dynamo_time_before_restart");
	const double seconds = took ? python_api.real(took) : 0;
	uint64_t ticks = 0;

	python_give(took);
	python_api.error_clear();
	if (session && seconds > 0 && seconds < SECONDS_MAX)
		ticks = (uint64_t)(seconds * (double)clock_ticks_per_second(
						     &session->head->clock));
	return min_u64(compile.start_ticks + ticks, now);
}

/* It lies in the compilation, and is what was traced before it began again: it
 * is that for which a break is to blame.  No step begins with it. */
static void draw_break(void *reason, void *count)
{
	const char *found = python_api.utf8(reason);
	const int saved = errno;
	char text[TEXT_BYTES];
	struct thread *thread;
	struct event event = {
		.kind = EVENT_RANGE,
		.flags = EVENT_OPERATOR,
		.start_ticks = compile.start_ticks,
		.end_ticks = compile.restart_ticks,
	};

	if (!found || !is_new(found, python_api.number(count)) ||
	    !(gate_bits() & GATE_SCOPE))
		return;
	thread = hook_thread();
	if (thread) {
		log_format(text, sizeof(text), "graph break: %.*s",
			   (int)strcspn(found, "\n"), found);
		event.name = scope_intern(text);
		thread_record(thread, &event);
	}
	errno = saved;
}

/* torch._dynamo.utils.counters["graph_break"], a Counter of reasons. */
static void draw_breaks(void)
{
	void *modules = python_api.system("modules");
	void *utils = modules ? python_api.item(modules, "torch._dynamo.utils")
			      : NULL;
	void *counters = utils ? python_api.attribute(utils, "counters") : NULL;
	void *breaks = counters ? python_api.method(counters, "get", "s",
						    "graph_break")
				: NULL;
	void *reason, *count;
	long at = 0;

	while (breaks && python_api.dict_next(breaks, &at, &reason, &count))
		draw_break(reason, count);
	python_give(breaks);
	python_give(counters);
	python_give(utils);
	python_api.error_clear();
}

static void *ends(void *self, void *args)
{
	const uint64_t now = clock_ticks();

	(void)self;
	(void)args;
	if (!compile.start_ticks)
		compile.start_ticks = now; /* its begin wasn't told */
	compile.restart_ticks = restart_ticks(now);
	draw_breaks();
	if (compile.range)
		nvtx_end(compile.range);
	compile.range = 0;
	compile.start_ticks = 0;
	torch_phase_compiles(false);
	return none();
}

/* What the handler's own methods, in Python, do. */
static bool register_one(void *handler, const char *list_name,
			 void *(*function)(void *, void *),
			 struct python_method *method)
{
	void *list = python_api.attribute(handler, list_name);
	void *callback, *done = NULL;

	method->name = "traceprof";
	method->flags = PYTHON_VARARGS;
	*(void *(**)(void *, void *)) & method->function = function;
	callback = python_api.make_function(method, NULL, NULL);
	if (list && callback)
		done = python_api.method(list, "append", "O", callback);
	python_give(callback);
	python_give(done);
	python_give(list);
	return done != NULL;
}

/* The interpreter is gone; another one has a handler of its own. */
static void ended(void)
{
	compile.is_done = false;
	compile.range = 0;
	compile.start_ticks = 0;
	compile.breaks = 0;
	torch_phase_compiles(false);
}

/* The pending call. */
static int arrange(void *unused)
{
	static struct python_method methods[2];
	void *type, *value, *trace, *modules, *module, *handler;
	struct session *session = load_relaxed(&session_here);

	(void)unused;
	python_api.error_fetch(&type, &value, &trace);
	modules = python_api.system("modules");
	module = modules ? python_api.item(modules, "torch._dynamo.callback")
			 : NULL;
	handler = module ? python_api.attribute(module, "callback_handler")
			 : NULL;
	compile.is_done |= handler != NULL;
	/* Else a second interpreter would be taken for this one. */
	if (handler && python_api.at_end(ended))
		session_note(session, "compilations of torch.compile are not "
				      "drawn: the interpreter's end can't be "
				      "followed");
	else if (handler &&
		 (!register_one(handler, "start_callbacks", begins,
				&methods[0]) ||
		  !register_one(handler, "end_callbacks", ends, &methods[1])))
		session_note(session, "compilations of torch.compile are not "
				      "drawn: this version tells nobody");
	python_give(handler);
	python_give(module);
	python_api.error_clear();
	python_api.error_restore(type, value, trace);
	store_relaxed(&compile.is_asked, false);
	return 0;
}

/* A look costs the main thread less than a microsecond. */
void torch_compile_poll(void)
{
	const uint64_t now = clock_monotonic_ns();

	if (!compile.is_ready || compile.is_done || now < compile.next_ns ||
	    !(gate_bits() & GATE_SCOPE) || load_relaxed(&compile.is_asked))
		return;
	compile.next_ns = now + EACH_NS;
	store_relaxed(&compile.is_asked, true);
	if (!python_api_ask(arrange))
		store_relaxed(&compile.is_asked, false);
}

void torch_compile_prepare(void)
{
	compile.is_ready = true;
}

/* The handler calls the child, too. */
void torch_compile_forget(void)
{
	compile.range = 0;
	compile.start_ticks = 0;
	store_relaxed(&compile.is_asked, false);
}
