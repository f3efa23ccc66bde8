/* SPDX-License-Identifier: MIT */
/*
 * test_closing.c - each counter of what is missing is said at the end of a run,
 * with its number, and "none lost" is said where all of them are 0.
 */
#include "tests/unit/session_fixture.h"

#include "preload/process/life_parts.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEPT 100 /* the stderr of the tests themselves */

static struct session *session;
static struct writer_summary done;
static char said[4096];
static int told; /* what lines are written to */

/* As the end of a run says it; in a child, since a process has few lines. */
static void close_run(int rc)
{
	ssize_t len;
	pid_t child;

	assert_int_equal(ftruncate(told, 0), 0);
	assert_int_equal(lseek(told, 0, SEEK_SET), 0);
	child = fork();
	if (!child) {
		dup2(told, STDERR_FILENO);
		closing_report(session, &done, rc,
			       load_relaxed(&session->head->missed_calls),
			       PROGRAM_BECOMES_ANOTHER);
		_exit(0);
	}
	assert_int_equal(waitpid(child, NULL, 0), child);
	len = pread(told, said, sizeof(said) - 1, 0);
	assert_true(len >= 0);
	said[len] = '\0';
}

static void begin(void)
{
	session = fixture_begin(4);
	done = (struct writer_summary){
		.files = 1, .written = 100, .seen = 100, .path = "a.trace"};
}

static void expect(const char *words)
{
	if (!strstr(said, words))
		fail_msg("\"%s\" is not in: %s", words, said);
}

static void expect_not(const char *words)
{
	if (strstr(said, words))
		fail_msg("\"%s\" is in: %s", words, said);
}

static void nothing_is_lost(void **state)
{
	(void)state;
	begin();
	close_run(0);
	expect("wrote a.trace (100 recorded events, none lost, ");
	expect_not("LOST");
	fixture_end(session);
}

/* A line of its own, and what the line of the file says. */
static void says(const char *line, const char *loss)
{
	close_run(0);
	expect_not("none lost");
	expect(line);
	expect(loss);
	/* What somebody else writes to the end is told of as well. */
	done.left = 50;
	close_run(-EINPROGRESS);
	expect_not("none lost");
	expect(line);
	expect(loss);
	fixture_end(session);
}

static void events_and_calls(void **state)
{
	(void)state;
	begin();
	done.dropped = 7;
	says("7 events found no room: raise TRACEPROF_BUFFER_MB (4)", "7 LOST");
	begin();
	store_relaxed(&session->head->unrecorded_calls, 7);
	says("some threads found no room to be recorded (7 calls)", "7 LOST");
	begin();
	store_relaxed(&session->head->unrecorded_calls, 7);
	store_relaxed(&session->head->unfollowed_calls, 7);
	says("7 calls could not be followed", "7 LOST");
	expect_not("found no room");
	begin();
	done.lost_waits = 7;
	says("", "7 waits at regions' ends LOST");
	begin();
	store_relaxed(&session->head->missed_calls, 7);
	says("", "7 calls missed that came inside of others");
}

/* One of each, as a person would write it. */
static void one_is_no_plural(void **state)
{
	(void)state;
	begin();
	done.seen = done.written = 1;
	done.dropped = 1;
	done.past_max = 1;
	done.thinned = 1;
	store_relaxed(&session->head->unrecorded_calls, 1);
	close_run(0);
	expect("wrote a.trace (1 recorded event, 2 LOST, ");
	expect("1 event found no room");
	expect("to be recorded (1 call)");
	expect("1 event came past TRACEPROF_MAX_MB");
	expect("1 call was thinned by TRACEPROF_MAX_OVERHEAD");
	fixture_end(session);
	begin();
	store_relaxed(&session->head->gpu.missing_kernels, 1);
	session->head->gpu.unknown_captures = 1;
	session->head->gpu.unpaired = 1;
	store_relaxed(&session->head->unfollowed_calls, 1);
	store_relaxed(&session->head->unrecorded_calls, 1);
	close_run(0);
	expect("1 launch lacks kernels");
	expect("1 launch may have gone");
	expect("1 call of CUDA's driver may be drawn beside what called it");
	expect("1 call could not be followed");
	fixture_end(session);
	begin();
	store_relaxed(&session->head->missed_calls, 1);
	says("", "1 call missed that came inside of others");
}

static void records_of_a_gpu(void **state)
{
	struct gpu_state *gpu;

	(void)state;
	begin();
	gpu = &session->head->gpu;
	store_relaxed(&gpu->lost, 7);
	says("", "7 buffers of the GPU's records LOST");
	begin();
	gpu = &session->head->gpu;
	store_relaxed(&gpu->dropped, 4);
	gpu->without_time = 3;
	says("", "7 records of the GPU LOST");
	begin();
	gpu = &session->head->gpu;
	store_relaxed(&gpu->is_cut, 1);
	says("", "the GPU's last records LOST");
	begin();
	gpu = &session->head->gpu;
	gpu->kernels = 1;
	store_relaxed(&gpu->missing_kernels, 7);
	says("7 launches lack kernels in the trace",
	     "kernels of 7 launches LOST");
	expect("TRACEPROF_GPU_WAIT_MS (30000) after the window");
}

