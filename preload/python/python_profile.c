/* SPDX-License-Identifier: MIT */
/*
 * python_profile.c - PyEval_SetProfile(), for each thread; see
 * python_profile.h.
 *
 * The function's object is a callable, so that a program which keeps what
 * sys.getprofile() gave it and sets it again has us back.  It holds a capsule:
 * when that dies, the thread has another profile function.
 */
#include "preload/python/python_profile.h"

#include "collector/system/base.h"
#include "preload/python/python_api.h"
#include <string.h>

#define CAPSULE "traceprof"

static void *set_again(void *self, void *args);

static struct python_method method = {"traceprof", NULL, PYTHON_VARARGS, NULL};

static struct {
	bool is_on;
	void *main;   /* interpreter */
	void *newest; /* thread of it */
} profile;

static void set_all(void);

static int told(void *object, void *frame, int what, void *arg)
{
	void *code;

	(void)object;
	switch (what) {
	case PYTHON_CALL:
	case PYTHON_RETURN:
		code = python_api.frame_code
			       ? python_api.frame_code(frame)
			       : python_word(frame, PYTHON_FRAME_CODE);
		if (what == PYTHON_CALL)
			python_hook_begins(code, frame);
		else
			python_hook_ends(code, frame);
		if (python_api.frame_code)
			python_api.give(code);
		break;
	case PYTHON_C_CALL: python_hook_function_begins(arg, frame); break;
	case PYTHON_C_EXCEPTION:
	case PYTHON_C_RETURN: python_hook_function_ends(arg, frame); break;
	default: break;
	}
	/* A thread began meanwhile: new ones come first.  To look costs as much
	 * as half of the rest. */
	if (unlikely(what == PYTHON_CALL && profile.is_on &&
		     python_api.first_thread(profile.main) != profile.newest))
		set_all();
	return 0;
}

/* The capsule dies: on its own thread somebody else was set, or we have put
 * ours out ourselves. */
static void replaced(void *capsule)
{
	if (profile.is_on &&
	    python_api.pointer(capsule, CAPSULE) == python_api.thread_now())
		python_hook_left();
}

/* For the present thread. */
static void set_here(void)
{
	void *capsule =
		python_api.capsule(python_api.thread_now(), CAPSULE, replaced);
	void *object = NULL;

	*(void *(**)(void *, void *)) & method.function = set_again;
	if (capsule) {
		object = python_api.make_function(&method, capsule, NULL);
		python_api.give(capsule);
	}
	if (object) {
		python_api.set_profile(told, object);
		python_api.give(object);
	}
}

/* sys.setprofile(what sys.getprofile() gave): as a function of Python's it gets
 * one call. */
static void *set_again(void *self, void *args)
{
	(void)self;
	(void)args;
	set_here();
	python_api.take((void *)(uintptr_t)python_api.none);
	return (void *)(uintptr_t)python_api.none;
}

enum holder { NOBODY, WE, PROGRAM };

static enum holder holder_here(void)
{
	void *get = python_api.system("getprofile");
	void *is = get ? python_api.call(get, NULL) : NULL;
	enum holder holder = PROGRAM;

	if (is == python_api.none)
		holder = NOBODY;
	else if (is &&
		 python_word(is, PYTHON_TYPE_AT) == python_api.function_type &&
		 python_word(is, PYTHON_FUNCTION_METHOD) == &method)
		holder = WE;
	if (is)
		python_api.give(is);
	python_api.error_clear();
	return holder;
}

/* As the thread that the interpreter has swapped in. */
static void set_one(void)
{
	void *type, *value, *trace;

	python_api.error_fetch(&type, &value, &trace);
	switch (holder_here()) {
	case NOBODY:
		/* Else the interpreter would print what the hook raised. */
		if (!python_api.audit ||
		    !python_api.audit("sys.setprofile", NULL))
			set_here();
		else
			python_hook_say("calls of Python are left out of a "
					"thread: an audit hook refuses it");
		break;
	case WE: break;
	case PROGRAM:
		python_hook_say("calls of Python are left out of a thread that "
				"has a profile function of the program's");
		break;
	}
	python_api.error_clear();
	python_api.error_restore(type, value, trace);
}

static void set_all(void)
{
	void *own = python_api.thread_now();
	void *thread;

	profile.main = python_api_main();
	profile.newest = python_api.first_thread(profile.main);
	for (thread = profile.newest; thread;
	     thread = python_api.thread_next(thread)) {
		python_api.thread_swap(thread);
		set_one();
	}
	python_api.thread_swap(own);
}

/* Off: each thread by itself, when it is next told something. */
void python_profile_turn(bool on)
{
	profile.is_on = on;
	if (on)
		set_all();
	else if (holder_here() == WE)
		python_api.set_profile(NULL, NULL);
}
