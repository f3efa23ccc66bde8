/* SPDX-License-Identifier: MIT */
/* window_trace.c - one trace per window; see window_trace.h. */
#include "writer/window_trace.h"

#include "collector/system/log.h"
#include "collector/system/proc.h"
#include "writer/draw/flame.h"
#include "writer/draw/heap_sites.h"
#include "writer/draw/heap_counter.h"
#include "writer/file/truncated_file.h"
#include "writer/gpu/gpu_taken.h"
#include "writer/text/schema.h"
#include "writer/trace_frame.h"
#include "writer/draw/task_sums.h"
#include "writer/steps/step_finder.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD_BYTES 8192u
#define TAIL_BYTES 16384u
#define NAME_TRIES 16

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

/* The whole run is one window: it may have several parts. */
static bool has_parts(const struct writer_state *state)
{
	const struct session_header *head = state->session->head;
	struct schedule schedule;

	schedule_from_options(&head->options, &schedule);
	return schedule.always && !head->flight.is_on && !state->window;
}

uint64_t window_trace_part(const struct writer_state *state)
{
	return state->file.file_index > 1 && has_parts(state)
		       ? state->file.file_index
		       : 0;
}

/* "<folder>/<host>_<pid>[_rank<r>][_flight<n>][.part<n>].<unix ns>.pt.trace.json
 * [.gz]"; the numbers are that of a dump of the flight recorder, counted from 1,
 * and of a part, from 2. */
static void file_name(struct writer_state *state, uint64_t unix_ns, char *path,
		      size_t bytes)
{
	const struct session_header *head = state->session->head;
	const struct window *window = writer_state_window(state);
	const uint64_t before = state->file.file_index - state->file.gone;
	struct coder_choice choice;
	char host[65];
	char rank[24] = "";
	char flight[24] = "";
	char part[24] = "";

	tidy_host(head->host, host, sizeof(host));
	if (load_relaxed(&head->rank) >= 0)
		log_format(rank, sizeof(rank), "_rank%d",
			   load_relaxed(&head->rank));
	if (window && window->reason)
		log_format(flight, sizeof(flight), "_flight%u", window->dump);
	if (before && has_parts(state))
		log_format(part, sizeof(part), ".part%lu",
			   (unsigned long)before + 1);
	coder_parse(head->options.gzip, &choice, NULL, 0);
	log_format(path, bytes, "%s/%s_%d%s%s%s.%lu" SCHEMA_FILE_ENDING "%s",
		   head->folder, host, head->pid, rank, flight, part, unix_ns,
		   choice.kind == CODER_PLAIN ? "" : SCHEMA_GZIP_ENDING);
}

/* The dead process had made this file and was killed before a checkpoint that
 * knows of it: whatever it holds is still in the rings. */
static void drop_unknown(const struct writer_state *state)
{
	const char *path = state->file.path;
	struct stat status;

	if (state->is_recovered && !lstat(path, &status) &&
	    S_ISREG(status.st_mode) && status.st_uid == geteuid())
		unlink(path);
}

/* From its first moment on the file has the tail of one that goes on: its
 * program may be killed before the first checkpoint. */
static int create_named(struct writer_state *state, const struct json *head,
			struct json *tail)
{
	struct window_file *file = &state->file;

	json_clear(tail);
	trace_frame_short_tail(state, tail);
	if (head->failed || tail->failed)
		return -ENOMEM;
	return trace_file_create(&file->trace, file->path,
				 state->session->head->options.gzip, head->data,
				 head->used, tail->data, tail->used);
}

static int create(struct writer_state *state, uint64_t unix_ns)
{
	struct window_file *file = &state->file;
	struct json head = {0}, tail = {0};
	int rc;

	/* What goes wrong is said of this file. */
	file_name(state, unix_ns, file->path, sizeof(file->path));
	rc = json_open(&head, HEAD_BYTES);
	if (!rc)
		rc = json_open(&tail, TAIL_BYTES);
	if (!rc)
		trace_frame_head(state, &head);
	for (int i = 0; !rc && i < NAME_TRIES; i++) {
		file_name(state, unix_ns + (uint64_t)i, file->path,
			  sizeof(file->path));
		if (!i)
			drop_unknown(state);
		rc = create_named(state, &head, &tail);
		if (rc != -EEXIST)
			break;
		rc = i + 1 < NAME_TRIES ? 0 : -EEXIST;
	}
	json_close(&head);
	json_close(&tail);
	return rc;
}

/* Only one coder reads notes. */
static void begin_notes(struct writer_state *state)
{
	const bool is_read = state->file.trace.coder.kind == CODER_FAST;

	state->json.fields = is_read ? &state->fields : NULL;
	fields_clear(&state->fields);
}

static bool may_go_on(const struct writer_state *state)
{
	const struct options *options = &state->session->head->options;

	return has_parts(state) && options->max_parts > 1 &&
	       (state->file.file_index < (uint64_t)options->max_parts ||
		(state->file.parts && options->parts_keep == PARTS_KEEP_LAST));
}

