/* SPDX-License-Identifier: MIT */
/*
 * jax_compile.c - what JAX's listeners are told becomes ranges; see
 * jax_compile.h.
 *
 * Listeners are Python lists of jax._src.monitoring, to which its own
 * register_event_duration_secs_listener() appends; so do we, since a function
 * in Python could be interrupted, which is the program's.  A range is recorded
 * when it is over: JAX tells how long it took.
 */
#include "preload/jax/jax_compile.h"

#include "collector/session/gate.h"
#include "collector/session/modules.h"
#include "collector/system/loader.h"
#include "collector/system/log.h"
#include "preload/annotate/scope.h"
#include "preload/jax/xla_traceme.h"
#include "preload/process/hook.h"
#include "preload/process/process.h"
#include "preload/python/python_api.h"
#include <errno.h>
#include <string.h>
#include <sys/prctl.h>

#define STACK_BYTES (256u << 10)
#define TEXT_BYTES  512u
#define FRAMES_MAX  256u /* JAX's, between the program and the listener */
#define SECONDS_MAX 86400.0
#define EACH_NS	    UINT64_C(100000000)

enum { JAX_NONE, JAX_BEGUN, JAX_READY, JAX_FAILED };

static struct {
	_Atomic uint32_t state;
	const struct module *seen; /* the newest, at the last look */
	bool is_done;
	_Atomic bool is_asked; /* a pending call is under way */
	uint64_t next_ns;      /* the writer's */
} jax;

static void *attribute(void *object, const char *name)
{
	void *value = object ? python_api.attribute(object, name) : NULL;

	python_api.error_clear();
	return value;
}

static const char *text_of(void *text)
{
	const char *found = text ? python_api.utf8(text) : NULL;

	python_api.error_clear();
	return found;
}

/* What a package brings along, the interpreter's own included. */
static bool is_of_a_package(const char *file)
{
	return *file == '<' || strstr(file, "/site-packages/") ||
	       strstr(file, "/dist-packages/") || strstr(file, "/lib/python");
}

/* "train.py(8)": the program's innermost line; "" there is none. */
static void write_line(char *text, size_t bytes)
{
	void *frame = python_api.frame_now();

	*text = '\0';
	if (frame)
		python_api.take(frame);
	for (unsigned int i = 0; frame && !*text && i < FRAMES_MAX; i++) {
		void *code = attribute(frame, "f_code");
		void *file = attribute(code, "co_filename");
		void *line = attribute(frame, "f_lineno");
		void *back = attribute(frame, "f_back");
		const char *path = text_of(file);
		const char *slash = path ? strrchr(path, '/') : NULL;

		if (path && line && !is_of_a_package(path))
			log_format(text, bytes, "%s(%ld)",
				   slash ? slash + 1 : path,
				   python_api.number(line));
		python_api.error_clear();
		python_give(line);
		python_give(file);
		python_give(code);
		python_give(frame);
		frame = back;
		/* Its caller has none. */
		if (frame == python_api.none) {
			python_give(frame);
			frame = NULL;
		}
	}
	python_give(frame);
}

/* NULL: nothing of a compilation. */
static const char *part_of(const char *event)
{
	static const struct {
		const char *event, *part;
	} parts[] = {
		{"/jax/core/compile/jaxpr_trace_duration", "trace"},
		{"/jax/core/compile/jaxpr_to_mlir_module_duration", "lower"},
		{"/jax/core/compile/backend_compile_duration", "compile"},
	};

	for (size_t i = 0; event && i < sizeof(parts) / sizeof(*parts); i++)
		if (!strcmp(event, parts[i].event))
			return parts[i].part;
	return NULL;
}

/* "jax.jit: compile loss, train.py(8)"; before 0.4.36 it tells no function. */
static uint32_t name_of(const char *part, void *named)
{
	void *function = named ? python_api.item(named, "fun_name") : NULL;
	const char *found = text_of(function);
	char line[TEXT_BYTES], text[2 * TEXT_BYTES];
	size_t len = found ? strlen(found) : 0;

	if (len > 5 && !strncmp(found, "jit(", 4) && found[len - 1] == ')') {
		found += 4;
		len -= 5;
	}
	write_line(line, sizeof(line));
	log_format(text, sizeof(text), "jax.jit: %s%s%.*s%s%s", part,
		   len ? " " : "", (int)(len < TEXT_BYTES ? len : TEXT_BYTES),
		   found ? found : "", *line ? ", " : "", line);
	python_give(function);
	return scope_intern(text);
}

static void record(const char *part, double seconds, void *named)
{
	const struct session *session = load_relaxed(&session_here);
	const int saved = errno;
	struct thread *thread;
	struct event event = {
		.kind = EVENT_RANGE,
		.flags = EVENT_OPERATOR,
		.end_ticks = clock_ticks(),
	};

	if (!(gate_bits() & GATE_SCOPE) || !session ||
	    !(seconds >= 0 && seconds < SECONDS_MAX))
		return;
	thread = hook_thread();
	if (thread) {
		event.start_ticks =
			event.end_ticks -
			(uint64_t)(seconds * (double)clock_ticks_per_second(
						     &session->head->clock));
		event.name = name_of(part, named);
		thread_record(thread, &event);
	}
	errno = saved;
}

