/* SPDX-License-Identifier: MIT */
/*
 * python_names.c - names, looked up once; see python_names.h.
 *
 * A code object is kept alive as long as its name is, so that its address means
 * nothing else.  A function in C is known by its entry in the table of methods,
 * since its object is often made for one call.
 */
#include "preload/python/python_names.h"

#include "collector/session/names.h"
#include "collector/session/session.h"
#include "collector/system/base.h"
#include "collector/system/log.h"
#include "preload/python/python_api.h"
#include "preload/python/python_greenlets.h"
#include <string.h>

#define KNOWN	     8192u
#define PROBES	     8u
#define TEXT_BYTES   512u
#define PARTIALS_MAX 4u

struct known {
	const void *key;
	const void *check; /* another object may have come to its place */
	uint32_t id;
	bool is_import;
	bool is_kept;
};

static struct known known[KNOWN];

static struct known *place_of(const void *key)
{
	const uint64_t first =
		((uintptr_t)key >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 40;

	for (unsigned int i = 0; i < PROBES; i++) {
		struct known *place = &known[(first + i) % KNOWN];

		if (place->key == key || !place->key)
			return place;
	}
	return NULL;
}

static uint32_t intern(const char *text)
{
	return names_intern_string(load_relaxed(&session_here), text);
}

uint32_t python_name_text(const char *text, long number)
{
	char line[TEXT_BYTES];

	log_format(line, sizeof(line), "%s%ld)", text, number);
	return intern(line);
}

/* An attribute's text, valid as long as the object is; "?" it has none. */
static void read_attribute(void *object, const char *name, char *text,
			   size_t bytes)
{
	void *value = python_api.attribute(object, name);
	const char *found = value ? python_api.utf8(value) : NULL;
	size_t len = found ? strlen(found) : 0;

	/* The end of a path says more than its beginning. */
	if (len >= bytes)
		found += len - (bytes - 1);
	log_format(text, bytes, "%s", found ? found : "?");
	if (value)
		python_api.give(value);
	python_api.error_clear();
}

/* Without the longest folder of sys.path that it lies in. */
static const char *short_path(const char *path)
{
	void *folders = python_api.system("path");
	size_t longest = 0;

	for (long i = 0; folders && i < 256; i++) {
		void *folder = python_api.list_at(folders, i);
		const char *text = folder ? python_api.utf8(folder) : NULL;
		const size_t len = text ? strlen(text) : 0;

		if (!folder)
			break;
		if (len > longest && !strncmp(path, text, len) &&
		    path[len] == '/' && path[len + 1])
			longest = len + 1;
	}
	python_api.error_clear();
	return path + longest;
}

bool python_name_write(void *code, char *text, size_t bytes)
{
	char path[TEXT_BYTES / 2], name[TEXT_BYTES / 4];
	void *line = python_api.attribute(code, "co_firstlineno");

	read_attribute(code, "co_filename", path, sizeof(path));
	read_attribute(code, "co_name", name, sizeof(name));
	log_format(text, bytes, "%s(%ld): %s", short_path(path),
		   line ? python_api.number(line) : 0, name);
	if (line)
		python_api.give(line);
	python_api.error_clear();
	return !strcmp(name, "_find_and_load") &&
	       !strcmp(path, "<frozen importlib._bootstrap>");
}

bool python_name_is_of_imports(void *code, const char *function)
{
	char text[TEXT_BYTES / 2];

	if (function) {
		read_attribute(code, "co_name", text, sizeof(text));
		if (strcmp(text, function) != 0)
			return false;
	}
	read_attribute(code, "co_filename", text, sizeof(text));
	return !strcmp(text, "<frozen importlib._bootstrap>");
}

/* NULL: it has none. */
static void *member(void *object, const char *name)
{
	void *value = object ? python_api.attribute(object, name) : NULL;

	python_api.error_clear();
	return value;
}

void *python_code_behind(void *function)
{
	void *code = NULL, *inner = function;

	for (unsigned int i = 0; inner && !code && i < PARTIALS_MAX; i++) {
		void *type = python_word(inner, PYTHON_TYPE_AT);
		void *makes_up = member(type, "__getattr__");
		void *next = makes_up ? NULL : member(inner, "func");

		code = makes_up ? NULL : member(inner, "__code__");
		if (!code && !next)
			next = member(type, "__call__");
		python_give(makes_up);
		if (inner != function)
			python_give(inner);
		inner = next;
	}
	if (inner != function)
		python_give(inner);
	return code;
}

static uint32_t describe_code(void *code, bool *is_import)
{
	char text[TEXT_BYTES];

	*is_import = python_name_write(code, text, sizeof(text));
	return intern(text);
}

/* What repr() says, without the address of what it belongs to. */
static uint32_t describe_function(void *function)
{
	void *object = python_api.text_of(function);
	const char *found = object ? python_api.utf8(object) : NULL;
	char text[TEXT_BYTES];
	char *at;

	log_format(text, sizeof(text), "%s", found ? found : "<built-in>");
	at = strstr(text, " at 0x");
	if (at)
		strcpy(at, ">");
	if (object)
		python_api.give(object);
	python_api.error_clear();
	return intern(text);
}

/* Names are made with the program's own error put aside. */
static struct known make(void *object, const void *key, bool is_code)
{
	void *type, *value, *trace;
	struct known one = {.key = key};

