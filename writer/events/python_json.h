/* SPDX-License-Identifier: MIT */
/* python_json.h - what a file tells of calls of Python beside their slices. */
#ifndef WRITER_PYTHON_JSON_H
#define WRITER_PYTHON_JSON_H

#include "writer/state/writer_state.h"

/* Where they end in this file, if they were wanted and cost too much. */
void python_json(struct writer_state *state, struct json *json,
		 uint64_t end_ns);

#endif
