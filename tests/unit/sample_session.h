/* SPDX-License-Identifier: MIT */
/*
 * sample_session.h - sessions made by hand, for the writer's tests.
 *
 * A session of this test process with real rings, whose ticks are nanoseconds;
 * threads are records that the test fills itself; the files land in a folder of
 * their own.
 */
#ifndef TESTS_SAMPLE_SESSION_H
#define TESTS_SAMPLE_SESSION_H

#include "collector/session/names.h"
#include "collector/session/pool.h"
#include "collector/session/thread.h"
#include "tests/unit/unit_folder.h"
#include "writer/state/writer_state.h"
#include <assert.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#ifdef HAVE_YAJL
#include <yajl/yajl_parse.h>
#endif

/* Ticks, more than a sample lasts: all in it is past, as what a program that
 * runs has recorded. */
#define SAMPLE_PAST UINT64_C(30000000000)

struct sample {
	char folder[256];
	struct options options;
	struct session *session;
	uint64_t zero; /* ticks at which the sample begins */
	char *text;    /* of the last file read */
};

static inline void sample_begin(struct sample *sample)
{
	memset(sample, 0, sizeof(*sample));
	unit_template(sample->folder, sizeof(sample->folder), "sample");
	assert(mkdtemp(sample->folder));
	options_default(&sample->options);
	sample->options.encode = ENCODE_LIVE;
	strcpy(sample->options.dir, sample->folder);
	clock_choose(true);
}

/* After the options were changed, if at all. */
static inline struct session *sample_session(struct sample *sample)
{
	assert(!session_create(&sample->options, "a test", &sample->session));
	atomic_store(&session_here, sample->session);
	sample->zero = clock_ticks() - SAMPLE_PAST;
	return sample->session;
}

static inline void sample_window(struct sample *sample, uint64_t start)
{
	assert(!window_open(&sample->session->head->windows,
			    sample->zero + start, -1, 0, false));
}

static inline void sample_window_end(struct sample *sample, uint64_t end)
{
	assert(!window_close(&sample->session->head->windows,
			     sample->zero + end, -1));
}

static inline struct thread *sample_thread(struct sample *sample, uint32_t tid)
{
	struct thread *thread;

	thread_self = NULL;
	thread = thread_enter(sample->session);
	assert(thread);
	thread_self = NULL;
	thread->tid = tid;
	strcpy(thread->name, "sample");
	return thread;
}

/* Pushes an event whose times count from the sample's zero. */
static inline void sample_push(struct sample *sample, struct thread *thread,
			       struct event event)
{
	struct event *slot = ring_reserve(&thread->ring, 1);

	event.start_ticks += sample->zero;
	event.end_ticks += sample->zero;
	if (!slot) {
		ring_refuse(&thread->ring, event.kind, event.end_ticks);
		return;
	}
	*slot = event;
	ring_commit(&thread->ring, 1, 1);
}

static inline void sample_scope(struct sample *sample, struct thread *thread,
				const char *name, uint64_t start, uint64_t end)
{
	sample_push(sample, thread,
		    (struct event){
			    .kind = EVENT_SCOPE,
			    .name = names_intern_string(sample->session, name),
			    .start_ticks = start,
			    .end_ticks = end});
}

/* The files that were made, in order of their names. */
static inline int sample_files(struct sample *sample, char paths[][512])
{
	struct dirent **names;
	int found = scandir(sample->folder, &names, NULL, alphasort);
	int count = 0;

	for (int i = 0; i < found; i++) {
		if (names[i]->d_name[0] != '.')
			snprintf(paths[count++], 512, "%s/%s", sample->folder,
				 names[i]->d_name);
		free(names[i]);
	}
	free(names);
	return count;
}

/* The text of a file, unpacked. */
static inline char *sample_read(struct sample *sample, const char *path)
{
	const size_t room = 64u << 20;
	gzFile file = gzopen(path, "rb");
	size_t used = 0;
	int got;

	assert(file);
	free(sample->text);
	sample->text = malloc(room);
	assert(sample->text);
	while ((got = gzread(file, sample->text + used, 1u << 20)) > 0)
		used += (size_t)got;
	assert(!got && gzclose(file) == Z_OK);
	sample->text[used] = '\0';
	return sample->text;
}

/* The text of the only file. */
static inline char *sample_text(struct sample *sample)
{
	char paths[16][512];

	assert(sample_files(sample, paths) == 1);
	return sample_read(sample, paths[0]);
}

/* The whole text is one JSON value. */
static inline void sample_assert_json(const char *text)
{
#ifdef HAVE_YAJL
	yajl_handle parser = yajl_alloc(NULL, NULL, NULL);

	assert(yajl_parse(parser, (const unsigned char *)text, strlen(text)) ==
	       yajl_status_ok);
	assert(yajl_complete_parse(parser) == yajl_status_ok);
	yajl_free(parser);
#else
	assert(text[0] == '{');
#endif
}

static inline int sample_count(const char *text, const char *word)
{
	const char *end = text + strlen(text);
	int count = 0;

	/* Not strstr: under a sanitizer it measures the rest each time. */
	while ((text = memmem(text, (size_t)(end - text), word,
			      strlen(word)))) {
		count++;
		text++;
	}
	return count;
}

/* A number behind `key` in the tail's account. */
static inline unsigned long sample_number(const char *text, const char *key)
{
	const char *at = strstr(text, "\"traceprof\":{");
	char quoted[64];

	snprintf(quoted, sizeof(quoted), "\"%s\":", key);
	at = at ? strstr(at, quoted) : NULL;
	assert(at);
	return strtoul(at + strlen(quoted), NULL, 10);
}

static inline void sample_end(struct sample *sample)
{
	char paths[256][512];
	int count = sample_files(sample, paths);

	for (int i = 0; i < count; i++)
		unlink(paths[i]);
	rmdir(sample->folder);
	free(sample->text);
	if (sample->session) {
		session_unlink(sample->session);
		atomic_store(&session_here, NULL);
	}
	thread_self = NULL;
}

#endif
