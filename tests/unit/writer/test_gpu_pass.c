/* SPDX-License-Identifier: MIT */
/* test_gpu_pass.c - records of a GPU that come in any order, over passes. */
#include "tests/unit/gpu_sample.h"
#include "writer/gpu/gpu_known.h"

#define PLACES 131072u /* of calls whose work is to come */
#define STREAM_WAIT                                                            \
	2 /* CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT */

static void push_kernel(struct sample *sample, struct thread *thread,
			uint64_t correlation)
{
	struct event *slot = ring_reserve(&thread->ring, 2);
	const struct gpu_kernel kernel = {
		.grid = {4, 1, 1}, .block = {128, 1, 1}, .registers = 32};

	assert_non_null(slot);
	*slot = (struct event){
		.kind = EVENT_GPU_KERNEL,
		.flags = EVENT_TWO_SLOTS,
		.name = names_intern_string(sample->session, "work"),
		.start_ticks = sample->zero + 300,
		.end_ticks = sample->zero + 400,
		.gpu = {.correlation = correlation, .stream = 7}};
	memset(slot + 1, 0, sizeof(*slot));
	memcpy(slot + 1, &kernel, sizeof(kernel));
	ring_commit(&thread->ring, 2, 1);
}

static void a_kernel_waits_for_its_device(void **state)
{
	struct sample sample;
	struct writer_state writer_state;
	struct thread *thread = gpu_begin(&sample, &writer_state);
	const char *text;

	(void)state;
	push_call(&sample, thread, 1);
	push_kernel(&sample, thread, 1);
	pass_run(&writer_state);
	sample.session->head->gpu.device[0] = (struct gpu_device){
		.is_known = 1,
		.major = 9,
		.multiprocessors = 2,
		.warp_size = 32,
		.warps_per_multiprocessor = 64,
		.blocks_per_multiprocessor = 32,
		.threads_per_block = 1024,
		.registers_per_block = 65536,
		.registers_per_multiprocessor = 65536,
		.shared_per_block = 49152,
		.shared_per_multiprocessor = 233472,
	};
	end_window(&sample, &writer_state);
	text = sample_text(&sample);
	sample_assert_json(text);
	assert_non_null(strstr(text, "\"blocks per SM\":2,"));
	assert_non_null(strstr(text, "\"est. achieved occupancy %\":"));
	assert_all_written(text, 2);
	pass_end(&writer_state);
	sample_end(&sample);
}

/* The device is never described, the recording of the event never seen. */
static void what_waits_is_drawn_with_its_window(void **state)
{
	struct sample sample;
	struct writer_state writer_state;
	struct thread *thread = gpu_begin(&sample, &writer_state);
	const char *text;

	(void)state;
	push_call(&sample, thread, 1);
	push_kernel(&sample, thread, 1);
	push_call(&sample, thread, 2);
	/* Not long ago: its recording may still come. */
	sample_push(&sample, thread,
		    (struct event){.kind = EVENT_GPU_SYNC,
				   .extra = STREAM_WAIT,
				   .start_ticks = 210,
				   .end_ticks = 220,
				   .gpu = {.correlation = 2, .event = 5}});
	pass_run(&writer_state);
	end_window(&sample, &writer_state);
	text = sample_text(&sample);
	sample_assert_json(text);
	assert_non_null(strstr(text, "\"waits_without_recording\":1,"));
	assert_int_equal(sample_count(text, "\"name\":\"Stream Wait Event\""),
			 1 + 1);
	assert_int_equal(sample_count(text, "\"name\":\"work\""), 1 + 1);
	assert_all_written(text, 4);
	pass_end(&writer_state);
	sample_end(&sample);
}

/* Which slices are open around it is noted at the beginning of a pass. */
static void a_threads_first_call_waits_for_a_look(void **state)
{
	struct sample sample;
	struct writer_state writer_state;
	struct thread *thread = gpu_begin(&sample, &writer_state);
	struct gpu_link_thread *links;

	(void)state;
	push_call(&sample, thread, 1);
	pass_run(&writer_state);
	links = gpu_links_known(&writer_state.gpu->links, 100);
	assert_non_null(links);
	assert_false(links->is_looked);
	pass_run(&writer_state);
	assert_true(links->is_looked);
	end_window(&sample, &writer_state);
	assert_all_written(sample_text(&sample), 1);
	pass_end(&writer_state);
	sample_end(&sample);
}

/* CUPTI hands buffers over in any order. */
static void a_kernel_waits_for_its_call(void **state)
{
	struct sample sample;
	struct writer_state writer_state;
	struct thread *thread = gpu_begin(&sample, &writer_state);
	const char *text;

	(void)state;
	sample.session->head->gpu.device[0].is_known = 1;
	push_kernel(&sample, thread, 1);
	pass_run(&writer_state);
	push_call(&sample, thread, 1);
	pass_run(&writer_state);
	pass_run(&writer_state);
	assert_int_equal(writer_state.gpu->unlinked, 0);
	end_window(&sample, &writer_state);
	text = sample_text(&sample);
	assert_int_equal(sample_count(text, "\"cat\":\"ac2g\""), 2);
	assert_all_written(text, 2);
	pass_end(&writer_state);
	sample_end(&sample);
}

