/* SPDX-License-Identifier: MIT */
/* window_file.c - one file per window; see window_file.h. */
#include "writer/window_file.h"

#include "writer/heap_track.h"

#include "collector/gate.h"
#include "collector/log.h"
#include "writer/salvage.h"
#include "writer/schema.h"
#include "writer/scribe.h"
#include "writer/trace_head.h"
#include "writer/trace_tail.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD_BYTES 8192u
#define TAIL_BYTES 16384u
#define NAME_TRIES 16

void window_file_fail(struct scribe *scribe, int error, const char *doing)
{
	const char *what = strerrordesc_np(-error);

	if (scribe->error)
		return;
	scribe->error = error;
	if (!scribe->is_live)
		return;
	gate_set(GATE_CLOSED);
	log_trouble("can't %s %s: %s; recording ends here, the program goes on",
		    doing, scribe->file.path, what ? what : "unknown error");
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

void window_file_name(struct scribe *scribe, uint64_t unix_ns, char *path,
		      size_t bytes)
{
	const struct session_header *head = scribe->session->head;
	const struct window *window = scribe_window(scribe);
	struct coder_choice choice;
	char host[65];
	char rank[24] = "";
	char flight[24] = "";

	tidy_host(head->host, host, sizeof(host));
	if (head->rank >= 0)
		log_format(rank, sizeof(rank), "_rank%d", head->rank);
	if (window && window->reason)
		log_format(flight, sizeof(flight), "_flight%u", window->dump);
	coder_parse(head->options.gzip, &choice, NULL, 0);
	log_format(path, bytes, "%s/%s_%d%s%s.%lu" SCHEMA_FILE_ENDING "%s",
		   head->folder, host, head->pid, rank, flight, unix_ns,
		   choice.kind == CODER_PLAIN ? "" : SCHEMA_GZIP_ENDING);
}

/* The dead process had made this file and was killed before a checkpoint that
 * knows of it: whatever it holds is still in the rings. */
static void drop_unknown(const struct scribe *scribe)
{
	const char *path = scribe->file.path;
	struct stat status;

	if (scribe->is_recovered && !lstat(path, &status) &&
	    S_ISREG(status.st_mode) && status.st_uid == geteuid())
		unlink(path);
}

static int create(struct scribe *scribe, uint64_t unix_ns)
{
	struct window_file *file = &scribe->file;
	struct json head = {0};
	int rc = json_open(&head, HEAD_BYTES);

	if (rc)
		return rc;
	trace_head_write(scribe, &head);
	rc = head.failed ? -ENOMEM : 0;
	for (int i = 0; !rc && i < NAME_TRIES; i++) {
		window_file_name(scribe, unix_ns + (uint64_t)i, file->path,
				 sizeof(file->path));
		if (!i)
			drop_unknown(scribe);
		rc = trace_file_create(&file->trace, file->path,
				       scribe->session->head->options.gzip,
				       head.data, head.used);
		if (rc != -EEXIST)
			break;
		rc = i + 1 < NAME_TRIES ? 0 : -EEXIST;
	}
	json_close(&head);
	return rc;
}

/* Only one coder reads notes. */
static void begin_notes(struct scribe *scribe)
{
	const bool is_read = scribe->file.trace.coder.kind == CODER_FAST;

	scribe->json.fields = is_read ? &scribe->fields : NULL;
	fields_clear(&scribe->fields);
}

int window_file_open(struct scribe *scribe)
{
	struct window_file *file = &scribe->file;
	const struct window *window = scribe_window(scribe);
	int rc;

	file->start_ns = timeline_ns(&scribe->timeline, window->start_ticks);
	file->detail_is_over = false;
	rc = create(scribe,
		    timeline_unix_ns(&scribe->timeline, window->start_ticks));
	if (rc) {
		window_file_fail(scribe, rc, "make");
		return rc;
	}
	begin_notes(scribe);
	file->is_open = true;
	file->temporary[0] = '\0';
	file->file_index++;
	scribe->writer_is_named = false;
	scribe->counts.file_events = 0;
	scribe->totals_are_whole = true;
	heap_track_begin(scribe, window->start_ticks);
	totals_reset_file(&scribe->totals);
	return 0;
}

/* A file that was cut: behind what is whole of it. */
static int resume_cut(struct scribe *scribe,
		      const struct session_checkpoint *checkpoint)
{
	const char *gzip = scribe->session->head->options.gzip;
	struct window_file *file = &scribe->file;
	struct coder_choice choice;
	struct salvage found;
	int rc;

	coder_parse(gzip, &choice, NULL, 0);
	rc = salvage_find(checkpoint->path, choice.kind == CODER_PLAIN,
			  checkpoint->tail_at, &found);
	if (!rc)
		rc = trace_file_resume(&file->trace, checkpoint->path,
				       file->temporary, found.at,
				       found.text_bytes, found.crc32, gzip);
	if (!rc)
		session_note(scribe->session,
			     "%s was cut; of its %lu events those in the first "
			     "%lu bytes are kept",
			     checkpoint->path,
			     (unsigned long)checkpoint->file_events,
			     (unsigned long)found.at);
	return rc;
}

int window_file_resume(struct scribe *scribe,
		       const struct session_checkpoint *checkpoint)
{
	struct window_file *file = &scribe->file;
	const struct window *window = scribe_window(scribe);
	int rc;

	if (!window)
		return -EBADMSG;
	log_format(file->temporary, sizeof(file->temporary), "%s.%d.tmp",
		   checkpoint->path, (int)getpid());
	rc = trace_file_resume(&file->trace, checkpoint->path, file->temporary,
			       checkpoint->tail_at, checkpoint->text_bytes,
			       checkpoint->crc32,
			       scribe->session->head->options.gzip);
	if (rc == -EBADMSG)
		rc = resume_cut(scribe, checkpoint);
	if (rc) {
		file->temporary[0] = '\0';
		return rc;
	}
	memcpy(file->path, checkpoint->path, sizeof(file->path));
	file->start_ns = timeline_ns(&scribe->timeline, window->start_ticks);
	begin_notes(scribe);
	file->is_open = true;
	return 0;
}

uint64_t window_file_text_bytes(const struct scribe *scribe)
{
	const struct window_file *file = &scribe->file;

	if (!file->is_open)
		return scribe->json.used;
	return trace_file_text_bytes(&file->trace) + scribe->json.used;
}

bool window_file_is_due(const struct scribe *scribe)
{
	return scribe->json.used >= trace_file_block_bytes(&scribe->file.trace);
}

int window_file_flush(struct scribe *scribe)
{
	struct window_file *file = &scribe->file;
	struct json *json = &scribe->json;
	int rc = 0;

	if (file->is_open && json->used && !scribe->error)
		rc = trace_file_append(&file->trace, json->data, json->used,
				       json->fields);
	json_clear(json);
	if (rc)
		window_file_fail(scribe, rc, "write");
	return scribe->error;
}

int window_file_checkpoint(struct scribe *scribe)
{
	struct window_file *file = &scribe->file;
	struct json tail = {0};
	int rc = window_file_flush(scribe);

	if (rc || !file->is_open)
		return rc;
	rc = json_open(&tail, TAIL_BYTES);
	if (!rc) {
		trace_tail_short(scribe, &tail);
		rc = tail.failed ? -ENOMEM
				 : trace_file_checkpoint(&file->trace,
							 tail.data, tail.used);
		json_close(&tail);
	}
	if (rc)
		window_file_fail(scribe, rc, "write");
	return rc;
}

/* Recovery's copy takes the place of the file that it was made from. */
static int settle(struct window_file *file, int rc)
{
	if (!file->temporary[0])
		return rc;
	if (!rc && rename(file->temporary, file->path))
		rc = -errno;
	if (rc)
		unlink(file->temporary);
	file->temporary[0] = '\0';
	return rc;
}

int window_file_finish(struct scribe *scribe, bool is_last)
{
	struct window_file *file = &scribe->file;
	const struct window *window = scribe_window(scribe);
	struct json tail = {0};
	struct trace_end end = {.is_last = is_last,
				.is_recovered = scribe->is_recovered};
	int rc = window_file_flush(scribe);

	if (!file->is_open)
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
		rc = trace_file_finish(&file->trace, tail.data, tail.used);
		file->bytes_done += trace_file_size(&file->trace);
	} else {
		trace_file_abandon(&file->trace);
	}
	json_close(&tail);
	rc = settle(file, rc);
	file->is_open = false;
	file->files_done++;
	if (rc)
		window_file_fail(scribe, rc, "finish");
	return rc;
}
