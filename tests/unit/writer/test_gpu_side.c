/* SPDX-License-Identifier: MIT */
/* test_gpu_side.c - lines of what lies beside a GPU's work. */
#include "tests/unit/gpu_sample.h"
#include "writer/gpu/gpu_known.h"

static struct sample sample;
static struct writer_state writer_state;
static struct thread *gpu;

static void push(struct event event)
{
	sample_push(&sample, gpu, event);
}

static const char *text_of(void)
{
	const char *text;

	pass_run(&writer_state);
	pass_run(&writer_state);
	end_window(&sample, &writer_state);
	text = sample_text(&sample);
	sample_assert_json(text);
	return text;
}

static void end(void)
{
	pass_end(&writer_state);
	sample_end(&sample);
}

static void begin(void)
{
	gpu = gpu_begin(&sample, &writer_state);
}

static struct event jit(const char *name, uint32_t tid, uint64_t correlation)
{
	return (struct event){.kind = EVENT_GPU_JIT,
			      .name = names_intern_string(sample.session, name),
			      .extra = tid,
			      .start_ticks = 110 + tid,
			      .end_ticks = 120 + tid,
			      .jit.correlation = correlation};
}

/* Of the thread that it names, else of the call's, else of the process. */
static void what_is_beside_a_call_has_its_thread(void **state)
{
	const char *text;
	char process[128];

	(void)state;
	begin();
	sample_scope(&sample, sample_thread(&sample, 100), "step", 50, 900);
	push_call(&sample, gpu, 1);
	push(jit("JIT", 300, 1));
	push(jit("JIT cache load", 0, 1));
	push(jit("JIT compile", 0, 0));
	push((struct event){.kind = EVENT_GPU_HOST,
			    .extra = 301,
			    .start_ticks = 150,
			    .end_ticks = 160,
			    .gpu.correlation = 1});
	text = text_of();
	assert_non_null(strstr(text, "\"tid\":200000300,"));
	assert_non_null(
		strstr(text, "{\"name\":\"thread 300 CUPTI overhead\"}"));
	assert_non_null(
		strstr(text, "{\"name\":\"thread 100 CUPTI overhead\"}"));
	snprintf(process, sizeof(process),
		 "{\"name\":\"thread %d CUPTI overhead\"}", (int)getpid());
	assert_non_null(strstr(text, process));
	/* It belongs to the range that the call lies in. */
	assert_non_null(strstr(text, "{\"External id\":1,\"device\":0,"
				     "\"context\":0,\"waiting stream\""));
	assert_non_null(strstr(text, ",\"tid\":301,"));
	assert_non_null(strstr(text, "{\"name\":\"thread 301\"}"));
	end();
}

/* Between its two ends, with its reason. */
static void managed_memory_says_why(void **state)
{
	static const struct {
		uint32_t kind, why;
		const char *line;
	} rows[] = {
		{1, 2,
		 "\"bytes\":3,\"from\":1,\"to\":-1,\"why\":\"coherence\"}"},
		{2, 4,
		 "\"bytes\":3,\"from\":1,\"to\":-1,\"why\":\"eviction\"}"},
		{8, 3,
		 "\"bytes\":3,\"from\":1,\"to\":-1,\"why\":\"prefetch\"}"},
		{3, 2, "\"code\":3,\"by\":1,\"why\":\"write\"}"},
		{4, 1, "\"page faults\":3,\"by\":1,\"why\":\"read\"}"},
		{5, 1, "\"Addr\":5,\"by\":1}"},
		{7, 2, "\"from\":1,\"to\":-1,\"why\":\"thrashing\"}"},
		{7, 9, "\"from\":1,\"to\":-1,\"why\":\"unknown\"}"},
	};
	char line[160];
	const char *text;

	(void)state;
	begin();
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		push((struct event){.kind = EVENT_GPU_UNIFIED,
				    .extra = rows[i].kind,
				    .start_ticks = 150 + i,
				    .end_ticks = 150 + i,
				    .unified = {.value = 3,
						.address = i,
						.source = 1,
						.destination = UINT32_MAX,
						.why = rows[i].why}});
	text = text_of();
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(line, sizeof(line), "\"Addr\":%u,", i);
		assert_non_null(strstr(text, line));
		assert_non_null(strstr(text, rows[i].line));
	}
	end();
}

