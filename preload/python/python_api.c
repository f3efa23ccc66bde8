/* SPDX-License-Identifier: MIT */
/* python_api.c - symbols, version and proof; see python_api.h. */
#include "preload/python/python_api.h"

#include "collector/session/session.h"
#include "collector/system/base.h"
#include "preload/process/no_gil.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct python_api python_api;

static const struct {
	unsigned int offset;
	bool is_needed;
	char name[40];
} symbols[] = {
#define X(is_needed, returns, field, name, parameters)                         \
	{offsetof(struct python_api, field), is_needed, #name},
	PYTHON_API(X)
#undef X
#define OBJECT(field, name)                                                    \
	{                                                                      \
		offsetof(struct python_api, field), true, name                 \
	}
		OBJECT(none, "_Py_NoneStruct"),
	OBJECT(code_type, "PyCode_Type"),
	OBJECT(function_type, "PyCFunction_Type"),
	OBJECT(descriptor_type, "PyMethodDescr_Type"),
	OBJECT(exception, "PyExc_Exception"),
#undef OBJECT
};

static bool find_symbols(void)
{
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		void *found = dlsym(RTLD_DEFAULT, symbols[i].name);

		if (!found && symbols[i].is_needed)
			return false;
		memcpy((char *)&python_api + symbols[i].offset, &found,
		       sizeof(found));
	}
	/* A second kind of function in C, since 3.9. */
	python_api.method_type = dlsym(RTLD_DEFAULT, "PyCMethod_Type");
	if (python_api.minor >= 9 &&
	    (!python_api.frame_code || !python_api.frame_back))
		return false;
	return python_api.minor >= PYTHON_MONITORS ||
	       (python_api.set_profile && python_api.thread_now &&
		python_api.thread_swap && python_api.thread_next &&
		python_api.first_thread && python_api.first_interpreter &&
		python_api.next_interpreter);
}

/* New ones are put before the others. */
void *python_api_main(void)
{
	void *last = NULL, *next;

	if (!python_api.first_interpreter || !python_api.next_interpreter)
		return NULL;
	for (next = python_api.first_interpreter(); next;
	     next = python_api.next_interpreter(next))
		last = next;
	return last;
}

void python_api_find_runtime(void)
{
	ElfW(Sym) *symbol = NULL;
	Dl_info info;

	python_api.runtime = dlsym(RTLD_DEFAULT, "_PyRuntime");
	if (python_api.runtime &&
	    dladdr1(python_api.runtime, &info, (void **)&symbol,
		    RTLD_DL_SYMENT) &&
	    symbol)
		python_api.runtime_bytes = symbol->st_size;
}

bool python_api_is_there(void)
{
	return dlsym(RTLD_DEFAULT, "Py_AddPendingCall") != NULL;
}

void python_api_left_out(struct session *session, const char *what,
			 const char *why)
{
	if (!strcmp(why, NO_GIL_WHY))
		session_note(session, NO_GIL_NOTE);
	else
		session_note(session, "%s are left out: %s", what, why);
}

const char *python_api_look(void)
{
	const char *(*version)(void);
	const char *text;

	*(void **)&version = dlsym(RTLD_DEFAULT, "Py_GetVersion");
	text = version ? version() : "";
	if (strncmp(text, "3.", 2) != 0)
		return "its version is unknown here";
	python_api.minor = atoi(text + 2);
	if (python_api.minor < PYTHON_MINOR_MIN ||
	    python_api.minor > PYTHON_MINOR_MAX)
		return "its version is unknown here";
	if (strstr(text, "free-threading"))
		return NO_GIL_WHY;
	if (!find_symbols())
		return "it lacks functions that its version has";
	return NULL;
}

/* What a forked thread has used of its processor when it is past that. */
#define FORKED_NS UINT64_C(2000000)

static struct {
	_Atomic bool is_new;
	clockid_t clock;
	uint64_t until_ns;
} forked;

static uint64_t forked_used_ns(void)
{
	struct timespec used = {0, 0};

	if (clock_gettime(forked.clock, &used))
		return UINT64_MAX; /* it has ended */
	return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

void python_api_forked(void)
{
	if (pthread_getcpuclockid(pthread_self(), &forked.clock))
		return;
	forked.until_ns = forked_used_ns() + FORKED_NS;
	/* RELEASE pairs with ACQUIRE in is_in_order(): its clock. */
	store_release(&forked.is_new, true);
}

static bool is_in_order(void)
{
	/* ACQUIRE pairs with RELEASE in python_api_forked(). */
	if (load_acquire(&forked.is_new) && forked_used_ns() >= forked.until_ns)
		store_relaxed(&forked.is_new, false);
	return !load_relaxed(&forked.is_new);
}

/* An interpreter that is gone has no queue, and would crash. */
bool python_api_ask(int (*function)(void *))
{
	return is_in_order() && python_api.is_initialized() &&
	       !python_api.add_pending(function, NULL);
}

/* A builtin that all have, by its members and by what functions say of it. */
bool python_api_prove(void)
{
	const struct python_api *api = &python_api;
	void *builtins = api->import("builtins");
	void *len = builtins ? api->attribute(builtins, "len") : NULL;
	void *object = builtins ? api->attribute(builtins, "object") : NULL;
	void *size = object ? api->attribute(object, "__basicsize__") : NULL;
	const struct python_method *method;
	bool is_right = len && size && api->number(size) == 16 &&
			python_word(len, PYTHON_TYPE_AT) == api->function_type;

	if (is_right) {
		method = python_word(len, PYTHON_FUNCTION_METHOD);
		is_right = method->function == api->c_function(len);
	}
	api->error_clear();
	if (size)
		api->give(size);
	if (object)
		api->give(object);
	if (len)
		api->give(len);
	if (builtins)
		api->give(builtins);
	return is_right;
}

void *python_frame_code(void *frame)
{
	void *code;

	if (!python_api.frame_code)
		return python_word(frame, PYTHON_FRAME_CODE);
	code = python_api.frame_code(frame);
	python_api.give(code);
	return code;
}

void *python_frame_back(void *frame)
{
	void *back;

	if (!python_api.frame_back)
		return python_word(frame, PYTHON_FRAME_BACK);
	back = python_api.frame_back(frame);
	if (back)
		python_api.give(back);
	return back;
}