/* A window that opens with the recording counts from that on. */
static void count_reads(struct writer_state *state)
{
	struct session_header *head = state->session->head;
	struct file_sums *sums = &head->file_io;

	if (sums->is_known && state->is_live &&
	    (state->file.file_index > 1 ||
	     options_have_schedule(&head->options)))
		proc_io(&sums->read_before, &sums->disk_before);
}

/* Where its trace is to tell what was counted since; of a window's further
 * parts nobody knows what came before. */
static void note_begun(struct writer_state *state)
{
	const struct window *window = writer_state_window(state);
	struct session_header *head = state->session->head;
	struct window_begun *begun = &state->file.begun;

	begun->is_known = state->is_live && window &&
			  window->at_start.is_known &&
			  (state->file.file_index == 1 || !has_parts(state));
	if (!begun->is_known)
		return;
	memcpy(begun->written_by_kind, state->counts.written_by_kind,
	       sizeof(begun->written_by_kind));
	begun->cut = state->counts.cut - state->counts.outside;
	begun->teams = state->counts.teams;
	begun->with_stack = head->gpu.with_stack;
	trace_frame_note_scheduled(head, true);
	begun->processors_ns = load_relaxed(&head->processors_ns);
	begun->others_ns = load_relaxed(&head->others_ns);
	begun->program_ns = load_relaxed(&head->program_ns);
	begun->looked_ns = timeline_ns(&state->timeline, clock_ticks());
}

/* The program has all descriptors open that it may, or allows itself none, for
 * a moment: the next pass tries again, and events wait in their rings. */
static bool may_pass(const struct writer_state *state, int rc)
{
	return (rc == -EMFILE || rc == -ENFILE) && state->is_live &&
	       !state->is_finishing;
}

static int begin(struct writer_state *state, uint64_t start_ticks)
{
	struct window_file *file = &state->file;
	int rc;

	file->start_ns = timeline_ns(&state->timeline, start_ticks);
	file->detail_is_over = false;
	file->heap_is_over = false;
	file->part_is_due = false;
	file->heap_bytes = 0;
	file->heap_live = -1;
	file->heap_top = -1;
	file->steps_before = (int64_t)state->counts.written_by_kind[EVENT_STEP];
	file->steps_found = 0;
	file->died_in = 0;
	state->counts.file_events = 0;
	rc = create(state, timeline_unix_ns(&state->timeline, start_ticks));
	if (rc) {
		if (!may_pass(state, rc))
			window_file_fail(state, rc, "make");
		return rc;
	}
	begin_notes(state);
	file->is_open = true;
	file->temporary[0] = '\0';
	file->file_index++;
	file->may_go_on = may_go_on(state);
	state->writer_is_named = false;
	state->totals_are_whole = true;
	heap_counter_begin(state, start_ticks);
	heap_sites_next_file(state);
	totals_reset_file(&state->totals);
	task_sums_reset(state);
	count_reads(state);
	note_begun(state);
	return 0;
}

int window_trace_open(struct writer_state *state)
{
	state->file.part_ticks = 0;
	return begin(state, writer_state_window(state)->start_ticks);
}

/* A file that was cut: after what is whole of it. */
static int resume_cut(struct writer_state *state,
		      const struct session_checkpoint *checkpoint)
{
	const char *gzip = state->session->head->options.gzip;
	struct window_file *file = &state->file;
	struct coder_choice choice;
	struct truncated_file found;
	int rc;

	coder_parse(gzip, &choice, NULL, 0);
	rc = truncated_file_find(checkpoint->path, choice.kind == CODER_PLAIN,
				 checkpoint->tail_at, &found,
				 state->is_cancelled);
	if (!rc)
		rc = trace_file_resume(&file->trace, checkpoint->path,
				       file->temporary, found.at,
				       found.text_bytes, found.crc32, gzip,
				       state->is_cancelled);
	if (!rc)
		session_note(state->session,
			     "%s was cut; of its %lu {event|events} those in "
			     "the first %lu bytes are kept",
			     checkpoint->path,
			     (unsigned long)checkpoint->file_events,
			     (unsigned long)found.at);
	return rc;
}

int window_trace_resume(struct writer_state *state,
			const struct session_checkpoint *checkpoint)
{
	struct window_file *file = &state->file;
	const struct window *window = writer_state_window(state);
	int rc;

	if (!window)
		return -EBADMSG;
	/* What a recovery left that was killed itself: we hold its lock. */
	log_format(file->temporary, sizeof(file->temporary), "%s.tmp",
		   checkpoint->path);
	unlink(file->temporary);
	rc = trace_file_resume(
		&file->trace, checkpoint->path, file->temporary,
		checkpoint->tail_at, checkpoint->text_bytes, checkpoint->crc32,
		state->session->head->options.gzip, state->is_cancelled);
	if (rc == -EBADMSG)
		rc = resume_cut(state, checkpoint);
	if (rc) {
		file->temporary[0] = '\0';
		return rc;
	}
	memcpy(file->path, checkpoint->path, sizeof(file->path));
	file->steps_before = checkpoint->file_index > 1 ? -1 : 0;
	file->start_ns = timeline_ns(&state->timeline, window->start_ticks);
	begin_notes(state);
	file->is_open = true;
	return 0;
}

