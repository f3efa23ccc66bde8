/* SPDX-License-Identifier: MIT */
/* python_errors.c - by the frames of its trace; see python_errors.h. */
#include "preload/python/python_errors.h"

#include "preload/python/python_api.h"
#include "preload/python/python_names.h"
#include <stddef.h>

void python_errors_begin(struct python_errors *errors)
{
	void *modules = python_api.system("modules");
	void *module = modules ? python_api.item(modules, "_signal") : NULL;

	*errors = (struct python_errors){.type = NULL};
	for (int i = 1; module && i < PYTHON_SIGNALS; i++) {
		errors->handlers[i] =
			python_api.method(module, "getsignal", "i", i);
		python_api.error_clear();
	}
	python_give(module);
	python_api.error_clear();
}

static bool is_in_trace(const void *code, void *trace)
{
	bool is = false;

	python_api.take(trace);
	while (trace && !is) {
		void *frame = python_api.attribute(trace, "tb_frame");
		void *ran =
			frame ? python_api.attribute(frame, "f_code") : NULL;
		void *next = python_api.attribute(trace, "tb_next");

		is = ran && ran == code;
		python_give(ran);
		python_give(frame);
		python_give(trace);
		trace = next;
		python_api.error_clear();
	}
	python_give(trace);
	return is;
}

static bool is_handlers(const struct python_errors *errors, void *trace)
{
	bool is = false;

	for (int i = 1; trace && !is && i < PYTHON_SIGNALS; i++) {
		void *handler = errors->handlers[i];
		void *code = handler ? python_code_behind(handler) : NULL;

		is = code && is_in_trace(code, trace);
		python_give(code);
	}
	return is;
}

bool python_errors_take(struct python_errors *errors)
{
	void *type, *value, *trace;
	bool is;

	if (!python_api.error_now())
		return false;
	is = !python_api.error_is(*python_api.exception);
	python_api.error_fetch(&type, &value, &trace);
	is = is || is_handlers(errors, trace);
	if (is) {
		/* The later one, as if Python had called. */
		python_give(errors->type);
		python_give(errors->value);
		python_give(errors->trace);
		errors->type = type;
		errors->value = value;
		errors->trace = trace;
	} else {
		python_give(type);
		python_give(value);
		python_give(trace);
	}
	return is;
}

bool python_errors_end(struct python_errors *errors)
{
	for (int i = 1; i < PYTHON_SIGNALS; i++)
		python_give(errors->handlers[i]);
	if (!errors->type)
		return false;
	python_api.error_restore(errors->type, errors->value, errors->trace);
	return true;
}
