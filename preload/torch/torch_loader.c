/* SPDX-License-Identifier: MIT */
/*
 * torch_loader.c - the iterator of a DataLoader; see torch_loader.h.
 *
 * Members are read, and functions in C are called, so that no instruction of
 * Python runs.  The one thing that is changed is the reference that the
 * iterator has to the function that collates: ours calls it.  An iterator
 * doesn't outlive its epoch.
 *
 * All but torch_loader_scope() runs under the GIL.
 */
#include "preload/torch/torch_loader.h"

#include "collector/session/gate.h"
#include "collector/system/log.h"
#include "preload/annotate/scope.h"
#include "preload/python/python_api.h"
#include "preload/python/python_hook.h"
#include "preload/python/python_names.h"
#include <string.h>

#define SCOPE_NAME   "enumerate(DataLoader)"
#define FILE_NAME    "torch/utils/data/dataloader.py"
#define SCOPE_LOADER 4u /* owner of the slice that collates */
#define FRAMES_MAX   8u
#define SUBSETS_MAX  4u
#define TEXT_BYTES   512u

static struct {
	bool is_ready;
	_Atomic bool is_asked; /* a pending call is under way */
	/* The main thread's batch that is being made. */
	const struct thread *thread;
	uint32_t depth; /* of its scope; 0: the data set was read */
	uint64_t start_ticks;
	uint32_t fetch; /* the name of what reads the data set */
	/* An interrupt that came during the look; type NULL: none did. */
	void *type, *value, *trace;
} loader;

/* What isn't an Exception is no answer to us: the main thread gets it once the
 * look is over. */
static void clear_error(void)
{
	if (!python_api.error_now() ||
	    python_api.error_is(*python_api.exception)) {
		python_api.error_clear();
		return;
	}
	python_give(loader.type);
	python_give(loader.value);
	python_give(loader.trace);
	python_api.error_fetch(&loader.type, &loader.value, &loader.trace);
}

static void *attribute(void *object, const char *name)
{
	void *value = object ? python_api.attribute(object, name) : NULL;

	clear_error();
	return value;
}

/* -1: there is none. */
static long number(void *object, const char *name)
{
	void *value = attribute(object, name);
	const long found = value ? python_api.number(value) : -1;

	python_give(value);
	clear_error();
	return found;
}

/* What a method without arguments, written in C, returns. */
static long ask(void *object, const char *method)
{
	void *value = object ? python_api.method(object, method, NULL) : NULL;
	const long found = value ? python_api.number(value) : -1;

	python_give(value);
	clear_error();
	return found;
}

/* --- names ---------------------------------------------------------------- */

static uint32_t name_of(const char *what, void *function)
{
	void *code = python_code_behind(function);
	char text[TEXT_BYTES], name[TEXT_BYTES + 32];

	if (code)
		python_name_write(code, text, sizeof(text));
	log_format(name, sizeof(name), "DataLoader %s%s%s", what,
		   code ? ": " : "", code ? text : "");
	python_give(code);
	clear_error();
	return scope_intern(name);
}

static bool is_text(void *object, const char *name, const char *wanted)
{
	void *value = attribute(object, name);
	const char *text = value ? python_api.utf8(value) : NULL;
	const bool is = text && !strcmp(text, wanted);

	python_give(value);
	clear_error();
	return is;
}

static void *type_of(void *object)
{
	return object ? python_word(object, PYTHON_TYPE_AT) : NULL;
}

/* The program's own one: random_split() puts a Subset before it. */
static void *dataset_of(void *fetcher)
{
	void *dataset = attribute(fetcher, "dataset");

	for (unsigned int i = 0; i < SUBSETS_MAX; i++) {
		void *type = type_of(dataset), *behind;

		if (!is_text(type, "__name__", "Subset") ||
		    !is_text(type, "__module__", "torch.utils.data.dataset"))
			break;
		behind = attribute(dataset, "dataset");
		if (!behind)
			break;
		python_give(dataset);
		dataset = behind;
	}
	return dataset;
}

