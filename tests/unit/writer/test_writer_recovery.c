/* SPDX-License-Identifier: MIT */
/*
 * test_writer_recovery.c - traces of processes that are gone.
 *
 * A child makes a session, records, writes some of it down and is killed; the
 * parent finishes its trace.
 */
#include "tests/unit/cmocka_base.h"
#include "tests/unit/sample_session.h"
#include "writer/checkpoint.h"
#include "writer/pass.h"
#include "writer/recovery.h"
#include "writer/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define EVENTS 3000u
#define WORK   "\"cat\":\"user_annotation\",\"name\":\"work "

/* What the child tells: shared memory of both. */
struct told {
	char session[SESSION_TEXT_BYTES];
	_Atomic uint64_t committed;
};

static struct told *told;

static int make_told(void **state)
{
	(void)state;
	told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return told == MAP_FAILED;
}

static void work(struct sample *sample, struct thread *thread, uint64_t at)
{
	char name[32];

	snprintf(name, sizeof(name), "work %lu", (unsigned long)at % 100);
	sample_scope(sample, thread, name, 100 * at, 100 * at + 50);
	store_relaxed(&told->committed, at + 1);
}

/* A child whose behaviour is `live`; it ends by SIGKILL. */
static void killed(struct sample *sample, void (*live)(struct sample *))
{
	pid_t pid;
	int status;

	memset(told, 0, sizeof(*told));
	sample_begin(sample);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		sample_session(sample);
		strcpy(told->session, sample->session->path);
		live(sample);
		kill(getpid(), SIGKILL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
}

static struct recovery_result recovered(void)
{
	struct recovery_result result;

	assert_int_equal(recovery_run(told->session, &result), 0);
	assert_int_equal(access(told->session, F_OK), -1);
	return result;
}

static void assert_all_there(struct sample *sample, unsigned int events)
{
	const char *text = sample_text(sample);

	assert_int_equal(sample_count(text, WORK), events);
	assert_int_equal(sample_number(text, "written"), events);
	assert_int_equal(sample_number(text, "seen"), events);
	assert_non_null(strstr(text, "\"final\":true,\"recovered\":true"));
}

/* Part in the file at a checkpoint, part only in the file, part in the ring. */
static void live_in_parts(struct sample *sample)
{
	static struct writer_state writer_state;
	struct thread *thread;

	sample_window(sample, 0);
	thread = sample_thread(sample, 100);
	if (pass_start(&writer_state, sample->session, true))
		_exit(1);
	for (uint64_t i = 0; i < EVENTS; i++) {
		work(sample, thread, i);
		if (i == EVENTS / 3) {
			pass_run(&writer_state);
			if (checkpoint_make(&writer_state))
				_exit(1);
		}
		if (i == EVENTS / 2) {
			pass_run(&writer_state);
			window_file_flush(&writer_state);
		}
	}
	thread_open(thread, EVENT_SCOPE, sample->zero + 100 * EVENTS,
		    names_intern_string(sample->session, "never back"), 0, 0,
		    0);
}

static void a_kill_loses_and_doubles_nothing(void **state)
{
	struct sample sample;
	struct recovery_result result;

	(void)state;
	killed(&sample, live_in_parts);
	result = recovered();
	assert_int_equal(result.events, EVENTS);
	assert_int_equal(result.recovered, EVENTS - EVENTS / 3 - 1);
	assert_all_there(&sample, EVENTS);
	assert_int_equal(
		sample_count(sample.text, "\"name\":\"never back\",\"pid\""),
		1);
	assert_int_equal(sample_count(sample.text, "\"finished\":\"false\""),
			 1);
	assert_int_equal(sample_count(sample.text, "\"thread_name\""), 1);
	sample_end(&sample);
}

static void live_without_file(struct sample *sample)
{
	struct thread *thread;

	sample_window(sample, 0);
	thread = sample_thread(sample, 100);
	for (uint64_t i = 0; i < 10; i++)
		work(sample, thread, i);
}

static void a_file_is_made_where_there_was_none(void **state)
{
	struct sample sample;

	(void)state;
	killed(&sample, live_without_file);
	assert_int_equal(recovered().events, 10);
	assert_all_there(&sample, 10);
	sample_end(&sample);
}

/* The real thread, killed at any instant. */
/* A program that ends is not held up by another's long recovery. */
static void who_recovers_may_stop_at_any_event(void **state)
{
	struct recovery_result result;
	struct sample sample;

	(void)state;
	killed(&sample, live_in_parts);
	recovery_stop(true);
	assert_int_equal(recovery_run(told->session, &result), -ECANCELED);
	recovery_stop(false);
	assert_int_equal(access(told->session, F_OK), 0);
	recovered();
	assert_all_there(&sample, EVENTS);
	sample_end(&sample);
}

/* However little of it lies in rings: the file may be large. */
static void who_recovers_may_stop_before_the_first_event(void **state)
{
	struct recovery_result result;
	struct sample sample;

	(void)state;
	killed(&sample, live_without_file);
	recovery_stop(true);
	assert_int_equal(recovery_run(told->session, &result), -ECANCELED);
	recovery_stop(false);
	assert_int_equal(recovered().events, 10);
	sample_end(&sample);
}

static void live_threaded(struct sample *sample)
{
	struct thread *thread;

	sample_window(sample, 0);
	thread = sample_thread(sample, 100);
	if (writer_start(sample->session, NULL, 0))
		_exit(1);
	for (uint64_t i = 0;; i++) {
		work(sample, thread, i);
		if (i % 64 == 0)
			usleep(200);
	}
}

static void any_instant_of_the_thread_will_do(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 12; i++) {
		struct sample sample;
		pid_t pid;
		int status;
		unsigned int events;
		const char *text;

		memset(told, 0, sizeof(*told));
		sample_begin(&sample);
		pid = fork();
		assert_true(pid >= 0);
		if (!pid) {
			sample_session(&sample);
			strcpy(told->session, sample.session->path);
			live_threaded(&sample);
		}
		/* On a busy machine it may take its time to begin. */
		while (!load_relaxed(&told->committed))
			usleep(1000);
		usleep(i * 37000);
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status));
		recovered();
		text = sample_text(&sample);
		events = (unsigned int)sample_count(text, WORK);
		/* The one that was being told may be there already. */
		assert_in_range(events, load_relaxed(&told->committed),
				load_relaxed(&told->committed) + 1);
		assert_int_equal(sample_number(text, "written"), events);
		sample_end(&sample);
	}
}