/* Each launch without its kernels, and what else is known to be missing. */
static void why_launches_lack_kernels(void **state)
{
	struct gpu_state *gpu;

	(void)state;
	begin();
	gpu = &session->head->gpu;
	gpu->kernels = 1;
	gpu->without_time = 9;
	store_relaxed(&gpu->missing_kernels, 7);
	says("7 launches lack kernels in the trace: CUPTI gave 9 records of "
	     "the GPU no time",
	     "9 records of the GPU LOST");
	expect_not("TRACEPROF_GPU_WAIT_MS");
	begin();
	gpu = &session->head->gpu;
	gpu->without_time = gpu->unfinished = 7;
	store_relaxed(&gpu->missing_kernels, 7);
	says("trace: these were missing when the program ended, or "
	     "TRACEPROF_GPU_WAIT_MS (30000) after the window",
	     "7 records of the GPU LOST");
	expect_not("no time");
	begin();
	gpu = &session->head->gpu;
	store_relaxed(&gpu->missing_kernels, 7);
	says("7 launches lack kernels in the trace: CUPTI gave no record of "
	     "any",
	     "kernels of 7 launches LOST");
	begin();
	gpu = &session->head->gpu;
	gpu->without_time = 3;
	gpu->unfinished = 2;
	store_relaxed(&gpu->lost, 1);
	store_relaxed(&gpu->dropped, 4);
	store_relaxed(&gpu->missing_kernels, 7);
	close_run(0);
	expect("trace: CUPTI gave 1 record of the GPU no time; CUPTI had no "
	       "room for 4 records of the GPU; 1 buffer of the GPU's records "
	       "is lost; these were missing when the program ended");
	fixture_end(session);
}

/* Nothing of these is missing for sure. */
static void what_is_not_known(void **state)
{
	(void)state;
	begin();
	session->head->gpu.unknown_captures = 7;
	session->head->gpu.unpaired = 8;
	close_run(0);
	expect("7 launches may have gone into a graph");
	expect("8 calls of CUDA's driver may be drawn beside");
	fixture_end(session);
}

/* In the totals, and in no file. */
static void what_is_in_totals_alone(void **state)
{
	(void)state;
	begin();
	done.past_heap = 7;
	close_run(0);
	expect("but in the totals: 7 calls for small blocks");
	expect_not("parts that were deleted");
	done.past_heap = 0;
	done.deleted = 8;
	close_run(0);
	expect("8 events of parts that were deleted");
	expect_not("small blocks");
	done.deleted = 0;
	done.past_max = 9;
	done.thinned = 10;
	close_run(0);
	expect("9 events came past TRACEPROF_MAX_MB");
	expect("10 calls were thinned by TRACEPROF_MAX_OVERHEAD");
	close_run(-EINPROGRESS);
	expect("10 calls were thinned by TRACEPROF_MAX_OVERHEAD");
	fixture_end(session);
}

/* What a process of its own writes after the end: the same words of what was
 * left out by then, and what may be. */
static void what_is_left_to_write(void **state)
{
	const uint64_t bound = UINT64_C(16) << 20;

	(void)state;
	begin();
	session->head->options.max_mb = 16;
	done.seen = 1000;
	done.dropped = 5;
	done.left = 1000;
	done.past_heap = 7;
	done.deleted = 8;
	done.past_max = 9;
	close_run(-EINPROGRESS);
	expect("recorded 995 events, 5 LOST; 1000 of them are left");
	expect("but in the totals: 7 calls for small blocks");
	expect("8 events of parts that were deleted");
	expect("9 events came past TRACEPROF_MAX_MB=16");
	/* A run says no more than five lines. */
	done.dropped = done.past_heap = done.deleted = done.past_max = 0;
	close_run(-EINPROGRESS);
	expect_not("may leave out");
	done.left = bound; /* in lines of more than one byte */
	close_run(-EINPROGRESS);
	expect("TRACEPROF_MAX_MB=16 may leave out some of them");
	session->head->options.max_mb = 0;
	close_run(-EINPROGRESS);
	expect_not("may leave out");
	fixture_end(session);
}

/* The file isn't whole: no totals, but what is known of losses. */
static void a_writer_that_is_not_done(void **state)
{
	(void)state;
	begin();
	done.dropped = 7;
	close_run(-ETIMEDOUT);
	expect("the writer was not done after");
	expect("`traceprof recover` finishes a.trace");
	expect("7 events found no room");
	expect_not("wrote");
	close_run(-ECANCELED);
	expect("a.trace holds 100 of 100 events");
	expect_not("none lost");
	fixture_end(session);
}

/* Lines go where stderr led when the process began, as a constructor saw it. */
static void begin_again(char *program)
{
	char *const words[] = {program, (char *)"again", NULL};

	if (dup2(STDERR_FILENO, KEPT) < 0 ||
	    dup2(memfd_create("told", 0), STDERR_FILENO) < 0)
		exit(1);
	execv("/proc/self/exe", words);
	exit(1);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_lost),
		cmocka_unit_test(events_and_calls),
		cmocka_unit_test(one_is_no_plural),
		cmocka_unit_test(records_of_a_gpu),
		cmocka_unit_test(why_launches_lack_kernels),
		cmocka_unit_test(what_is_not_known),
		cmocka_unit_test(what_is_in_totals_alone),
		cmocka_unit_test(what_is_left_to_write),
		cmocka_unit_test(a_writer_that_is_not_done),
	};

	if (argc < 2)
		begin_again(argv[0]);
	told = dup(STDERR_FILENO);
	dup2(KEPT, STDERR_FILENO);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
