/* SPDX-License-Identifier: MIT */
/*
 * session_fixture.h - a fresh session for one test, and a reader of a ring that
 * is independent of the writer's.
 */
#ifndef UNIT_SESSION_FIXTURE_H
#define UNIT_SESSION_FIXTURE_H

#include "tests/unit/cmocka_base.h"

#include "collector/session/gate.h"
#include "collector/session/thread.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FIXTURE_SESSIONS 16

/* Of tests that are under way: one that fails doesn't come to its end. */
static struct {
	pid_t owner;
	char path[FIXTURE_SESSIONS][SESSION_TEXT_BYTES];
} fixture;

static inline void fixture_remove(void)
{
	for (int i = 0; i < FIXTURE_SESSIONS && fixture.owner == getpid(); i++)
		if (fixture.path[i][0])
			unlink(fixture.path[i]);
}

/* Notes the new path in the place of the old one; "" is none. */
static inline void fixture_note(const char *old, const char *path)
{
	for (int i = 0; i < FIXTURE_SESSIONS; i++) {
		if (strcmp(fixture.path[i], old) != 0)
			continue;
		strcpy(fixture.path[i], path);
		return;
	}
}

/* A session with these options, as session_here. */
static inline struct session *fixture_with(const struct options *options)
{
	struct session *session;

	assert_int_equal(session_create(options, "unit test", &session), 0);
	if (!fixture.owner) {
		fixture.owner = getpid();
		atexit(fixture_remove);
	}
	fixture_note("", session->path);
	store_relaxed(&session_here, session);
	thread_self = NULL;
	return session;
}

static inline struct session *fixture_begin(int buffer_mb)
{
	struct options options;

	options_default(&options);
	options.buffer_mb = buffer_mb;
	return fixture_with(&options);
}

static inline void fixture_end(struct session *session)
{
	session_unlink(session);
	fixture_note(session->path, "");
	munmap(session->base, session->bytes);
	store_relaxed(&session_here, NULL);
	thread_self = NULL;
}

/* Some of the record bits are open. */
static inline bool gate_is_recording(void)
{
	return gate_bits() & GATE_RECORD_BITS;
}

/* Where a reader of one ring stands; zeroed: at the beginning. */
struct ring_walk {
	uint64_t chunk; /* session offset, 0 before the first event */
	uint64_t at;
	unsigned int chunks_left;
};

/* The next published event, NULL if there is none yet. */
static inline const struct event *ring_walk_next(struct ring_walk *reader,
						 struct session *session,
						 struct ring *ring)
{
	const uint64_t published = ring_published(ring);

	if (!published || reader->at == published)
		return NULL;
	if (!reader->chunk) {
		reader->chunk = load_acquire(&ring->first_chunk);
		reader->at = reader->chunk + sizeof(struct chunk);
	}
	for (;;) {
		struct chunk *chunk = session_at(session, reader->chunk);
		const uint64_t next = load_acquire(&chunk->next);

		if (!next || reader->at != chunk->end)
			break;
		reader->chunk = next;
		reader->at = next + sizeof(struct chunk);
		reader->chunks_left++;
	}
	const struct event *event = session_at(session, reader->at);

	reader->at += event->flags & EVENT_TWO_SLOTS ? 2 * sizeof(*event)
						     : sizeof(*event);
	return event;
}

#endif
