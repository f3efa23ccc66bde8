/* SPDX-License-Identifier: MIT */
/*
 * python_monitor.c - a tool of sys.monitoring's; see python_monitor.h.
 *
 * CALL is told of every callable, C_RETURN of all that are no functions of
 * Python's: so only what is a function in C counts, for both.
 */
#include "preload/python/python_monitor.h"

#include "collector/system/base.h"
#include "preload/python/python_api.h"
#include "preload/python/python_names.h"
#include "preload/python/python_profile.h"
#include <string.h>

/* Those that tools rarely take come first. */
static const int tools[] = {4, 3, 1, 0};

static struct {
	int tool; /* our number and one; 0 none */
} monitor;

static void *none(void)
{
	void *object = (void *)(uintptr_t)python_api.none;

	python_api.take(object);
	return object;
}

/* (code, offset, ...) */
static void *begins(void *self, void *const *args, long count)
{
	(void)self;
	(void)count;
	python_hook_begins(args[0], NULL);
	return none();
}

static void *ends(void *self, void *const *args, long count)
{
	(void)self;
	(void)count;
	python_hook_ends(args[0], NULL);
	return none();
}

/* (code, offset, callable, first argument) */
static void *function_begins(void *self, void *const *args, long count)
{
	(void)self;
	if (count > 2 && python_is_function(args[2]))
		python_hook_function_begins(args[2], NULL);
	return none();
}

static void *function_ends(void *self, void *const *args, long count)
{
	(void)self;
	if (count > 2 && python_is_function(args[2]))
		python_hook_function_ends(args[2], NULL);
	return none();
}

static const struct {
	char name[16];
	void *(*function)(void *self, void *const *args, long count);
} events[] = {
	{"PY_START", begins},	    {"PY_RESUME", begins},
	{"PY_THROW", begins},	    {"PY_RETURN", ends},
	{"PY_YIELD", ends},	    {"PY_UNWIND", ends},
	{"CALL", function_begins},  {"C_RETURN", function_ends},
	{"C_RAISE", function_ends},
};

#define EVENTS (sizeof(events) / sizeof(events[0]))

static struct python_method methods[EVENTS];
static void *callbacks[EVENTS];

static bool is_done(void *result)
{
	if (result)
		python_api.give(result);
	python_api.error_clear();
	return result != NULL;
}

/* The number of an event, a bit of them; 0 this version has none. */
static long number_of(void *names, const char *name)
{
	void *value = names ? python_api.attribute(names, name) : NULL;
	const long number = value ? python_api.number(value) : 0;

	if (value)
		python_api.give(value);
	python_api.error_clear();
	return number;
}

static bool take_tool(void *monitoring)
{
	for (unsigned int i = 0; i < sizeof(tools) / sizeof(tools[0]); i++) {
		if (!is_done(python_api.method(monitoring, "use_tool_id", "is",
					       tools[i], "traceprof")))
			continue;
		monitor.tool = tools[i] + 1;
		return true;
	}
	return false;
}

/* False: an audit hook of the program's has refused something. */
static bool register_all(void *monitoring, void *names, bool on)
{
	const int tool = monitor.tool - 1;
	bool is_right = true;
	long all = 0;

	for (unsigned int i = 0; i < EVENTS; i++) {
		const long number = number_of(names, events[i].name);

		if (!callbacks[i]) {
			methods[i] = (struct python_method){
				.name = "traceprof", .flags = PYTHON_FASTCALL};
			*(void *(**)(void *, void *const *, long)) &
				methods[i].function = events[i].function;
			callbacks[i] = python_api.make_function(&methods[i],
								NULL, NULL);
		}
		all |= number;
		if (number && callbacks[i])
			is_right &= is_done(python_api.method(
				monitoring, "register_callback", "ilO", tool,
				number, on ? callbacks[i] : python_api.none));
	}
	return is_done(python_api.method(monitoring, "set_events", "il", tool,
					 on && is_right ? all : 0)) &&
	       is_right;
}

void python_monitor_turn(bool on)
{
	void *monitoring = python_api.system("monitoring");
	void *names =
		monitoring ? python_api.attribute(monitoring, "events") : NULL;

	if (names && on && !monitor.tool && !take_tool(monitoring))
		python_hook_say("no calls of Python: all tools of "
				"sys.monitoring are taken");
	if (names && monitor.tool && !register_all(monitoring, names, on) && on)
		python_hook_say("no calls of Python: something refuses "
				"sys.monitoring, as an audit hook may");
	if (names && monitor.tool && !on) {
		is_done(python_api.method(monitoring, "free_tool_id", "i",
					  monitor.tool - 1));
		monitor.tool = 0;
	}
	if (names)
		python_api.give(names);
}

void python_monitor_forget(void)
{
	memset(callbacks, 0, sizeof(callbacks));
	monitor.tool = 0;
}