	python_api.error_fetch(&type, &value, &trace);
	if (is_code)
		one.id = describe_code(object, &one.is_import);
	else
		one.id = describe_function(object);
	python_api.error_restore(type, value, trace);
	return one;
}

/* Apart, so that what is known costs no more than to look. */
static COLD struct python_name learn_code(void *code, struct known *place)
{
	const struct known made = make(code, code, true);

	if (place) {
		python_api.take(code);
		*place = made;
		place->is_kept = true;
	}
	return (struct python_name){made.id, made.is_import};
}

struct python_name python_name_of_code(void *code)
{
	struct known *place = place_of(code);

	return likely(place && place->key)
		       ? (struct python_name){place->id, place->is_import}
		       : learn_code(code, place);
}

bool python_is_function(const void *callable)
{
	const void *type = python_word(callable, PYTHON_TYPE_AT);

	return type == python_api.function_type ||
	       type == python_api.descriptor_type ||
	       (type == python_api.method_type && type);
}

static COLD struct python_name
learn_function(void *function, const struct python_method *method,
	       struct known *place)
{
	struct known made = make(function, method, false);

	made.check = method->name;
	if (place)
		*place = made;
	return (struct python_name){made.id, false};
}

struct python_name python_name_of_function(void *function)
{
	const bool is_descriptor = python_word(function, PYTHON_TYPE_AT) ==
				   python_api.descriptor_type;
	const struct python_method *method =
		python_word(function, is_descriptor ? PYTHON_DESCRIPTOR_METHOD
						    : PYTHON_FUNCTION_METHOD);
	struct known *place = place_of(method);

	return likely(place && place->key && place->check == method->name)
		       ? (struct python_name){place->id, false}
		       : learn_function(function, method, place);
}

uint32_t python_name_of_import(void *frame, bool *is_greenlets)
{
	void *type, *value, *trace;
	void *locals, *name = NULL;
	const char *text;
	char line[TEXT_BYTES];
	uint32_t id = 0;

	python_api.error_fetch(&type, &value, &trace);
	locals = frame ? python_api.attribute(frame, "f_locals") : NULL;
	if (locals)
		name = python_api.item(locals, "name");
	text = name ? python_api.utf8(name) : NULL;
	if (text) {
		log_format(line, sizeof(line), "import %s", text);
		id = intern(line);
		*is_greenlets = !strcmp(text, PYTHON_GREENLETS);
	}
	if (name)
		python_api.give(name);
	if (locals)
		python_api.give(locals);
	python_api.error_clear();
	python_api.error_restore(type, value, trace);
	return id;
}

void python_names_clear(bool has_gil)
{
	for (unsigned int i = 0; i < KNOWN; i++) {
		if (known[i].is_kept && has_gil)
			python_api.give((void *)(uintptr_t)known[i].key);
		known[i] = (struct known){0};
	}
}
