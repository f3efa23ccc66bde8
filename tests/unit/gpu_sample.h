/* SPDX-License-Identifier: MIT */
/*
 * gpu_sample.h - a session made by hand whose GPU is recorded: calls, a window,
 * and passes of the writer over them.
 */
#ifndef UNIT_GPU_SAMPLE_H
#define UNIT_GPU_SAMPLE_H

#include "tests/unit/sample_session.h"

#include "collector/session/gpu_state.h"
#include "writer/pass.h"
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static inline uint64_t seconds(const struct sample *sample, unsigned int count)
{
	return count * clock_ticks_per_second(&sample->session->head->clock);
}

/* The sample's zero lies so many seconds back. */
static inline struct thread *gpu_begin_ago(struct sample *sample,
					   struct writer_state *writer_state,
					   unsigned int ago)
{
	struct thread *thread;

	sample_begin(sample);
	sample_session(sample);
	sample->zero = clock_ticks() - seconds(sample, ago);
	sample->session->head->gpu.source = GPU_SOURCE_CUPTI;
	sample->session->head->gpu.is_live = 1;
	sample_window(sample, 0);
	thread = sample_thread(sample, 7);
	thread->ring.never_waits = 1;
	assert_int_equal(pass_start(writer_state, sample->session, true), 0);
	return thread;
}

static inline struct thread *gpu_begin(struct sample *sample,
				       struct writer_state *writer_state)
{
	return gpu_begin_ago(sample, writer_state, 0);
}

static inline void push_call_as(struct sample *sample, struct thread *thread,
				uint64_t correlation,
				enum gpu_launch_kind launch)
{
	sample_push(sample, thread,
		    (struct event){.kind = EVENT_GPU_API,
				   .name = names_intern_string(
					   sample->session, "cudaLaunchKernel"),
				   .extra = 100,
				   .start_ticks = 100,
				   .end_ticks = 200,
				   .api = {.correlation = correlation,
					   .is_launch = launch}});
}

static inline void push_call(struct sample *sample, struct thread *thread,
			     uint64_t correlation)
{
	push_call_as(sample, thread, correlation, GPU_LAUNCH_NONE);
}

static inline void assert_all_written(const char *text, unsigned long count)
{
	assert_int_equal(sample_number(text, "seen"), count);
	assert_int_equal(sample_number(text, "written"), count);
	assert_int_equal(sample_number(text, "cut"), 0);
	assert_int_equal(sample_number(text, "in_file"), count);
}

/* The window ends, and all of it was handed over. */
static inline void end_window(struct sample *sample,
			      struct writer_state *writer_state)
{
	sample_window_end(sample, 5000);
	sample->session->head->gpu.settled_ticks = UINT64_MAX;
	pass_run(writer_state);
}

#endif