static void what_holds_a_clock_down_is_told_in_bits(void **state)
{
	const char *text;

	(void)state;
	begin();
	push((struct event){.kind = EVENT_GPU_SAMPLE,
			    .start_ticks = 160,
			    .end_ticks = 170,
			    .sample = {.device = 1,
				       .known = GPU_KNOWS_LOAD,
				       .utilization = 3,
				       .reasons = 5}});
	text = text_of();
	assert_non_null(strstr(text, "{\"device\":1,\"reasons\":5}"));
	assert_non_null(strstr(text, "{\"utilization %\":3}"));
	end();
}

/* A damaged session. */
static void a_device_past_all_has_no_line(void **state)
{
	struct event *slot;
	const char *text;

	(void)state;
	begin();
	slot = ring_reserve(&gpu->ring, 2);
	memset(slot, 0, 2 * sizeof(*slot));
	*slot = (struct event){.kind = EVENT_GPU_POOL,
			       .flags = EVENT_TWO_SLOTS,
			       .start_ticks = sample.zero + 160,
			       .end_ticks = sample.zero + 160,
			       .memory.device = GPU_DEVICES_MAX};
	ring_commit(&gpu->ring, 2, 1);
	push((struct event){.kind = EVENT_GPU_SAMPLE,
			    .start_ticks = 160,
			    .end_ticks = 170,
			    .sample = {.device = GPU_DEVICES_MAX,
				       .known = GPU_KNOWS_LOAD,
				       .reasons = 4}});
	text = text_of();
	assert_null(strstr(text, "memory pool changed"));
	assert_null(strstr(text, "memory pool 0x"));
	assert_null(strstr(text, "GPU state"));
	assert_null(strstr(text, "clock throttling"));
	end();
}

static void pin(uint64_t address, uint64_t bytes, bool is_free, uint64_t at)
{
	push((struct event){.kind = EVENT_GPU_MEMORY,
			    .extra = 2,
			    .start_ticks = at,
			    .end_ticks = at,
			    .memory = {.address = address,
				       .size_bytes = bytes,
				       .device = 302,
				       .is_free = is_free}});
}

/* Told by the runtime's call, the driver's and by a record; a free without a
 * size has the block's, and of one from before it isn't known. */
static void pinned_memory_counts_once(void **state)
{
	const char *text;

	(void)state;
	begin();
	pin(8, 64, false, 180);
	pin(8, 64, false, 181);
	pin(16, 100, false, 182);
	pin(8, 0, true, 183);
	pin(8, 0, true, 184);
	pin(24, 0, true, 185);
	/* One from before the recording, of a known size. */
	pin(32, 1000, true, 186);
	pin(40, 7, false, 187);
	text = text_of();
	assert_int_equal(sample_count(text, "[memory] pinned\",\"pid\""), 5);
	assert_non_null(strstr(text, "\"Total Allocated\":164,\"Bytes\":100,"));
	assert_non_null(strstr(text, "\"Total Allocated\":100,\"Bytes\":-64,"));
	assert_non_null(strstr(text, "\"Total Allocated\":0,\"Bytes\":-1000,"));
	assert_non_null(strstr(text, "\"Total Allocated\":7,\"Bytes\":7,"));
	assert_non_null(strstr(text, "{\"name\":\"thread 302\"}"));
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_beside_a_call_has_its_thread),
		cmocka_unit_test(managed_memory_says_why),
		cmocka_unit_test(what_holds_a_clock_down_is_told_in_bits),
		cmocka_unit_test(a_device_past_all_has_no_line),
		cmocka_unit_test(pinned_memory_counts_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
