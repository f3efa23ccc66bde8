/* SPDX-License-Identifier: MIT */
/* test_writer_life.c - the writer's thread, and what ends it early. */
#include "tests/unit/sample_session.h"
#include "collector/session/gate.h"
#include "writer/pass.h"
#include "writer/window_trace.h"
#include "writer/writer.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <cmocka.h>

/* One line, the gate closes, nothing is thrown away. */
static void a_folder_that_cant_be_made_ends_the_recording(void **state)
{
	struct sample sample;
	struct writer_state writer_state;
	struct thread *thread;

	(void)state;
	sample_begin(&sample);
	strcpy(sample.options.dir, "/dev/null/nowhere");
	sample_session(&sample);
	sample_window(&sample, 0);
	thread = sample_thread(&sample, 100);
	gate_set(GATE_CLOSED | GATE_SCOPE);
	assert_int_equal(pass_start(&writer_state, sample.session, true), 0);
	sample_scope(&sample, thread, "work", 100, 200);
	pass_run(&writer_state);
	assert_int_equal(writer_state.error, -ENOTDIR);
	assert_int_equal(gate_bits(), GATE_CLOSED);
	assert_int_equal(pass_run(&writer_state), 0);
	assert_int_equal(pass_finish(&writer_state, sample.zero + 1000),
			 -ENOTDIR);
	assert_int_equal(ring_published(&thread->ring) != 0, 1);
	pass_end(&writer_state);
	sample_end(&sample);
}

/* The file stays what it was at the last good moment, and what the rings hold
 * stays there. */
static void a_full_disk_keeps_what_was_written(void **state)
{
	const struct rlimit tight = {100000, RLIM_INFINITY};
	struct rlimit before;
	struct sample sample;
	struct writer_state writer_state;
	struct thread *thread;
	unsigned int seed = 1;
	uint64_t at = 0;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	sample_begin(&sample);
	sample_session(&sample);
	sample_window(&sample, 0);
	thread = sample_thread(&sample, 100);
	assert_int_equal(pass_start(&writer_state, sample.session, true), 0);
	getrlimit(RLIMIT_FSIZE, &before);
	setrlimit(RLIMIT_FSIZE, &tight);
	for (int round = 0; round < 100 && !writer_state.error; round++) {
		for (int i = 0; i < 1000; i++) {
			at += (uint64_t)rand_r(&seed) % 100000;
			sample_scope(&sample, thread, "work", at,
				     at + (uint64_t)rand_r(&seed) % 1000);
		}
		writer_state.checkpoint_ns = 0;
		pass_run(&writer_state);
	}
	setrlimit(RLIMIT_FSIZE, &before);
	assert_int_equal(writer_state.error, -EFBIG);
	pass_end(&writer_state);
	sample_assert_json(sample_text(&sample));
	assert_true(sample_count(sample.text, "\"name\":\"work\"") > 1000);
	sample_end(&sample);
}

/* The message names the file, whatever it is that can't be had. */
static void names_a_file_without_memory(void **state)
{
	struct writer_state writer_state;
	struct rlimit before, none;
	struct sample sample;
	int rc;

	(void)state;
	sample_begin(&sample);
	sample_session(&sample);
	sample_window(&sample, 0);
	assert_int_equal(pass_start(&writer_state, sample.session, false), 0);
	getrlimit(RLIMIT_AS, &before);
	none = before;
	none.rlim_cur = 1;
	setrlimit(RLIMIT_AS, &none);
	rc = window_trace_open(&writer_state);
	setrlimit(RLIMIT_AS, &before);
	assert_int_equal(rc, -ENOMEM);
	assert_non_null(strstr(writer_state.file.path, ".pt.trace.json"));
	pass_end(&writer_state);
	sample_end(&sample);
}

/* Its program may be killed before the first checkpoint: what there is by then
 * says that it goes on, and has all that a trace must have. */
static void a_file_that_just_began_is_whole(void **state)
{
	struct writer_state writer_state;
	struct sample sample;
	const char *text;

	(void)state;
	sample_begin(&sample);
	sample_session(&sample);
	sample_window(&sample, 0);
	assert_int_equal(pass_start(&writer_state, sample.session, true), 0);
	assert_int_equal(window_trace_open(&writer_state), 0);
	text = sample_text(&sample);
	sample_assert_json(text);
	assert_non_null(strstr(text, "\"final\":false"));
	assert_non_null(strstr(text, "\"deviceProperties\":[]"));
	assert_non_null(strstr(text, "\"traceName\":"));
	assert_int_equal(sample_number(text, "in_file"), 0);
	assert_int_equal(pass_finish(&writer_state, sample.zero + 1), 0);
	pass_end(&writer_state);
	sample_end(&sample);
}

