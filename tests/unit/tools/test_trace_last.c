/* SPDX-License-Identifier: MIT */
/*
 * test_trace_last.c - of the last part of a trace all is read that ended after
 * the moment that is told, wherever the part begins.
 */
#include "tools/trace/trace_part.h"
#include "writer/file/trace_file.h"

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define THREADS 4u
#define SLICES	6u
#define EACH	9000u /* events of a thread in a slice */
#define EVENTS	(THREADS * SLICES * EACH)
#define STEPS	2000u

/* What lies in a file, and what was read of it. */
struct read {
	int64_t from_ns;
	size_t events, after, steps;
	int64_t first_ns;
};

static char folder[] = "/tmp/traceprof-last-XXXXXX";
static char path[64];

static int64_t end_of(unsigned int slice, unsigned int thread, unsigned int at)
{
	return ((int64_t)slice * EACH * THREADS + at * THREADS + thread) *
		       1000 +
	       900;
}

static void append(struct trace_file *file, const char *name,
		   unsigned int thread, int64_t end_ns, int64_t dur_ns)
{
	const int64_t ts_ns = end_ns - dur_ns;
	char text[256];
	const int len = snprintf(
		text, sizeof(text),
		",\n{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"%s\","
		"\"pid\":1,\"tid\":%u,\"ts\":%" PRId64 ".%03d,\"dur\":%" PRId64
		".%03d,\"args\":{\"number\":%d}}",
		name, thread, ts_ns / 1000, (int)(ts_ns % 1000), dur_ns / 1000,
		(int)(dur_ns % 1000), rand());

	assert_int_equal(trace_file_append(file, text, (size_t)len, NULL), 0);
}

static void begin_file(struct trace_file *file, const char *coder)
{
	static const char head[] = "{\"schemaVersion\":1,\"traceEvents\":[\n"
				   "{\"ph\":\"M\",\"name\":\"process_name\","
				   "\"pid\":1,\"args\":{\"name\":\"it\"}}";

	unlink(path);
	assert_int_equal(trace_file_create(file, path, coder, head,
					   sizeof(head) - 1, NULL, 0),
			 0);
}

static void end_file(struct trace_file *file)
{
	static const char tail[] = "\n],\"traceName\":\"it\"}";

	assert_int_equal(trace_file_finish(file, tail, sizeof(tail) - 1), 0);
}

/* Events of one thread. */
static void write_few(const char *coder, unsigned int events)
{
	struct trace_file file;

	begin_file(&file, coder);
	for (unsigned int at = 0; at < events; at++)
		append(&file, "work", 0, 1000 * (at + 1), 800);
	end_file(&file);
}

/* Slice by slice, thread by thread, then all steps. */
static void write_file(const char *coder, unsigned int steps)
{
	struct trace_file file;

	srand(1);
	begin_file(&file, coder);
	for (unsigned int slice = 0; slice < SLICES; slice++)
		for (unsigned int thread = 0; thread < THREADS; thread++)
			for (unsigned int at = 0; at < EACH; at++)
				append(&file, "work", thread,
				       end_of(slice, thread, at), 800);
	for (unsigned int at = 0; at < steps; at++)
		append(&file, "ProfilerStep#1", 0, 1000 * (at + 1), 1000);
	end_file(&file);
}

static void on_event(void *arg, const struct trace_event *event)
{
	struct read *read = arg;

	if (!trace_event_is_slice(event))
		return;
	if (!strncmp(event->field[FIELD_NAME].text, "ProfilerStep#", 13)) {
		read->steps++;
		return;
	}
	read->events++;
	read->after += event->ts_ns + event->dur_ns > read->from_ns;
	if (event->ts_ns < read->first_ns)
		read->first_ns = event->ts_ns;
}

static void on_entry(void *arg, const struct trace_entry *entry)
{
	(void)arg;
	(void)entry;
}

static int read_last(uint64_t bytes, struct read *read)
{
	const struct trace_sink sink = {on_event, on_entry, read};
	struct trace_facts facts;

	*read = (struct read){.first_ns = INT64_MAX};
	return trace_read_last(path, bytes, &sink, &facts, &read->from_ns);
}

static uint64_t size_of_file(void)
{
	struct stat status;

	assert_int_equal(stat(path, &status), 0);
	return (uint64_t)status.st_size;
}

