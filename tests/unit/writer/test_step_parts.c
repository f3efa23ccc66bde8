/* SPDX-License-Identifier: MIT */
/*
 * test_step_parts.c - a whole run that goes on in a next part: each part has
 * the steps that lie in it, if the step was known when it was closed.
 */
#include "tests/unit/sample_session.h"

#include "collector/session/gate.h"
#include "collector/steps/steps.h"
#include "writer/pass.h"
#include "writer/recovery.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <cmocka.h>

#define SITES 3u
#define EACH  1000u
/* Blocks that fill a part of 1 MiB, with a little more. */
#define FILLS 9000u
#define PASS  500u

struct parts {
	struct sample sample;
	struct writer_state writer;
	struct thread *thread;
	uint64_t now;
};

static void begin_in(struct parts *parts)
{
	struct session *session = sample_session(&parts->sample);

	session->head->options.max_mb = 1;
	session->head->options.max_parts = 8;
	steps_start(session, parts->sample.zero);
	parts->thread = sample_thread(&parts->sample, 4711);
	assert_int_equal(pass_start(&parts->writer, session, true), 0);
}

static void begin(struct parts *parts)
{
	memset(parts, 0, sizeof(*parts));
	sample_begin(&parts->sample);
	begin_in(parts);
}

static void push_region(struct parts *parts, unsigned int site)
{
	sample_push(&parts->sample, parts->thread,
		    (struct event){.kind = EVENT_OMP_REGION,
				   .start_ticks = parts->now,
				   .end_ticks = parts->now + EACH / 2,
				   .omp = {.region = parts->now + 1,
					   .code = 0x1000 * (site + 1)}});
	parts->now += EACH;
}

static void turns(struct parts *parts, unsigned int count)
{
	for (unsigned int i = 0; i < count * SITES; i++)
		push_region(parts, i % SITES);
	pass_run(&parts->writer);
}

/* So much else that the part is full. */
static void fill(struct parts *parts)
{
	for (unsigned int i = 0; i < FILLS; i++) {
		sample_push(&parts->sample, parts->thread,
			    (struct event){.kind = EVENT_HEAP_ALLOC,
					   .start_ticks = parts->now,
					   .end_ticks = parts->now,
					   .heap = {.address = 4096 * i,
						    .size_bytes = 1 << 20}});
		parts->now += 1;
		if (i % PASS == 0)
			pass_run(&parts->writer);
	}
	pass_run(&parts->writer);
}

/* How often a step is in that part's text. */
static int count_step(const char *text, unsigned int number)
{
	char name[32];

	snprintf(name, sizeof(name), "\"ProfilerStep#%u\"", number);
	return sample_count(text, name);
}

/* The first steps are in no file; then so many in the first, the others in
 * those that follow. */
static void end(struct parts *parts, unsigned int late, unsigned int first,
		unsigned int all)
{
	char paths[16][512], *text[16];
	int files;

	assert_int_equal(
		pass_finish(&parts->writer, parts->sample.zero + parts->now),
		0);
	files = sample_files(&parts->sample, paths);
	assert_true(files >= 2);
	for (int i = 0; i < files; i++)
		text[i] = strdup(sample_read(&parts->sample, paths[i]));
	for (unsigned int at = 0; at <= all; at++) {
		int in_first = 0, in_others = 0;

		for (int i = 0; i < files; i++) {
			if (strstr(paths[i], ".part"))
				in_others += count_step(text[i], at);
			else
				in_first += count_step(text[i], at);
		}
		assert_int_equal(in_first, at >= late && at < first);
		assert_int_equal(in_others,
				 at >= late && at >= first && at < all);
	}
	assert_int_equal(parts->sample.session->head->windows.steps, all);
	for (int i = 0; i < files; i++) {
		assert_true(strstr(paths[i], ".part2.") == NULL || !late ||
			    strstr(text[i], "in parts that were closed"));
		free(text[i]);
	}
	pass_end(&parts->writer);
	gate_set(GATE_UNDECIDED);
	steps_forget();
	sample_end(&parts->sample);
}

static void a_step_that_is_known_by_then(void **state)
{
	struct parts parts;

	(void)state;
	begin(&parts);
	turns(&parts, 30);
	fill(&parts);
	turns(&parts, 10);
	/* The last one runs on into the next part. */
	end(&parts, 0, 29, 40);
}

static void a_step_that_is_known_later(void **state)
{
	struct parts parts;

	(void)state;
	begin(&parts);
	turns(&parts, 2);
	fill(&parts);
	turns(&parts, 38);
	end(&parts, 1, 1, 40);
}

/* The first part ends within a turn, so that another site of the loop is the
 * marker: what follows its last hit is no step. */
static void a_part_that_ends_within_a_turn(void **state)
{
	struct parts parts;

	(void)state;
	begin(&parts);
	turns(&parts, 30);
	push_region(&parts, 0);
	push_region(&parts, 1);
	fill(&parts);
	push_region(&parts, 2);
	turns(&parts, 9);
	fill(&parts);
	end(&parts, 0, 30, 40);
}

/* --- killed --------------------------------------------------------------- */

/* A process that does so is killed, and what it left recovered: each of so many
 * steps is in one file. */
static void killed(void (*live)(struct parts *), unsigned int all)
{
	char *session = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct recovery_result result;
	char paths[16][512];
	struct parts parts;
	int files, status;
	pid_t pid;

	assert_true(session != MAP_FAILED);
	memset(&parts, 0, sizeof(parts));
	sample_begin(&parts.sample);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		begin_in(&parts);
		strcpy(session, parts.sample.session->path);
		live(&parts);
		kill(getpid(), SIGKILL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
	assert_int_equal(recovery_run(session, &result), 0);
	files = sample_files(&parts.sample, paths);
	assert_true(files >= 2);
	for (unsigned int at = 0; at <= all; at++) {
		int found = 0;

		for (int i = 0; i < files; i++)
			found += count_step(
				sample_read(&parts.sample, paths[i]), at);
		assert_int_equal(found, at < all);
	}
	free(parts.sample.text);
	for (int i = 0; i < files; i++)
		unlink(paths[i]);
	rmdir(parts.sample.folder);
	munmap(session, 4096);
}

/* It is in no part: nothing told that it was over. */
static void live_with_a_last_step(struct parts *parts)
{
	turns(parts, 40);
	fill(parts);
}

static void killed_behind_its_last_step(void **state)
{
	(void)state;
	killed(live_with_a_last_step, 40);
}

/* As above: the marker is what the first part's end made it. */
static void live_within_a_turn(struct parts *parts)
{
	turns(parts, 30);
	push_region(parts, 0);
	push_region(parts, 1);
	fill(parts);
	push_region(parts, 2);
	turns(parts, 9);
}

static void killed_after_a_part_that_ended_within_a_turn(void **state)
{
	(void)state;
	killed(live_within_a_turn, 40);
}

/* Here what follows the marker told it. */
static void live_with_a_last_part(struct parts *parts)
{
	live_within_a_turn(parts);
	fill(parts);
}

static void killed_behind_a_step_that_a_part_has(void **state)
{
	(void)state;
	killed(live_with_a_last_part, 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_step_that_is_known_by_then),
		cmocka_unit_test(a_step_that_is_known_later),
		cmocka_unit_test(a_part_that_ends_within_a_turn),
		cmocka_unit_test(killed_behind_its_last_step),
		cmocka_unit_test(killed_after_a_part_that_ended_within_a_turn),
		cmocka_unit_test(killed_behind_a_step_that_a_part_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