/* All that was launched till some seconds later has come: it is drawn without
 * one, while the window goes on. */
static void a_kernel_whose_call_never_comes(void **state)
{
	struct sample sample;
	struct writer_state writer_state;
	struct thread *thread = gpu_begin(&sample, &writer_state);

	(void)state;
	sample.session->head->gpu.device[0].is_known = 1;
	push_kernel(&sample, thread, 1);
	pass_run(&writer_state);
	assert_int_equal(writer_state.gpu->unlinked, 0);
	sample.session->head->gpu.settled_ticks =
		sample.zero + seconds(&sample, 4);
	pass_run(&writer_state);
	assert_int_equal(writer_state.gpu->unlinked, 1);
	end_window(&sample, &writer_state);
	assert_all_written(sample_text(&sample), 1);
	pass_end(&writer_state);
	sample_end(&sample);
}

/* So it is where CUPTI never says how far it is. */
static void a_kernel_that_has_waited_for_long(void **state)
{
	struct sample sample;
	struct writer_state writer_state;
	struct thread *thread = gpu_begin_ago(&sample, &writer_state, 4);

	(void)state;
	sample.session->head->gpu.device[0].is_known = 1;
	sample.session->head->options.gpu_wait_ms = 10000;
	push_kernel(&sample, thread, 1);
	pass_run(&writer_state);
	assert_int_equal(writer_state.gpu->unlinked, 0);
	sample.session->head->options.gpu_wait_ms = 0;
	pass_run(&writer_state);
	assert_int_equal(writer_state.gpu->unlinked, 1);
	end_window(&sample, &writer_state);
	assert_all_written(sample_text(&sample), 1);
	pass_end(&writer_state);
	sample_end(&sample);
}

/* It does without then, and is found by the call that comes nevertheless. */
static void a_call_finds_its_kernel_however_late(void **state)
{
	struct sample sample;
	struct writer_state writer_state;
	struct thread *thread = gpu_begin_ago(&sample, &writer_state, 4);
	const char *text;

	(void)state;
	sample.session->head->gpu.device[0].is_known = 1;
	sample.session->head->options.gpu_wait_ms = 0;
	push_kernel(&sample, thread, 1);
	push_kernel(&sample, thread, 2);
	pass_run(&writer_state);
	assert_int_equal(writer_state.gpu->unlinked, 2);
	push_call_as(&sample, thread, 1, GPU_LAUNCH_KERNEL);
	pass_run(&writer_state);
	pass_run(&writer_state);
	assert_int_equal(writer_state.gpu->unlinked, 1);
	assert_int_equal(writer_state.gpu->launches.launched, 1);
	assert_int_equal(writer_state.gpu->launches.missing, 0);
	end_window(&sample, &writer_state);
	text = sample_text(&sample);
	sample_assert_json(text);
	assert_int_equal(sample_count(text, "\"cat\":\"ac2g\""), 2);
	assert_all_written(text, 3);
	pass_end(&writer_state);
	sample_end(&sample);
}

/* Its call and `count` more, so many ids apart, lie behind it when the writer
 * comes by. */
static void expect_linked(uint64_t apart, uint64_t count)
{
	struct sample sample;
	struct writer_state writer_state;
	struct thread *thread = gpu_begin(&sample, &writer_state);

	sample.session->head->gpu.device[0].is_known = 1;
	push_kernel(&sample, thread, 1);
	for (uint64_t i = 0; i <= count; i++)
		push_call(&sample, thread, 1 + i * apart);
	end_window(&sample, &writer_state);
	assert_int_equal(writer_state.gpu->unlinked, 0);
	assert_all_written(sample_text(&sample), count + 2);
	pass_end(&writer_state);
	sample_end(&sample);
}

/* All calls take an id, recorded or not. */
static void a_kernel_finds_its_call_however_many_ids_lie_between(void **state)
{
	(void)state;
	expect_linked(PLACES, 1);
}

static void a_kernel_finds_its_call_however_many_calls_follow(void **state)
{
	(void)state;
	expect_linked(1, PLACES + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kernel_waits_for_its_device),
		cmocka_unit_test(a_kernel_waits_for_its_call),
		cmocka_unit_test(a_kernel_whose_call_never_comes),
		cmocka_unit_test(a_kernel_that_has_waited_for_long),
		cmocka_unit_test(a_call_finds_its_kernel_however_late),
		cmocka_unit_test(
			a_kernel_finds_its_call_however_many_ids_lie_between),
		cmocka_unit_test(
			a_kernel_finds_its_call_however_many_calls_follow),
		cmocka_unit_test(a_threads_first_call_waits_for_a_look),
		cmocka_unit_test(what_waits_is_drawn_with_its_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
