/* SPDX-License-Identifier: MIT */
/*
 * trace_head.h - what stands in a trace before its events.
 *
 * Readers look for these keys in the first lines, so all that is known when the
 * file begins is here; what only its end knows is in trace_tail.h.
 */
#ifndef WRITER_TRACE_HEAD_H
#define WRITER_TRACE_HEAD_H

#include "writer/state/writer_state.h"

#define TRACEPROF_VERSION "0.1"

/* From "{" to the first metadata events, as trace_file_create() wants it. */
void trace_head_write(struct writer_state *state, struct json *json);

#endif
