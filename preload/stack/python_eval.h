/* SPDX-License-Identifier: MIT */
/*
 * python_eval.h - the code of CPython's loop, which runs functions of Python.
 *
 * It is one function, but a compiler that has a profile puts what it takes for
 * rare elsewhere, without a name: of Debian's 3.14 that is nearly all of it.
 * The function's instructions lead there, and .eh_frame says from where to
 * where that goes.
 */
#ifndef PRELOAD_PYTHON_EVAL_H
#define PRELOAD_PYTHON_EVAL_H

#include "collector/system/base.h"

#define PYTHON_EVAL "_PyEval_EvalFrameDefault"

/* Looks for the loop and its parts, once.  False: there is none. */
bool python_eval_find(void);

/* A return address in one of them. */
bool python_eval_holds(uint64_t code);

#endif
