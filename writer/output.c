/* SPDX-License-Identifier: MIT */
/* output.c - one file per window; see output.h. */
#include "writer/output.h"

#include "collector/gate.h"
#include "collector/log.h"
#include "writer/schema.h"
#include "writer/scribe.h"
#include "writer/trace_head.h"
#include "writer/trace_tail.h"
#include <errno.h>
#include <string.h>

#define HEAD_BYTES 8192u
#define TAIL_BYTES 16384u
#define NAME_TRIES 16

void output_fail(struct scribe *scribe, int error, const char *doing)
{
	const char *what = strerrordesc_np(-error);

	if (scribe->error)
		return;
	scribe->error = error;
	if (!scribe->is_live)
		return;
	gate_set(GATE_CLOSED);
	log_trouble("can't %s %s: %s; recording ends here, the program goes on",
		    doing, scribe->output.path, what ? what : "unknown error");
}

/* The host's name comes from the session: it must not lead elsewhere. */
static void tidy_host(const char *host, char *text, size_t bytes)
{
	size_t i;

	for (i = 0; i + 1 < bytes && host[i]; i++)
		text[i] = host[i] == '/' || (unsigned char)host[i] < ' '
				  ? '_'
				  : host[i];
	text[i] = '\0';
}

void output_name(const struct scribe *scribe, uint64_t unix_ns, char *path,
		 size_t bytes)
{
	const struct session_header *head = scribe->session->head;
	struct coder_choice choice;
	char host[65];
	char rank[24] = "";

	tidy_host(head->host, host, sizeof(host));
	if (head->rank >= 0)
		log_format(rank, sizeof(rank), "_rank%d", head->rank);
	coder_parse(head->options.gzip, &choice, NULL, 0);
	log_format(path, bytes, "%s/%s_%d%s.%lu" SCHEMA_FILE_ENDING "%s",
		   head->folder, host, head->pid, rank, unix_ns,
		   choice.kind == CODER_PLAIN ? "" : SCHEMA_GZIP_ENDING);
}

static int create(struct scribe *scribe, uint64_t unix_ns)
{
	struct output *output = &scribe->output;
	struct json head = {0};
	int rc = json_open(&head, HEAD_BYTES);

	if (rc)
		return rc;
	trace_head_write(scribe, &head);
	rc = head.failed ? -ENOMEM : 0;
	for (int i = 0; !rc && i < NAME_TRIES; i++) {
		output_name(scribe, unix_ns + (uint64_t)i, output->path,
			    sizeof(output->path));
		rc = trace_file_create(&output->file, output->path,
				       scribe->session->head->options.gzip,
				       head.data, head.used);
		if (rc != -EEXIST)
			break;
		rc = i + 1 < NAME_TRIES ? 0 : -EEXIST;
	}
	json_close(&head);
	return rc;
}

int output_open(struct scribe *scribe)
{
	struct output *output = &scribe->output;
	const struct window *window = scribe_window(scribe);
	int rc;

	output->start_ns = timeline_ns(&scribe->timeline, window->start_ticks);
	output->detail_is_over = false;
	output->text_base = 0;
	rc = create(scribe,
		    timeline_unix_ns(&scribe->timeline, window->start_ticks));
	if (rc) {
		output_fail(scribe, rc, "make");
		return rc;
	}
	output->is_open = true;
	output->file_index++;
	scribe->writer_is_named = false;
	scribe->counts.file_events = 0;
	scribe->totals_are_whole = true;
	scribe->heap.any_sample = false;
	totals_reset_file(&scribe->totals);
	return 0;
}

uint64_t output_text_bytes(const struct scribe *scribe)
{
	const struct output *output = &scribe->output;

	if (!output->is_open)
		return scribe->json.used;
	return output->text_base + trace_file_text_bytes(&output->file) +
	       scribe->json.used;
}

int output_flush(struct scribe *scribe)
{
	struct output *output = &scribe->output;
	struct json *json = &scribe->json;
	int rc = 0;

	if (output->is_open && json->used && !scribe->error)
		rc = trace_file_append(&output->file, json->data, json->used);
	json_clear(json);
	if (rc)
		output_fail(scribe, rc, "write");
	return scribe->error;
}

int output_checkpoint(struct scribe *scribe)
{
	struct output *output = &scribe->output;
	struct json tail = {0};
	int rc = output_flush(scribe);

	if (rc || !output->is_open)
		return rc;
	rc = json_open(&tail, TAIL_BYTES);
	if (!rc) {
		trace_tail_short(scribe, &tail);
		rc = tail.failed ? -ENOMEM
				 : trace_file_checkpoint(&output->file,
							 tail.data, tail.used);
		json_close(&tail);
	}
	if (rc)
		output_fail(scribe, rc, "write");
	return rc;
}

int output_finish(struct scribe *scribe, bool is_last)
{
	struct output *output = &scribe->output;
	const struct window *window = scribe_window(scribe);
	struct json tail = {0};
	struct trace_end end = {.is_last = is_last,
				.is_recovered = scribe->is_recovered};
	int rc = output_flush(scribe);

	if (!output->is_open)
		return rc;
	if (window)
		/* ACQUIRE pairs with RELEASE in window_close(): last_step. */
		end.end_ns = timeline_ns(
			&scribe->timeline,
			load_acquire(&((struct window *)window)->end_ticks));
	if (!rc)
		rc = json_open(&tail, TAIL_BYTES);
	if (!rc) {
		trace_tail_whole(scribe, &tail, end);
		if (tail.failed) {
			json_clear(&tail);
			trace_tail_short(scribe, &tail);
		}
		rc = trace_file_finish(&output->file, tail.data, tail.used);
		output->bytes_done += trace_file_size(&output->file);
	} else {
		trace_file_abandon(&output->file);
	}
	json_close(&tail);
	output->is_open = false;
	output->files_done++;
	if (rc)
		output_fail(scribe, rc, "finish");
	return rc;
}