int window_trace_checkpoint(struct writer_state *state)
{
	struct window_file *file = &state->file;
	struct json tail = {0};
	int rc = window_file_flush(state);

	if (rc || !file->is_open)
		return rc;
	rc = json_open(&tail, TAIL_BYTES);
	if (!rc) {
		trace_frame_short_tail(state, &tail);
		rc = tail.failed ? -ENOMEM
				 : trace_file_checkpoint(&file->trace,
							 tail.data, tail.used);
		json_close(&tail);
	}
	if (rc)
		window_file_fail(state, rc, "write");
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

/* Is a newer file what people want to hear of? */
static bool is_worth_more(const struct window_fullest *fullest,
			  enum window_worth worth, uint64_t steps,
			  uint64_t events)
{
	if ((worth == WORTH_ASKED) != (fullest->worth == WORTH_ASKED))
		return worth == WORTH_ASKED;
	if (steps != fullest->steps)
		return steps > fullest->steps;
	return events || !fullest->events;
}

/* A flight recorder's file has a name, too: of what triggered it. */
static bool is_by_hand(const struct window *window)
{
	return window && window->name &&
	       (window->reason == FLIGHT_NONE ||
		window->reason == FLIGHT_SIGNAL ||
		window->reason == FLIGHT_DEMAND);
}

static void note_fullest(struct writer_state *state)
{
	struct window_file *file = &state->file;
	struct window_fullest *fullest = &file->fullest;
	const int64_t steps = trace_frame_steps(state);
	const bool is_asked = is_by_hand(writer_state_window(state)) &&
			      state->counts.file_events;
	const enum window_worth worth = is_asked    ? WORTH_ASKED
					: steps > 0 ? WORTH_STEPS
						    : WORTH_EVENTS;

	if (steps < 0 ||
	    (fullest->path[0] && !is_worth_more(fullest, worth, (uint64_t)steps,
						state->counts.file_events)))
		return;
	fullest->worth = worth;
	fullest->steps = (uint64_t)steps;
	fullest->events = state->counts.file_events;
	memcpy(fullest->path, file->path, sizeof(fullest->path));
}

static int finish(struct writer_state *state, struct trace_end end)
{
	struct window_file *file = &state->file;
	struct json tail = {0};
	int rc;

	flame_flush(state);
	heap_sites_flush(state);
	rc = window_file_flush(state);
	if (!file->is_open)
		return rc;
	if (!rc)
		rc = json_open(&tail, TAIL_BYTES);
	if (!rc) {
		trace_frame_tail(state, &tail, end);
		if (tail.failed) {
			json_clear(&tail);
			trace_frame_short_tail(state, &tail);
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
		window_file_fail(state, rc, "finish");
	else
		note_fullest(state);
	return rc;
}

int window_trace_finish(struct writer_state *state, bool is_last)
{
	const struct window *window = writer_state_window(state);
	struct trace_end end = {.is_last = is_last,
				.is_recovered = state->is_recovered};

	if (window)
		/* ACQUIRE pairs with RELEASE in window_close(): last_step. */
		end.end_ns = timeline_ns(
			&state->timeline,
			load_acquire(&((struct window *)window)->end_ticks));
	return finish(state, end);
}

/* Notes the part that is whole; of too many the oldest but the first goes. */
static void note_part(struct writer_state *state)
{
	const uint64_t most = (uint64_t)state->session->head->options.max_parts;
	struct window_file *file = &state->file;
	const uint64_t index = file->file_index;
	struct window_part *part;

	if (!file->parts)
		file->parts = arena_alloc(
			&state->arena, WINDOW_PARTS_MAX * sizeof(*file->parts));
	if (!file->parts)
		return;
	part = &file->parts[index % WINDOW_PARTS_MAX];
	part->events = state->counts.file_events;
	memcpy(part->path, file->path, sizeof(part->path));
	if (index < most || index < 3)
		return;
	/* As many as there may be with the next one. */
	part = &file->parts[(index - most + 2) % WINDOW_PARTS_MAX];
	if (!part->path[0] || unlink(part->path))
		return;
	if (!strcmp(part->path, file->fullest.path))
		memset(&file->fullest, 0, sizeof(file->fullest));
	part->path[0] = '\0';
	state->counts.deleted += part->events;
}

int window_trace_next(struct writer_state *state)
{
	const uint64_t now = state->counts.last_ticks;
	const struct trace_end end = {
		.end_ns = timeline_ns(&state->timeline, now),
		.is_recovered = state->is_recovered};
	int rc;

	step_finder_part(state);
	gpu_taken_draw(state, now);
	/* The window may be over by now, where the writer is late. */
	state->file.begun.is_known = false;
	rc = finish(state, end);
	if (rc)
		return rc;
	note_part(state);
	rc = begin(state, now);
	state->file.part_ticks = now;
	return rc;
}
