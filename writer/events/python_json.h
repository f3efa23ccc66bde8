/* SPDX-License-Identifier: MIT */
/* python_json.h - what a call of Python says beyond its name. */
#ifndef WRITER_PYTHON_JSON_H
#define WRITER_PYTHON_JSON_H

#include "collector/session/event.h"
#include "writer/text/json.h"
#include "writer/text/schema.h"

/* As torch.profiler's with_stack has it. */
static inline void python_json(struct json *json, const struct event *event)
{
	if (event->python.parent)
		json_pair_u64(json, SCHEMA_PYTHON_PARENT, event->python.parent);
	else
		json_raw(json, "," SCHEMA_KEY(SCHEMA_PYTHON_PARENT) "null");
	json_pair_u64(json, SCHEMA_PYTHON_ID, event->python.number);
}

#endif
