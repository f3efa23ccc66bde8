/* SPDX-License-Identifier: MIT */
/*
 * python_names.h - the names of Python's functions, as torch.profiler writes
 * them: "folder/file.py(12): function", "<built-in method add of type object>".
 *
 * All of it under the GIL, which is the only lock.
 */
#ifndef PRELOAD_PYTHON_NAMES_H
#define PRELOAD_PYTHON_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct python_name {
	uint32_t id;	/* of the session's names */
	bool is_import; /* the function that imports a module */
};

/* Of a code object, and of what is called in C. */
struct python_name python_name_of_code(void *code);
struct python_name python_name_of_function(void *function);

/* The text for a code object; true if it is the function that imports. */
bool python_name_write(void *code, char *text, size_t bytes);

/* Is a code object of the machinery of imports, and this function's?  NULL:
 * whichever's. */
bool python_name_is_of_imports(void *code, const char *function);

/* True of what is written in C and has a name of its own. */
bool python_is_function(const void *callable);

/* "import NAME", of the frame of the function that imports; 0 unknown.
 * *is_greenlets is set if it is that of python_greenlets.h. */
uint32_t python_name_of_import(void *frame, bool *is_greenlets);

/* A text's id, with a number behind it. */
uint32_t python_name_text(const char *text, long number);

/* Ids belong to a session; code objects that were kept are let go. */
void python_names_clear(bool has_gil);

/* The code behind a function, a method, a functools.partial, an object that can
 * be called; NULL, and no error is set: there is none.  What makes up its
 * members, __getattr__(), isn't asked: that would run code of the program's. */
void *python_code_behind(void *function);

#endif