static uint32_t name_of_fetch(void *fetcher)
{
	void *iterated = attribute(fetcher, "dataset_iter");
	void *dataset = dataset_of(fetcher);
	void *type = type_of(dataset);
	void *function = NULL;
	uint32_t name;

	if (iterated)
		function = attribute(type, "__iter__");
	else if (number(fetcher, "auto_collation") == 1)
		function = attribute(type, "__getitems__");
	if (!function)
		function = attribute(type, "__getitem__");
	name = name_of("fetch", function);
	python_give(function);
	python_give(dataset);
	python_give(iterated);
	return name;
}

/* --- without workers ------------------------------------------------------ */

/* The batch's scope is still the one that the thread is in. */
static bool is_in_batch(const struct thread *thread)
{
	const uint32_t at = loader.depth;

	return thread == loader.thread && at && at <= OPEN_SLICES_MAX &&
	       load_relaxed(&thread->depth) >= at &&
	       thread->open[at - 1].start_ticks <= loader.start_ticks &&
	       thread->open[at - 1].kind == EVENT_SCOPE;
}

/* In the place of the function that collates, which it has for `self`. */
static void *collate(void *self, void *args, void *named)
{
	static const struct scope_details part = {.is_looked_up = true};
	struct thread *thread = thread_self;
	const bool is_drawn = gate_bits() & GATE_SCOPE &&
			      thread_records(thread) && is_in_batch(thread);
	void *result;

	if (is_drawn) {
		loader.depth = 0;
		if (loader.fetch)
			scope_record_now(thread, EVENT_SCOPE, loader.fetch,
					 loader.start_ticks, &part);
		scope_push(thread, SCOPE_LOADER, true, name_of("collate", self),
			   &part);
	}
	result = python_api.call_with(self, args, named);
	thread = thread_self;
	if (is_drawn && thread_records(thread) && gate_bits() != GATE_UNDECIDED)
		scope_pop(thread, SCOPE_LOADER);
	return result;
}

static struct python_method method = {"traceprof", NULL,
				      PYTHON_VARARGS | PYTHON_KEYWORDS, NULL};

static bool is_ours(void *function)
{
	return python_word(function, PYTHON_TYPE_AT) ==
		       python_api.function_type &&
	       python_word(function, PYTHON_FUNCTION_METHOD) == &method;
}

/* Calls of Python name the functions themselves, where they are recorded. */
static void stand_before(void *fetcher)
{
	void *function = attribute(fetcher, "collate_fn");
	void *ours = NULL;

	*(void *(**)(void *, void *, void *)) & method.function = collate;
	if (function && !is_ours(function) && !python_tells())
		ours = python_api.make_function(&method, function, NULL);
	if (ours && !python_api.set_attribute(fetcher, "collate_fn", ours))
		loader.fetch = name_of_fetch(fetcher);
	python_give(ours);
	python_give(function);
	clear_error();
}

/* --- with workers --------------------------------------------------------- */

/* A queue of the pinning thread's, or one between processes: those hold as many
 * as a semaphore has been taken. */
static long length_of(void *queue)
{
	void *list = attribute(queue, "queue");
	void *outer = attribute(queue, "_sem");
	void *inner = attribute(outer, "_semlock");
	const long most = number(queue, "_maxsize");
	const long left = ask(inner, "_get_value");
	const long length = list		     ? ask(list, "__len__")
			    : most >= 0 && left >= 0 ? most - left
						     : -1;

	python_give(inner);
	python_give(outer);
	python_give(list);
	return length;
}

static void tell(const char *name, long value)
{
	struct thread *thread = hook_thread();
	const uint64_t now = clock_ticks();
	const struct event event = {
		.kind = EVENT_COUNTER,
		.name = scope_intern(name),
		.start_ticks = now,
		.end_ticks = now,
		.counter.value = (double)value,
	};

	if (thread)
		thread_record(thread, &event);
}

