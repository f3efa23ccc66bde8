/* SPDX-License-Identifier: MIT */
/*
 * recovery.c - the writer's passes over a dead process's session.
 *
 * The session is a private copy and may say anything: what is read from it is
 * checked here or where it is used, and all work is bounded by its size.
 */
#include "writer/recovery.h"

#include "writer/flight/history.h"
#include "writer/pass.h"
#include "writer/steps/step_finder.h"
#include "writer/window_trace.h"
#include "writer/text/schema.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* No event is believed to be later than this after the last clock anchor. */
#define LATEST_SECONDS	 86400u

/* An event's text is longer than this, so so many were in a text at most. */
#define EVENT_TEXT_LEAST 64u

static bool is_sane(const struct session_header *head)
{
	const struct window_state *windows = &head->windows;
	const uint64_t opened =
		load_relaxed(&((struct window_state *)windows)->opened);

	for (int i = 0; i < 2; i++) {
		const struct session_checkpoint *checkpoint =
			&head->checkpoints[i];

		if (checkpoint->window > opened ||
		    opened - checkpoint->window > WINDOWS_MAX + 1)
			return false;
	}
	return head->folder[0] == '/';
}

/* The path of a checkpoint leads into the session's own folder, to a file that
 * can be a trace. */
static bool path_is_sane(const struct session_header *head, const char *path)
{
	const size_t len = strlen(head->folder);

	return strncmp(path, head->folder, len) == 0 && path[len] == '/' &&
	       !strchr(path + len + 1, '/') &&
	       strstr(path + len, SCHEMA_FILE_ENDING);
}

static uint64_t latest_in_ring(const struct writer_state *state,
			       const struct ring_reader *reader,
			       uint64_t limit_ticks)
{
	struct ring *ring = &reader->thread->ring;
	const uint64_t limit = ring_published(ring);
	struct drain drain = reader->drain;
	uint64_t budget = state->session->bytes / sizeof(struct event);
	const struct event *event;
	uint64_t latest = 0;

	while (!writer_state_is_cancelled(state) &&
	       (event = drain_peek(state->session, ring, &drain, limit, NULL,
				   &budget))) {
		if (event->end_ticks <= limit_ticks)
			latest = max_u64(latest, event->end_ticks);
		drain_skip(&drain, event);
	}
	return latest;
}

/* The last moment that the process is known to have lived. */
static uint64_t last_known(struct writer_state *state)
{
	struct clock_segments *clock = &state->session->head->clock;
	const uint64_t count = load_relaxed(&clock->count);
	const uint64_t anchor =
		count ? clock->segment[(count - 1) % CLOCK_SEGMENTS_MAX]
				.from_ticks
		      : 0;
	const uint64_t per_second = clock_ticks_per_second(clock);
	uint64_t limit = UINT64_MAX;
	uint64_t latest = max_u64(anchor, state->counts.last_ticks);

	if (clock->uses_counter && per_second < UINT32_MAX * UINT64_C(16))
		limit = anchor + per_second * LATEST_SECONDS;
	for (struct ring_reader *t = state->readers; t; t = t->older) {
		const uint32_t depth = (uint32_t)min_u64(
			load_relaxed(&t->thread->depth), OPEN_SLICES_MAX);

		const struct event *marks = &t->thread->thin.marks;

		latest = max_u64(latest, latest_in_ring(state, t, limit));
		/* Marks that are in no ring yet. */
		if (marks->name && marks->end_ticks <= limit)
			latest = max_u64(latest, marks->end_ticks);
		for (uint32_t i = 0; i < depth; i++) {
			if (t->thread->open[i].start_ticks <= limit)
				latest = max_u64(
					latest, t->thread->open[i].start_ticks);
		}
	}
	/* A slice that was opened at that very moment is seen too. */
	return latest + 1;
}

/* Packed events take two bytes at least. */
static void find_spool(struct writer_state *state)
{
	const int rc = spool_find(&state->spool, state->session);

	state->budget += state->spool.end / 2;
	if (rc)
		session_note(state->session, "the events in %s are lost: %s",
			     state->session->head->spool,
			     rc == -ENOENT ? "it was deleted"
					   : "it can't be read");
}

/* Takes up the state that the last whole checkpoint kept.  *gone gets the
 * events of a file that is no longer there. */
