/* SPDX-License-Identifier: MIT */
/* window_file.c - where the writer's text goes; see window_file.h. */
#include "writer/state/window_file.h"

#include "collector/session/gate.h"
#include "collector/system/log.h"
#include "writer/state/writer_state.h"
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

void window_file_fail(struct writer_state *state, int error, const char *doing)
{
	const char *what = strerrordesc_np(-error);
	char here[PATH_MAX];

	if (error == -ELOOP)
		what = "its folder is a link of another user";
	else if (state->file.path[0] != '/' &&
		 syscall(SYS_getcwd, here, sizeof(here)) == -1)
		what = "the working directory was deleted";
	else if (error == -EACCES)
		what = "this user may not write there (TRACEPROF_DIR=FOLDER "
		       "names another place)";
	if (state->error)
		return;
	state->error = error;
	if (!state->is_live)
		return;
	gate_set(GATE_CLOSED);
	log_trouble("can't %s %s: %s; recording ends here, the program goes on",
		    doing, state->file.path, what ? what : "unknown error");
}

uint64_t window_file_text_bytes(const struct writer_state *state)
{
	const struct window_file *file = &state->file;

	if (!file->is_open)
		return state->json.used;
	return trace_file_text_bytes(&file->trace) + state->json.used;
}

bool window_file_is_due(const struct writer_state *state)
{
	return state->json.used >= trace_file_block_bytes(&state->file.trace);
}

int window_file_flush(struct writer_state *state)
{
	struct window_file *file = &state->file;
	struct json *json = &state->json;
	int rc = 0;

	if (file->is_open && json->used && !state->error)
		rc = trace_file_append(&file->trace, json->data, json->used,
				       json->fields);
	json_clear(json);
	if (rc)
		window_file_fail(state, rc, "write");
	return state->error;
}

int window_file_code(struct writer_state *state)
{
	struct window_file *file = &state->file;
	int rc = window_file_flush(state);

	if (rc || !file->is_open)
		return rc;
	rc = trace_file_code(&file->trace);
	if (rc)
		window_file_fail(state, rc, "write");
	return state->error;
}
