/* SPDX-License-Identifier: MIT */
/*
 * python_errors.h - whose an error is that Python's code raised for us.
 *
 * Between two instructions of it a handler of signals may run.  What that
 * raises, and each interrupt, is the program's: it comes to the main thread
 * once we are done.  All else is an answer to us.
 */
#ifndef PRELOAD_PYTHON_ERRORS_H
#define PRELOAD_PYTHON_ERRORS_H

#include <stdbool.h>

#define PYTHON_SIGNALS 65

struct python_errors {
	void *handlers[PYTHON_SIGNALS];
	void *type, *value, *trace; /* the program's; NULL: none yet */
};

/* Under the GIL, with no error set.  A handler that runs is one of these: it
 * may have made way for another by the time that its error is seen. */
void python_errors_begin(struct python_errors *errors);

/* No error is set any more.  True: it was the program's, and is kept. */
bool python_errors_take(struct python_errors *errors);

/* True: the program's is set again. */
bool python_errors_end(struct python_errors *errors);

#endif
