/* SPDX-License-Identifier: MIT */
/*
 * test_step_gpu_last.c - a short run of a GPU is over before the writer has
 * come by a second time: its step is found all the same.
 */
#include "tests/unit/gpu_sample.h"

#include "collector/session/gate.h"
#include "collector/steps/steps.h"

#define TURNS 50u
#define CALLS 3u
#define EACH  1000u
#define CBID  211u /* of the first of them */
#define TID   100u /* of the thread that launches */

static void push_launch(struct sample *sample, struct thread *thread,
			uint32_t number)
{
	static const char *const names[CALLS] = {
		"cudaLaunchKernel", "cudaGraphLaunch", "cudaLaunchKernelExC"};
	const uint64_t start = (uint64_t)number * EACH;

	sample_push(
		sample, thread,
		(struct event){.kind = EVENT_GPU_API,
			       .name = names_intern_string(
				       sample->session, names[number % CALLS]),
			       .extra = TID,
			       .start_ticks = start,
			       .end_ticks = start + EACH / 2,
			       .api = {.correlation = number + 1,
				       .cbid = CBID + number % CALLS,
				       .is_launch = GPU_LAUNCH_KERNEL}});
}

/* No pass has seen before that anything of the GPU is settled. */
static void a_window_that_ends_before_the_writer_came_by(void **state)
{
	struct sample sample;
	struct writer_state writer;
	struct session *session;
	struct thread *thread;
	const uint64_t end = TURNS * CALLS * EACH;
	char name[64];

	(void)state;
	sample_begin(&sample);
	session = sample_session(&sample);
	session->head->gpu.source = GPU_SOURCE_CUPTI;
	session->head->gpu.is_live = 1;
	steps_start(session, sample.zero);
	sample_thread(&sample, TID);
	thread = sample_thread(&sample, 7);
	thread->ring.never_waits = 1;
	assert_int_equal(pass_start(&writer, session, true), 0);
	for (uint32_t i = 0; i < TURNS * CALLS; i++)
		push_launch(&sample, thread, i);
	steps_end(session, NULL, sample.zero + end);
	session->head->gpu.settled_ticks = UINT64_MAX;
	pass_run(&writer);
	assert_int_equal(writer.window, 1);
	assert_int_equal(pass_finish(&writer, sample.zero + end), 0);
	snprintf(name, sizeof(name), "\"ProfilerStep#%u\"", TURNS - 1);
	assert_int_equal(sample_count(sample_text(&sample), name), 1);
	pass_end(&writer);
	gate_set(GATE_UNDECIDED);
	steps_forget();
	sample_end(&sample);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_window_that_ends_before_the_writer_came_by),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
