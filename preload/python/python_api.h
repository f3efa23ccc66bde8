/* SPDX-License-Identifier: MIT */
/*
 * python_api.h - CPython's C functions, found at run time.
 *
 * Our own declarations of what has been so from 3.6 to 3.15.  An interpreter
 * that is part of the executable exports them too.
 */
#ifndef PRELOAD_PYTHON_API_H
#define PRELOAD_PYTHON_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct session;

#define PYTHON_MINOR_MIN 6
#define PYTHON_MINOR_MAX 15 /* the newest version that was tried */
#define PYTHON_MONITORS	 12 /* has sys.monitoring from this version on */

/* PyMethodDef, and flags of it. */
#define PYTHON_VARARGS	 1
#define PYTHON_KEYWORDS	 2
#define PYTHON_FASTCALL	 0x80

struct python_method {
	const char *name;
	void *function;
	int flags;
	const char *text;
};

/* Of a PyObject, of a function in C, and of a method of a type. */
#define PYTHON_TYPE_AT		 8
#define PYTHON_FUNCTION_METHOD	 16
#define PYTHON_DESCRIPTOR_METHOD 40
/* Before 3.9 there is no function for these. */
#define PYTHON_FRAME_BACK	 24
#define PYTHON_FRAME_CODE	 32

/* What a profile function is told. */
enum python_what {
	PYTHON_CALL,
	PYTHON_EXCEPTION,
	PYTHON_LINE,
	PYTHON_RETURN,
	PYTHON_C_CALL,
	PYTHON_C_EXCEPTION,
	PYTHON_C_RETURN
};

typedef int python_profile(void *object, void *frame, int what, void *arg);

/* X(is needed, returns, field, name, parameters); 0: by some versions only */
/* clang-format off */
#define PYTHON_API(X)							\
	X(1, int, is_initialized, Py_IsInitialized, (void))		\
	X(1, int, add_pending, Py_AddPendingCall,			\
	  (int (*function)(void *), void *arg))				\
	X(1, int, at_end, Py_AtExit, (void (*function)(void)))		\
	X(1, void, take, Py_IncRef, (void *object))			\
	X(1, void, give, Py_DecRef, (void *object))			\
	X(1, void *, attribute, PyObject_GetAttrString,			\
	  (void *object, const char *name))				\
	X(1, void *, text_of, PyObject_Repr, (void *object))		\
	X(1, void *, method, PyObject_CallMethod,			\
	  (void *object, const char *name, const char *format, ...))	\
	X(1, void *, call, PyObject_CallObject, (void *object, void *args)) \
	X(1, void *, call_with, PyObject_Call,				\
	  (void *object, void *args, void *named))			\
	X(1, int, set_attribute, PyObject_SetAttrString,		\
	  (void *object, const char *name, void *value))		\
	X(1, int, error_is, PyErr_ExceptionMatches, (void *type))	\
	X(1, void *, error_now, PyErr_Occurred, (void))		\
	X(1, const char *, utf8, PyUnicode_AsUTF8, (void *text))	\
	X(1, long, number, PyLong_AsLong, (void *object))		\
	X(1, double, real, PyFloat_AsDouble, (void *object))		\
	X(1, void *, list_at, PyList_GetItem, (void *list, long at))	\
	X(1, void *, tuple_at, PyTuple_GetItem, (void *tuple, long at))	\
	X(1, int, dict_next, PyDict_Next,				\
	  (void *dict, long *at, void **key, void **value))		\
	X(1, void *, item, PyMapping_GetItemString,			\
	  (void *object, const char *key))				\
	X(1, void *, system, PySys_GetObject, (const char *name))	\
	X(1, void *, import, PyImport_ImportModule, (const char *name))	\
	X(1, void *, make_function, PyCFunction_NewEx,			\
	  (struct python_method *method, void *self, void *module))	\
	X(1, void *, capsule, PyCapsule_New,				\
	  (void *pointer, const char *name, void (*end)(void *)))	\
	X(1, void *, pointer, PyCapsule_GetPointer,			\
	  (void *capsule, const char *name))				\
	X(1, void *, c_function, PyCFunction_GetFunction, (void *object)) \
	X(1, void, error_fetch, PyErr_Fetch,				\
	  (void **type, void **value, void **trace))			\
	X(1, void, error_restore, PyErr_Restore,			\
	  (void *type, void *value, void *trace))			\
	X(1, void, error_clear, PyErr_Clear, (void))			\
	X(1, void *, frame_now, PyEval_GetFrame, (void))		\
	X(0, void *, frame_code, PyFrame_GetCode, (void *frame))	\
	X(0, void *, frame_back, PyFrame_GetBack, (void *frame))	\
	X(0, void, set_profile, PyEval_SetProfile,			\
	  (python_profile *function, void *object))			\
	X(0, int, audit, PySys_Audit,					\
	  (const char *event, const char *format, ...))			\
	X(0, void *, thread_now, _PyThreadState_UncheckedGet, (void))	\
	X(0, void *, thread_swap, PyThreadState_Swap, (void *thread))	\
	X(0, void *, thread_next, PyThreadState_Next, (void *thread))	\
	X(0, void *, first_thread, PyInterpreterState_ThreadHead,	\
	  (void *interpreter))						\
	X(0, void *, first_interpreter, PyInterpreterState_Head, (void)) \
	X(0, void *, next_interpreter, PyInterpreterState_Next,		\
	  (void *interpreter))
/* clang-format on */

struct python_api {
#define X(is_needed, returns, field, name, parameters)                         \
	returns(*field) parameters;
	PYTHON_API(X)
#undef X
	/* Objects, by their addresses. */
	const void *none, *code_type, *function_type, *method_type,
		*descriptor_type;
	void *const *exception; /* PyExc_Exception: where its address is */
	const char *runtime;	/* _PyRuntime, in which the GIL lies; NULL */
	size_t runtime_bytes;
	int minor;
};

extern struct python_api python_api __attribute__((visibility("hidden")));

/* Under the GIL: one reference less; NULL is nothing. */
static inline void python_give(void *object)
{
	if (object)
		python_api.give(object);
}

/* An interpreter is in this process from its start. */
bool python_api_is_there(void);

/* NULL: it can be used; or why not, in words. */
const char *python_api_look(void);

/* A note on what can't be recorded, and why python_api_look() says so. */
void python_api_left_out(struct session *session, const char *what,
			 const char *why);

/* Under the GIL: the interpreter that all others came after; NULL not known. */
void *python_api_main(void);

/* Where the GIL lies: `runtime` of python_api, which is NULL without an
 * interpreter, or with one of before 3.7. */
void python_api_find_runtime(void);

/* Under the GIL: do objects lie as they should? */
bool python_api_prove(void);

/* The calling thread was forked.  Its interpreter puts its locks in order right
 * after that; it is not asked before the thread has had the time for it. */
void python_api_forked(void);

/* Under the GIL, of a frame, which keeps both: its code, and who called; NULL
 * nobody. */
void *python_frame_code(void *frame);
void *python_frame_back(void *frame);

/* Has the main thread call a function between two instructions of Python; from
 * any thread.  False: it won't. */
bool python_api_ask(int (*function)(void *));

static inline void *python_word(const void *object, size_t at)
{
	return *(void *const *)(const void *)((const char *)object + at);
}

#endif