/* Called with the event's name and how long it took. */
static void *tells(void *self, void *args, void *named)
{
	const char *part = part_of(text_of(python_api.tuple_at(args, 0)));
	void *took = part ? python_api.tuple_at(args, 1) : NULL;
	const double seconds = took ? python_api.real(took) : -1;

	(void)self;
	python_api.error_clear();
	if (part)
		record(part, seconds, named);
	python_api.error_clear();
	python_api.take((void *)(uintptr_t)python_api.none);
	return (void *)(uintptr_t)python_api.none;
}

static bool listen(void *list)
{
	static struct python_method method = {
		.name = "traceprof", .flags = PYTHON_VARARGS | PYTHON_KEYWORDS};
	void *listener, *done = NULL;

	*(void *(**)(void *, void *, void *)) & method.function = tells;
	listener = python_api.make_function(&method, NULL, NULL);
	if (listener)
		done = python_api.method(list, "append", "O", listener);
	python_give(listener);
	python_give(done);
	return done != NULL;
}

/* The interpreter is gone; another one has lists of its own. */
static void ended(void)
{
	jax.is_done = false;
}

/* The pending call. */
static int arrange(void *unused)
{
	void *type, *value, *trace, *modules, *module, *list;
	struct session *session = load_relaxed(&session_here);

	(void)unused;
	python_api.error_fetch(&type, &value, &trace);
	modules = python_api.system("modules");
	module = modules ? python_api.item(modules, "jax._src.monitoring")
			 : NULL;
	list = attribute(module, "_event_duration_secs_listeners");
	jax.is_done |= list != NULL;
	/* Else a second interpreter would be taken for this one. */
	if (list && python_api.at_end(ended))
		session_note(session, "JAX's compilations are not drawn: the "
				      "interpreter's end can't be followed");
	else if (list && !listen(list))
		session_note(session, "JAX's compilations are not drawn: this "
				      "version tells nobody");
	if (list)
		xla_traceme_arrange(session);
	python_give(list);
	python_give(module);
	python_api.error_clear();
	python_api.error_restore(type, value, trace);
	store_relaxed(&jax.is_asked, false);
	return 0;
}

static bool ends_so(const struct module *module, const char *end)
{
	const size_t len = strlen(end);

	return module->path_len >= len &&
	       !memcmp(module->path + module->path_len - len, end, len);
}

/* Where XLA is: beside the interpreter's module in newer versions. */
static void find_recorder(struct session *session)
{
	const struct module *module = modules_each(session, NULL);

	while (module && !ends_so(module, "/jaxlib/libjax_common.so") &&
	       !ends_so(module, "/jaxlib/xla_extension.so"))
		module = modules_each(session, module);
	if (module)
		xla_traceme_find(session, module->path, module->bias);
}

/* The loader may keep this thread waiting until the program's import is
 * done. */
static void *look(void *unused)
{
	struct session *session = load_relaxed(&session_here);
	bool is_ready = false;

	(void)unused;
	thread_busy();
	prctl(PR_SET_NAME, "traceprof-jax", 0, 0, 0);
	if (loader_enter()) {
		is_ready = python_api_is_there() && !python_api_look() &&
			   python_api.is_initialized();
		if (is_ready && session)
			find_recorder(session);
		loader_leave();
	}
	/* RELEASE pairs with ACQUIRE in jax_compile_poll(): python_api. */
	store_release(&jax.state, is_ready ? JAX_READY : JAX_FAILED);
	return NULL;
}

static bool is_jax(const struct module *module)
{
	static const char *const ends[] = {"/jaxlib/_jax.so",
					   "/xla_extension.so"};

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		if (ends_so(module, ends[i]))
			return true;
	}
	return false;
}

static void find(struct session *session)
{
	const struct module *newest, *module;

	modules_refresh(session);
	newest = module = modules_each(session, NULL);
	while (module && module != jax.seen && !is_jax(module))
		module = modules_each(session, module);
	if (module && module != jax.seen) {
		store_relaxed(&jax.state, JAX_BEGUN);
		if (background_start(look, STACK_BYTES))
			store_relaxed(&jax.state, JAX_FAILED);
	}
	jax.seen = newest;
}

/* A look costs the main thread less than a microsecond. */
void jax_compile_poll(struct session *session)
{
	/* ACQUIRE pairs with RELEASE in look(). */
	const uint32_t state = load_acquire(&jax.state);
	uint64_t now;

	if (process.options.torch == TORCH_OFF)
		return;
	if (state == JAX_NONE)
		find(session);
	xla_traceme_poll(session);
	if (state != JAX_READY || jax.is_done || !(gate_bits() & GATE_SCOPE) ||
	    load_relaxed(&jax.is_asked))
		return;
	now = clock_monotonic_ns();
	if (now < jax.next_ns)
		return;
	jax.next_ns = now + EACH_NS;
	store_relaxed(&jax.is_asked, true);
	if (!python_api_ask(arrange))
		store_relaxed(&jax.is_asked, false);
}

/* The listener is in the child's lists, too. */
void jax_compile_forget(void)
{
	uint32_t begun = JAX_BEGUN;

	jax.seen = NULL;
	xla_traceme_forget();
	store_relaxed(&jax.is_asked, false);
	atomic_compare_exchange_strong(&jax.state, &begun, JAX_FAILED);
}