/* Batches that were asked of workers and not handed out: some have come out of
 * their turn and wait, unless the program takes them so; some lie in the queue,
 * the rest is worked at. */
static void tell_queue(void *iterator)
{
	void *queue = attribute(iterator, "_data_queue");
	const long sent = number(iterator, "_send_idx");
	const long handed = number(iterator, "_rcvd_idx");
	const long outstanding = number(iterator, "_tasks_outstanding");
	const bool none_waits = number(iterator, "_in_order") == 0;
	const long queued = length_of(queue);

	python_give(queue);
	if (queued < 0 || outstanding < queued || sent - handed < outstanding)
		return;
	tell("DataLoader: batches ready",
	     none_waits ? queued : queued + (sent - handed - outstanding));
	tell("DataLoader: batches in work", outstanding - queued);
}

/* --- the look ------------------------------------------------------------- */

static bool is_next(void *frame)
{
	void *code = attribute(frame, "f_code");
	void *name = attribute(code, "co_name");
	void *path = attribute(code, "co_filename");
	const char *name_text = name ? python_api.utf8(name) : NULL;
	const char *path_text = path ? python_api.utf8(path) : NULL;
	const size_t len = path_text ? strlen(path_text) : 0;
	const bool is =
		name_text && !strcmp(name_text, "__next__") &&
		len >= sizeof(FILE_NAME) - 1 &&
		!strcmp(path_text + len - (sizeof(FILE_NAME) - 1), FILE_NAME);

	python_give(path);
	python_give(name);
	python_give(code);
	return is;
}

/* The iterator whose __next__() is under way; NULL: none is. */
static void *find_iterator(void)
{
	void *frame = python_api.frame_now();
	void *locals = NULL, *iterator = NULL;

	if (frame)
		python_api.take(frame);
	for (unsigned int i = 0; frame && !locals && i < FRAMES_MAX; i++) {
		void *back = attribute(frame, "f_back");

		if (is_next(frame))
			locals = attribute(frame, "f_locals");
		python_give(frame);
		frame = back;
	}
	if (locals)
		iterator = python_api.item(locals, "self");
	python_give(locals);
	python_give(frame);
	return iterator;
}

/* The pending call. */
static int look(void *unused)
{
	void *type, *value, *trace, *iterator, *fetcher;

	(void)unused;
	store_relaxed(&loader.is_asked, false);
	if (!(gate_bits() & GATE_SCOPE))
		return 0;
	python_api.error_fetch(&type, &value, &trace);
	iterator = find_iterator();
	fetcher = attribute(iterator, "_dataset_fetcher");
	if (fetcher)
		stand_before(fetcher);
	else if (iterator)
		tell_queue(iterator);
	python_give(fetcher);
	python_give(iterator);
	clear_error();
	if (loader.type) {
		python_give(type);
		python_give(value);
		python_give(trace);
		python_api.error_restore(loader.type, loader.value,
					 loader.trace);
		loader.type = loader.value = loader.trace = NULL;
		return -1;
	}
	python_api.error_restore(type, value, trace);
	return 0;
}

void torch_loader_scope(struct thread *thread, const char *name)
{
	const struct session *session = load_relaxed(&session_here);

	if (!loader.is_ready || strncmp(name, SCOPE_NAME, strlen(SCOPE_NAME)) ||
	    thread->tid != (uint32_t)session->head->pid)
		return;
	loader.thread = thread;
	loader.depth = load_relaxed(&thread->depth);
	loader.start_ticks = clock_ticks();
	if (atomic_exchange_explicit(&loader.is_asked, true,
				     memory_order_relaxed))
		return;
	if (python_api_ask(look))
		return;
	/* The interpreter's list of such calls is full. */
	store_relaxed(&loader.is_asked, false);
	hook_unfollowed();
}

void torch_loader_prepare(void)
{
	loader.is_ready = true;
}

void torch_loader_forget(void)
{
	store_relaxed(&loader.is_asked, false);
	loader.depth = loader.fetch = 0;
}
