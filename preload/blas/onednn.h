/* SPDX-License-Identifier: MIT */
/*
 * onednn.h - what a primitive of oneDNN works on: TRACEPROF_SHAPES.
 *
 * All primitives run through one function, dnnl_primitive_execute(), which is
 * given the memory of each operand.  What that memory holds, the library is
 * asked by its own functions, of version 2 or 3.
 */
#ifndef PRELOAD_ONEDNN_H
#define PRELOAD_ONEDNN_H

#include "collector/session/event.h"

/* Fills in name, shapes and work of a call, from its words.  `real` is the
 * library's function.  Nothing is filled in that it can't be asked. */
void onednn_read(const void *real, const uint64_t *word, struct event *event);

/* A file was closed: another library may come to lie there. */
void onednn_closed(void);

/* In a forked child. */
void onednn_forget(void);

#endif