static int load(struct writer_state *state, uint64_t *gone)
{
	const struct session_header *head = state->session->head;
	const struct session_checkpoint *whole =
		&head->checkpoints[load_relaxed(&((struct session_header *)head)
							 ->checkpoint) &
				   1];
	int rc;

	state->is_recovered = true;
	state->window = whole->window;
	state->counts.written = whole->written;
	state->counts.cut = whole->cut;
	state->counts.thinned = whole->thinned;
	state->counts.past_max = whole->past_max;
	state->counts.past_heap = whole->past_heap;
	state->counts.unwritable = whole->unwritable;
	state->counts.outside =
		whole->cut - whole->past_max - whole->unwritable;
	state->counts.unnamed = whole->unnamed;
	state->counts.arrows = whole->arrows;
	state->counts.waits = whole->waits;
	state->counts.file_events = whole->file_events;
	state->counts.last_ticks = whole->last_ticks;
	memcpy(state->counts.written_by_kind, whole->written_by_kind,
	       sizeof(whole->written_by_kind));
	/* Not kept apart: as if there were no regions of one thread. */
	state->counts.teams =
		min_u64(whole->written_by_kind[EVENT_OMP_REGION],
			whole->written_by_kind[EVENT_OMP_IMPLICIT]);
	state->heap.peak = whole->heap_peak;
	state->file.file_index = whole->file_index;
	state->file.part_ticks = whole->part_ticks;
	rc = writer_state_find_readers(state);
	if (!rc)
		find_spool(state);
	if (rc || !whole->path[0])
		return rc;
	if (!path_is_sane(head, whole->path))
		return -EBADMSG;
	state->next_index = whole->text_bytes / EVENT_TEXT_LEAST + 1;
	state->totals_are_whole = false;
	rc = window_trace_resume(state, whole);
	if (rc == -ENOENT || rc == -EBADMSG) {
		/* What the file held is gone; what the rings hold isn't. */
		*gone = whole->file_events;
		state->file.gone = 1;
		session_note(state->session,
			     "%lu {event was|events were} in %s, which was %s",
			     (unsigned long)whole->file_events, whole->path,
			     rc == -ENOENT ? "deleted" : "damaged");
		rc = 0;
	}
	return rc;
}

static _Atomic bool is_stopped;

void recovery_stop(bool stop)
{
	store_relaxed(&is_stopped, stop);
}

static int finish_trace(struct session *session, struct recovery_result *result)
{
	struct writer_state *state;
	struct arena arena = {0};
	struct thread_sums sums;
	uint64_t before;
	uint64_t gone = 0;
	int rc;

	/* Too large for a thread's small stack. */
	state = arena_alloc(&arena, sizeof(*state));
	if (!state)
		return -ENOMEM;
	rc = pass_start(state, session, false);
	if (rc)
		goto out;
	state->is_cancelled = &is_stopped;
	rc = load(state, &gone);
	before = state->counts.written;
	if (!rc) {
		const uint64_t end_ticks = last_known(state);

		history_recover(state, end_ticks);
		step_finder_recover(state);
		rc = writer_state_is_cancelled(state)
			     ? -ECANCELED
			     : pass_finish(state, end_ticks);
	}
	if (state->file.temporary[0])
		unlink(state->file.temporary);
	spool_end(&state->spool, !rc);
	thread_sum(session, &sums);
	memcpy(result->path, state->file.path, sizeof(result->path));
	result->events =
		state->counts.written - min_u64(gone, state->counts.written);
	result->recovered = state->counts.written - before;
	result->dropped = sums.dropped;
	pass_end(state);
out:
	arena_free(&arena);
	return rc;
}

/* Of a process that is dead; the session was copied after that, since before it
 * might have committed more. */
static int finish_session(struct session *session,
			  struct recovery_result *result)
{
	if (load_relaxed(&session->head->state) == SESSION_MAKING ||
	    !is_sane(session->head))
		return -EBADMSG;
	if (load_relaxed(&session->head->state) == SESSION_ENDED)
		return 0;
	return finish_trace(session, result);
}

/* A file that grows past RLIMIT_FSIZE is to be an error, not an end. */
static int finish_safely(int fd, struct recovery_result *result)
{
	struct session session;
	sigset_t blocked;
	sigset_t before;
	int rc;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGXFSZ);
	pthread_sigmask(SIG_BLOCK, &blocked, &before);
	rc = session_open(fd, &session);
	if (!rc) {
		rc = finish_session(&session, result);
		session_close(&session);
	}
	sigtimedwait(&blocked, NULL, &(const struct timespec){0});
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