/* The thread itself: starts, answers, stops, and the session is gone. */
static void add_total(const struct writer_total *total, void *arg)
{
	uint64_t *calls = arg;

	if (!strcmp(total->name, "work"))
		*calls += total->calls;
}

/* True while a thread of the writer's name runs. */
static bool is_there(void)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *task;
	bool found = false;

	assert_non_null(tasks);
	while ((task = readdir(tasks)) != NULL) {
		char path[300], name[32] = "";
		FILE *file;

		snprintf(path, sizeof(path), "/proc/self/task/%s/comm",
			 task->d_name);
		file = fopen(path, "r");
		if (file && fgets(name, sizeof(name), file))
			found |= !strcmp(name, "traceprof\n");
		if (file)
			fclose(file);
	}
	closedir(tasks);
	return found;
}

/* As in a forked child, which has no such thread. */
static void forget(void)
{
	while (is_there())
		usleep(1000);
	writer_forget();
}

static void the_thread_answers_and_stops(void **state)
{
	struct sample sample;
	struct thread *thread;
	struct writer_summary summary;
	uint64_t calls = 0;

	(void)state;
	sample_begin(&sample);
	sample_session(&sample);
	sample_window(&sample, 0);
	thread = sample_thread(&sample, 100);
	assert_int_equal(writer_start(sample.session, NULL, 0), 0);
	for (uint64_t i = 0; i < 100; i++)
		sample_scope(&sample, thread, "work", i * 100, i * 100 + 10);
	assert_int_equal(writer_totals(add_total, &calls), 1);
	assert_int_equal(calls, 100);
	writer_totals_reset();
	assert_int_equal(writer_totals(add_total, &calls), 0);
	assert_int_equal(writer_stop(5000), 0);
	assert_int_equal(writer_stop(5000), 0);
	writer_summarise(&summary);
	assert_int_equal(summary.files, 1);
	assert_int_equal(summary.written, 100);
	assert_true(summary.bytes > 4096);
	assert_int_equal(access(summary.path, F_OK), 0);
	assert_int_equal(access(sample.session->path, F_OK), -1);
	assert_int_equal(sample_number(sample_text(&sample), "seen"), 100);
	forget();
	sample_end(&sample);
}

/* Threads record while windows come and go. */
static _Atomic bool is_over;
static _Atomic uint64_t recorded;

static void *record(void *arg)
{
	struct sample *sample = arg;
	struct thread *thread = thread_enter(sample->session);
	uint64_t at = clock_ticks();

	while (!load_relaxed(&is_over)) {
		const uint64_t start = at;

		for (int i = 0; i < 5; i++) {
			const uint64_t inner = at = clock_ticks();

			at = clock_ticks();
			sample_scope(sample, thread, "inner",
				     inner - sample->zero, at - sample->zero);
		}
		at = clock_ticks();
		sample_scope(sample, thread, "outer", start - sample->zero,
			     at - sample->zero);
		add_relaxed(&recorded, 6);
		usleep(50);
	}
	thread_leave();
	return NULL;
}

static void windows_come_and_go_under_load(void **state)
{
	struct sample sample;
	struct window_state *windows;
	pthread_t threads[3];
	char paths[16][512];
	unsigned long in_files = 0;
	unsigned long seen = 0;
	int files;

	(void)state;
	sample_begin(&sample);
	sample_session(&sample);
	windows = &sample.session->head->windows;
	assert_int_equal(writer_start(sample.session, NULL, 0), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(
			pthread_create(&threads[i], NULL, record, &sample), 0);
	for (int i = 0; i < 8; i++) {
		assert_int_equal(
			window_open(windows, clock_ticks(), i, 0, false), 0);
		usleep(15000);
		assert_int_equal(window_close(windows, clock_ticks(), i), 0);
		if (i & 1)
			usleep(2000);
	}
	store_relaxed(&is_over, true);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(writer_stop(5000), 0);
	files = sample_files(&sample, paths);
	assert_int_equal(files, 8);
	for (int i = 0; i < files; i++) {
		const char *text = sample_read(&sample, paths[i]);

		sample_assert_json(text);
		in_files += sample_number(text, "in_file");
		assert_true(sample_number(text, "in_file") > 0);
		seen = sample_number(text, "seen");
		assert_int_equal(seen, sample_number(text, "written") +
					       sample_number(text, "cut"));
		assert_int_equal(sample_number(text, "written"), in_files);
	}
	assert_true(seen <= load_relaxed(&recorded));
	forget();
	sample_end(&sample);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_folder_that_cant_be_made_ends_the_recording),
		cmocka_unit_test(names_a_file_without_memory),
		cmocka_unit_test(a_file_that_just_began_is_whole),
		cmocka_unit_test(a_full_disk_keeps_what_was_written),
		cmocka_unit_test(the_thread_answers_and_stops),
		cmocka_unit_test(windows_come_and_go_under_load),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
