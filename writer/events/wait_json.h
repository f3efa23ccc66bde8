/* SPDX-License-Identifier: MIT */
/*
 * wait_json.h - what a thread waited on, and who else had to do with it.
 */
#ifndef WRITER_WAIT_JSON_H
#define WRITER_WAIT_JSON_H

#include "collector/session/event.h"
#include "writer/text/json.h"

/* Up to its name. */
void wait_json_begin(struct json *json, const struct event *event);

/* Further args of a wait's slice. */
void wait_json(struct json *json, const struct event *event);

#endif