/* The same text but for slashes at the end, or the same place on disk. */
static bool is_same_folder(const char *a, const char *b)
{
	struct stat here, there;
	size_t len_a = strlen(a), len_b = strlen(b);

	while (len_a > 1 && a[len_a - 1] == '/')
		len_a--;
	while (len_b > 1 && b[len_b - 1] == '/')
		len_b--;
	if (len_a == len_b && !memcmp(a, b, len_a))
		return true;
	return !stat(a, &here) && !stat(b, &there) &&
	       here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

/* By that text alone: each start looks at all sessions of a machine, and a
 * header is a hundred pages. */
static bool goes_elsewhere(int fd, const char *folder)
{
	char text[SESSION_TEXT_BYTES];

	if (!folder || pread(fd, text, sizeof(text),
			     offsetof(struct session_header, folder)) !=
			       (ssize_t)sizeof(text))
		return false;
	text[sizeof(text) - 1] = '\0';
	return !is_same_folder(text, folder);
}

/* Takes the session, if its process is dead and its traces go to `folder`
 * (NULL: any).  -EXDEV: they don't. */
static int claim(int fd, const char *folder)
{
	struct session session;
	int rc;

	if (goes_elsewhere(fd, folder))
		return -EXDEV;
	rc = session_look(fd, &session);
	if (rc)
		return rc;
	if (folder && !is_same_folder(session.head->folder, folder))
		rc = -EXDEV;
	else
		rc = session_claim(fd, session.head);
	session_close(&session);
	return rc;
}

int recovery_run_held(int fd, struct recovery_result *result)
{
	int rc = claim(fd, NULL);

	memset(result, 0, sizeof(*result));
	if (rc)
		return rc == -ENOLCK ? -EBUSY : rc;
	rc = finish_safely(fd, result);
	flock(fd, LOCK_UN);
	return rc;
}

/* With the lock held. */
static int finish_file(int fd, const char *path, struct recovery_result *result)
{
	struct stat status;
	int rc;

	memset(result, 0, sizeof(*result));
	/* The one before us may have finished it and unlinked it. */
	if (fstat(fd, &status) || !status.st_nlink)
		return -ENOENT;
	rc = finish_safely(fd, result);
	if (!rc)
		unlink(path);
	return rc;
}

int recovery_run(const char *session_path, struct recovery_result *result)
{
	const int fd = session_file(session_path, O_RDONLY);
	int rc;

	memset(result, 0, sizeof(*result));
	if (fd < 0)
		return fd;
	rc = claim(fd, NULL);
	if (!rc)
		rc = finish_file(fd, session_path, result);
	close(fd);
	return rc;
}

struct search {
	const char *folder;
	void (*done)(const char *path, int rc,
		     const struct recovery_result *result, void *arg);
	void *arg;
	int found;
};

static int visit(const char *path, void *arg)
{
	struct search *search = arg;
	struct recovery_result result = {.events = 0};
	bool is_wanted;
	int fd;
	int rc;

	if (load_relaxed(&is_stopped))
		return 1;
	fd = session_file(path, O_RDONLY);
	if (fd < 0)
		return 0;
	rc = claim(fd, search->folder);
	is_wanted = !rc || rc == -ENOLCK;
	if (!is_wanted)
		session_sweep(path);
	else if (!rc && search->done)
		rc = finish_file(fd, path, &result);
	close(fd);
	/* Another has finished it before us. */
	if (!is_wanted || rc == -ENOENT)
		return 0;
	if (search->done) {
		search->found++;
		search->done(path, rc, &result, search->arg);
	} else {
		search->found += !rc;
	}
	return 0;
}

int recovery_run_folder(const char *folder,
			void (*done)(const char *path, int rc,
				     const struct recovery_result *result,
				     void *arg),
			void *arg)
{
	struct search search = {.done = done, .arg = arg};
	char whole[SESSION_TEXT_BYTES];

	if (folder)
		search.folder = session_folder(folder, whole, sizeof(whole));
	session_find(visit, &search);
	return search.found;
}

struct look_left {
	const char *folder;
	int record_pid;
	struct recovery_left *left;
};

/* 0 where its number is not ours. */
static uint64_t cpu_of(pid_t pid)
{
	struct timespec time;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &time))
		return 0;
	return (uint64_t)time.tv_sec * UINT64_C(1000000000) +
	       (uint64_t)time.tv_nsec;
}

static int look_left(const char *path, void *arg)
{
	const struct look_left *look = arg;
	const int fd = session_file(path, O_RDONLY);
	const struct session_checkpoint *last;
	struct session session;

	if (fd < 0)
		return 0;
	if (!goes_elsewhere(fd, look->folder) && !session_look(fd, &session)) {
		struct session_header *head = session.head;

		const uint32_t finisher = load_relaxed(&head->finisher);

		if (finisher && head->record_pid == look->record_pid &&
		    is_same_folder(head->folder, look->folder) &&
		    session_claim(fd, head) == -EBUSY) {
			last = &head->checkpoints[load_relaxed(
							  &head->checkpoint) &
						  1];
			look->left->files++;
			look->left->cpu_ns += cpu_of((pid_t)finisher);
			look->left->events += head->left_events;
			look->left->written += min_u64(
				last->written + last->cut, head->left_events);
		}
		session_close(&session);
	}
	close(fd);
	return 0;
}

void recovery_look_left(const char *folder, int record_pid,
			struct recovery_left *left)
{
	char whole[SESSION_TEXT_BYTES];
	struct look_left look = {
		.folder = session_folder(folder, whole, sizeof(whole)),
		.record_pid = record_pid,
		.left = left};

	memset(left, 0, sizeof(*left));
	session_find(look_left, &look);
}

unsigned int recovery_count_folder(const char *folder)
{
	char whole[SESSION_TEXT_BYTES];
	struct search search = {
		.folder = session_folder(folder, whole, sizeof(whole))};

	session_find(visit, &search);
	return (unsigned int)search.found;
}