/* How many ended later, by how they were made. */
static size_t made_after(int64_t ns)
{
	size_t count = 0;

	for (unsigned int slice = 0; slice < SLICES; slice++)
		for (unsigned int thread = 0; thread < THREADS; thread++)
			for (unsigned int at = 0; at < EACH; at++)
				count += end_of(slice, thread, at) > ns;
	return count;
}

static void each_part_is_whole_after_its_begin(const char *coder)
{
	size_t parts = 0;
	uint64_t size;

	write_file(coder, 0);
	size = size_of_file();
	for (uint64_t bytes = size / 6; bytes < size / 2; bytes += size / 61) {
		struct read read;

		assert_int_equal(read_last(bytes, &read), 0);
		assert_true(read.from_ns > 0);
		assert_int_equal(read.after, made_after(read.from_ns));
		assert_true(read.after > 0);
		assert_true(read.events < EVENTS);
		parts++;
	}
	assert_true(parts > 10);
}

static void parts_of_ours(void **state)
{
	(void)state;
	each_part_is_whole_after_its_begin("fast");
}

static void parts_of_zlibs(void **state)
{
	(void)state;
	each_part_is_whole_after_its_begin("zlib:6");
}

static void parts_of_plain_text(void **state)
{
	(void)state;
	each_part_is_whole_after_its_begin("off");
}

/* They were written when all else was there, and tell nothing of when. */
static void steps_at_the_end(void **state)
{
	struct read read;
	uint64_t size;

	(void)state;
	write_file("fast", 60000);
	size = size_of_file();
	assert_int_equal(read_last(size / 2, &read), 0);
	assert_int_equal(read.after, made_after(read.from_ns));
	assert_int_equal(read.steps, 60000);
	assert_int_equal(read_last(size / 20, &read), -ENODATA);
}

static void a_file_that_is_no_larger(void **state)
{
	struct read read;

	(void)state;
	write_file("fast", STEPS);
	assert_int_equal(read_last(size_of_file(), &read), 0);
	assert_int_equal(read.from_ns, INT64_MIN);
	assert_int_equal(read.events, EVENTS);
	assert_int_equal(read.steps, STEPS);
}

/* One piece that looks back at what lies before it: others write so. */
static void a_file_that_is_none_of_ours(void **state)
{
	struct read read;
	char command[256];

	(void)state;
	write_file("off", STEPS);
	snprintf(command, sizeof(command), "gzip -nf %s && mv %s.gz %s", path,
		 path, path);
	assert_int_equal(system(command), 0);
	assert_int_equal(read_last(size_of_file() / 2, &read), 0);
	assert_int_equal(read.from_ns, INT64_MIN);
	assert_int_equal(read.events, EVENTS);
}

static void a_file_that_was_cut(void **state)
{
	struct read read;

	(void)state;
	write_file("fast", STEPS);
	assert_int_equal(truncate(path, (off_t)(size_of_file() * 9 / 10)), 0);
	assert_int_not_equal(read_last(size_of_file() / 2, &read), 0);
	assert_int_equal(truncate(path, 100), 0);
	assert_int_not_equal(read_last(10, &read), 0);
	unlink(path);
	assert_int_equal(read_last(1000, &read), -ENOENT);
}

static int begin(void **state)
{
	(void)state;
	if (!trace_reader_available() || !mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/it", folder);
	return 0;
}

static int end(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(folder);
}

/* Whatever is said of it, it is read in bounds. */
static void a_file_that_is_damaged(void **state)
{
	struct read read;
	uint64_t size;
	FILE *file;

	(void)state;
	for (unsigned int round = 0; round < 30; round++) {
		write_few("fast", 8000);
		size = size_of_file();
		file = fopen(path, "r+");
		assert_non_null(file);
		for (unsigned int at = 0; at < 1 + round * 8; at++) {
			fseek(file, rand() % (long)size, SEEK_SET);
			fputc(rand(), file);
		}
		fclose(file);
		read_last(size / 3, &read);
		read_last(size / 9, &read);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_of_ours),
		cmocka_unit_test(parts_of_zlibs),
		cmocka_unit_test(parts_of_plain_text),
		cmocka_unit_test(steps_at_the_end),
		cmocka_unit_test(a_file_that_is_no_larger),
		cmocka_unit_test(a_file_that_is_none_of_ours),
		cmocka_unit_test(a_file_that_was_cut),
		cmocka_unit_test(a_file_that_is_damaged),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
