/* SPDX-License-Identifier: MIT */
/*
 * jax_compile.h - when JAX traces, lowers and compiles a function, and where.
 *
 * It tells its listeners how long each took.  We look whether it is imported,
 * and become one, in a call that the main thread makes between two
 * instructions of Python.
 */
#ifndef PRELOAD_JAX_COMPILE_H
#define PRELOAD_JAX_COMPILE_H

#include "collector/session/session.h"

/* Writer, each pass: has XLA's library been loaded, has JAX been imported? */
void jax_compile_poll(struct session *session);

/* In a forked child. */
void jax_compile_forget(void);

#endif
