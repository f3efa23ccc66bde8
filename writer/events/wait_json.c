/* SPDX-License-Identifier: MIT */
/* wait_json.c - args of a wait; see wait_json.h. */
#include "writer/events/wait_json.h"

#include "collector/system/log.h"
#include "writer/text/schema.h"

/* As torch.profiler's with_stack has it. */
static void python_json(struct json *json, const struct event *event)
{
	if (event->python.parent)
		json_pair_u64(json, SCHEMA_PYTHON_PARENT, event->python.parent);
	else
		json_raw(json, "," SCHEMA_KEY(SCHEMA_PYTHON_PARENT) "null");
	json_pair_u64(json, SCHEMA_PYTHON_ID, event->python.number);
}

#define BEGIN(category)                                                        \
	",\n{" SCHEMA_PAIR(SCHEMA_PHASE, SCHEMA_PHASE_SLICE) "," SCHEMA_PAIR(  \
		SCHEMA_CATEGORY, category) "," SCHEMA_KEY(SCHEMA_NAME) "\""

void wait_json_begin(struct json *json, const struct event *event)
{
	if (event->kind == EVENT_FILE_IO)
		json_raw(json, BEGIN(SCHEMA_FILE_IO));
	else if (event->kind == EVENT_PYTHON)
		json_raw(json, BEGIN(SCHEMA_PYTHON));
	else
		json_raw(json,
			 BEGIN(SCHEMA_WAIT "\",\"cname\":\"" SCHEMA_WAITING));
}

void wait_json(struct json *json, const struct event *event)
{
	char text[32];
	size_t len;

	if (event->kind == EVENT_PYTHON) {
		python_json(json, event);
		return;
	}
	if (event->kind == EVENT_FILE_IO)
		json_pair_u64(json, "bytes", event->file.bytes);
	if (event->kind == EVENT_FILE_IO)
		return;
	len = log_format(text, sizeof(text), "0x%lx", event->wait.object);
	if (event->wait.object)
		json_pair_text(json, "object", text, len);
	if (!event->wait.tid)
		return;
	switch (event->wait.how) {
	case WAIT_HELD_BY:
		json_pair_u64(json, "held by", event->wait.tid);
		break;
	case WAIT_WOKEN_BY:
		json_pair_u64(json, "woken by", event->wait.tid);
		break;
	case WAIT_SIGNALLED_BY:
		json_pair_u64(json, "signalled last by", event->wait.tid);
		json_pair_u64(json, "signals", event->wait.signals);
		break;
	default: break;
	}
}