static void live_on_a_lost_file(struct sample *sample)
{
	char paths[16][512];

	live_in_parts(sample);
	sample_files(sample, paths);
	unlink(paths[0]);
}

static void what_the_rings_hold_outlives_a_deleted_file(void **state)
{
	struct sample sample;
	const char *text;

	(void)state;
	killed(&sample, live_on_a_lost_file);
	assert_int_equal(recovered().events, EVENTS - EVENTS / 3 - 1);
	text = sample_text(&sample);
	assert_int_equal(sample_count(text, WORK), EVENTS - EVENTS / 3 - 1);
	assert_non_null(strstr(text, "which was deleted"));
	sample_end(&sample);
}

static void a_running_process_is_left_alone(void **state)
{
	struct sample sample;
	struct recovery_result result;

	(void)state;
	sample_begin(&sample);
	sample_session(&sample);
	assert_int_equal(recovery_run(sample.session->path, &result), -EBUSY);
	assert_int_equal(access(sample.session->path, F_OK), 0);
	sample_end(&sample);
}

/* Bytes of a dead session are changed at random: no fault, no endless loop. */
static void a_hostile_session_does_no_harm(void **state)
{
	struct sample sample;
	char copy[64];
	struct stat status;
	char *bytes;
	unsigned int seed = 1;
	int fd;

	(void)state;
	killed(&sample, live_in_parts);
	fd = open(told->session, O_RDONLY);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &status), 0);
	bytes = malloc(SESSION_FIRST_BYTES);
	assert_int_equal(read(fd, bytes, SESSION_FIRST_BYTES),
			 SESSION_FIRST_BYTES);
	close(fd);
	snprintf(copy, sizeof(copy), "/dev/shm/traceprof-%u-1-%016x.session",
		 geteuid(), (unsigned int)getpid());
	for (unsigned int round = 0; round < 150; round++) {
		const size_t head = sizeof(struct session_header);
		struct recovery_result result;
		char *changed = malloc(SESSION_FIRST_BYTES);

		memcpy(changed, bytes, SESSION_FIRST_BYTES);
		for (unsigned int i = 0; i < 1 + round % 20; i++) {
			const size_t part = round % 3 == 0 ? 4096 : head * 2;
			size_t at = (size_t)rand_r(&seed) % part;

			if (round % 3 == 1)
				at = offsetof(struct session_header, clock) +
				     (size_t)rand_r(&seed) % 256;
			changed[at] = (char)rand_r(&seed);
		}
		/* Still dead. */
		((struct session_header *)changed)->pid = 0x7ffffff0;
		fd = open(copy, O_RDWR | O_CREAT | O_TRUNC, 0600);
		assert_true(fd >= 0);
		assert_int_equal(write(fd, changed, SESSION_FIRST_BYTES),
				 SESSION_FIRST_BYTES);
		assert_int_equal(ftruncate(fd, status.st_size), 0);
		close(fd);
		recovery_run(copy, &result);
		unlink(copy);
		free(changed);
	}
	free(bytes);
	unlink(told->session);
	sample_end(&sample);
}

static long faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_minflt;
}

/* Each start looks for dead sessions of its folder, and a machine may have many
 * of others: their headers are a hundred pages each. */
static void a_look_costs_little_of_others(void **state)
{
	struct sample sample;
	long before;

	(void)state;
	killed(&sample, live_without_file);
	recovery_count_folder("/elsewhere");
	before = faults();
	assert_int_equal(recovery_count_folder("/elsewhere"), 0);
	/* A sanitizer has pages of its own beside each. */
	if (!UNDER_SANITIZER)
		assert_in_range(faults() - before, 0, 40);
	recovered();
	sample_end(&sample);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kill_loses_and_doubles_nothing),
		cmocka_unit_test(a_file_is_made_where_there_was_none),
		cmocka_unit_test(who_recovers_may_stop_before_the_first_event),
		cmocka_unit_test(who_recovers_may_stop_at_any_event),
		cmocka_unit_test(any_instant_of_the_thread_will_do),
		cmocka_unit_test(what_the_rings_hold_outlives_a_deleted_file),
		cmocka_unit_test(a_running_process_is_left_alone),
		cmocka_unit_test(a_hostile_session_does_no_harm),
		cmocka_unit_test(a_look_costs_little_of_others),
	};

	return cmocka_run_group_tests(tests, make_told, NULL);
}
