/* SPDX-License-Identifier: MIT */
/*
 * trace_fixture.h - a folder and a trace for each test, and what must come back
 * from it.
 */
#ifndef TESTS_UNIT_TRACE_FIXTURE_H
#define TESTS_UNIT_TRACE_FIXTURE_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/strict_reader.h"
#include "tests/unit/unit_folder.h"
#include "writer/file/trace_file.h"
#include <errno.h>
#include <ftw.h>
#include <sys/stat.h>

static const char tail_text[] =
	"\n],\"deviceProperties\":[],\"traceName\":\"t\"}";
static const char head_text[] =
	"{\"schemaVersion\":1,\"traceEvents\":[\n{\"ph\":\"M\",\"n\":0}";

static char folder[256], path[320], new_path[320];
static struct trace_file file;

/* What was appended, so what must come back. */
static char *wanted;
static size_t wanted_len, wanted_room;

static inline int remove_one(const char *name, const struct stat *stat_now,
			     int flag, struct FTW *where)
{
	(void)stat_now;
	(void)flag;
	(void)where;
	return remove(name);
}

static inline int set_up(void **state)
{
	(void)state;
	unit_template(folder, sizeof(folder), "test");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/a.pt.trace.json.gz", folder);
	snprintf(new_path, sizeof(new_path), "%s/b.pt.trace.json.gz", folder);
	wanted_len = 0;
	return 0;
}

static inline int tear_down(void **state)
{
	(void)state;
	nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	return 0;
}

/* A new file of that name in the folder, and the folder that it lies in. */
static inline FILE *make_file(const char *name)
{
	char at[1024];
	FILE *made;

	snprintf(at, sizeof(at), "%s/%s", folder, name);
	*strrchr(at, '/') = '\0';
	mkdir(at, 0700);
	at[strlen(at)] = '/';
	made = fopen(at, "w");
	assert_non_null(made);
	return made;
}

static inline void want(const char *text, size_t len)
{
	if (wanted_len + len > wanted_room) {
		wanted_room = (wanted_len + len) * 2;
		wanted = realloc(wanted, wanted_room);
		assert_non_null(wanted);
	}
	memcpy(wanted + wanted_len, text, len);
	wanted_len += len;
}

static inline void create(const char *coder)
{
	assert_int_equal(trace_file_create(&file, path, coder, head_text,
					   strlen(head_text), NULL, 0),
			 0);
	want(head_text, strlen(head_text));
}

/* How many letters there are: how badly an event compresses. */
static int letters = 16;

/* `count` events whose text differs, of about `bytes` each, in one append. */
static inline int append_events(int count, size_t bytes)
{
	static int serial;
	char *text = malloc((size_t)count * (bytes + 80));
	size_t used = 0;
	int rc;

	for (int i = 0; i < count; i++) {
		used += (size_t)sprintf(text + used,
					",\n{\"ph\":\"X\",\"n\":%d,\"v\":\"",
					++serial);
		for (size_t j = 0; j < bytes; j++)
			text[used++] = (char)('a' + lrand48() % letters *
							    (long)(j & 1));
		used += (size_t)sprintf(text + used, "\"}");
	}
	rc = trace_file_append(&file, text, used, NULL);
	if (!rc)
		want(text, used);
	free(text);
	return rc;
}

static inline int checkpoint(void)
{
	return trace_file_checkpoint(&file, tail_text, strlen(tail_text));
}

static inline int finish(void)
{
	return trace_file_finish(&file, tail_text, strlen(tail_text));
}

/* The file at `name` is exactly wanted[0..len) and `tail`. */
static inline void holds_at(const char *name, size_t len, const char *tail,
			    bool plain)
{
	const char *fault = "";
	size_t text_len = 0;
	char *text = plain ? strict_read_plain(name, &text_len, &fault)
			   : strict_read_gzip(name, &text_len, &fault);

	if (!text)
		fail_msg("%s: %s", name, fault);
	assert_int_equal(text_len, len + strlen(tail));
	assert_memory_equal(text, wanted, len);
	assert_memory_equal(text + len, tail, strlen(tail));
	free(text);
}

static inline void holds(const char *tail)
{
	holds_at(path, wanted_len, tail, false);
}

static inline uint64_t size_of(const char *name)
{
	struct stat stat_now;

	return stat(name, &stat_now) ? 0 : (uint64_t)stat_now.st_size;
}

#endif
