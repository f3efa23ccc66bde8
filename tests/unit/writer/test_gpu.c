/* SPDX-License-Identifier: MIT */
/*
 * test_gpu.c - the writer's parts for GPUs, each by itself: occupancy, lanes,
 * launches, links from work to slices, names.
 */
#include "tests/unit/session_fixture.h"

#include "collector/session/names.h"
#include "writer/state/gpu_label.h"
#include "writer/gpu/gpu_launch.h"
#include "writer/gpu/gpu_links.h"
#include "writer/gpu/gpu_occupancy.h"
#include "writer/gpu/gpu_rows.h"
#include <stdio.h>
#include <string.h>

/* An H200, as CUPTI describes it. */
static const struct gpu_device device = {
	.is_known = 1,
	.major = 9,
	.multiprocessors = 132,
	.warp_size = 32,
	.warps_per_multiprocessor = 64,
	.blocks_per_multiprocessor = 32,
	.threads_per_block = 1024,
	.registers_per_block = 65536,
	.registers_per_multiprocessor = 65536,
	.shared_per_block = 49152,
	.shared_per_multiprocessor = 233472,
};

static void occupancy_is_that_of_torch(void **state)
{
	const struct gpu_kernel kernel = {
		.grid = {8, 8, 1}, .block = {256, 1, 1}, .registers = 128};
	struct gpu_occupancy made;

	(void)state;
	assert_true(gpu_occupancy_of(&device, &kernel, &made));
	assert_int_equal((int)(made.blocks_per_sm * 1e6), 484848);
	assert_int_equal((int)(made.warps_per_sm * 1e6), 3878787);
	assert_int_equal(made.by_registers, 2);
	assert_int_equal(made.by_warps, 8);
	assert_int_equal(made.active, 2);
	assert_int_equal(made.percent, 6);
}

static void occupancy_knows_its_limits(void **state)
{
	struct gpu_kernel kernel = {
		.grid = {4096, 1, 1}, .block = {1024, 1, 1}, .registers = 32};
	const struct gpu_device unknown = {0};
	struct gpu_occupancy made;

	(void)state;
	assert_false(gpu_occupancy_of(&unknown, &kernel, &made));
	assert_true(gpu_occupancy_of(&device, &kernel, &made));
	assert_int_equal(made.active, 2);
	assert_int_equal(made.percent, 100);
	/* 100 KB and what the system keeps: two blocks. */
	kernel.dynamic_bytes = 100 << 10;
	kernel.block[0] = 32;
	assert_true(gpu_occupancy_of(&device, &kernel, &made));
	assert_int_equal(made.by_shared, 2);
	assert_int_equal(made.active, 2);
	/* More registers than a block may have. */
	kernel.block[0] = 1024;
	kernel.registers = 255;
	assert_true(gpu_occupancy_of(&device, &kernel, &made));
	assert_int_equal(made.active, 0);
	assert_int_equal(made.percent, 0);
	/* A damaged record. */
	memset(&kernel, 0xff, sizeof(kernel));
	gpu_occupancy_of(&device, &kernel, &made);
	memset(&kernel, 0, sizeof(kernel));
	assert_true(gpu_occupancy_of(&device, &kernel, &made));
	assert_int_equal(made.percent, 0);
}

static uint64_t lane_of(struct gpu_rows *rows, uint64_t start, uint64_t end)
{
	return gpu_rows_place(rows, 0, 7, GPU_ROW_SIDE,
			      &(struct lane_span){start, end})
		->tid;
}

static void what_overlaps_lies_apart(void **state)
{
	struct gpu_rows rows = {0};

	(void)state;
	assert_int_equal(lane_of(&rows, 100, 200), 7);
	assert_int_equal(lane_of(&rows, 300, 400), 7);
	/* Touching, between, and before: any order. */
	assert_int_equal(lane_of(&rows, 200, 300), 7);
	assert_int_equal(lane_of(&rows, 0, 100), 7);
	assert_int_equal(lane_of(&rows, 150, 250), 7 + GPU_ROW_SIDE);
	assert_int_equal(lane_of(&rows, 120, 130), 7 + GPU_ROW_SIDE);
	assert_int_equal(lane_of(&rows, 199, 400), 7 + 2 * GPU_ROW_SIDE);
	assert_int_equal(lane_of(&rows, 400, 500), 7);
	/* Another device's stream 7. */
	assert_int_equal(gpu_rows_place(&rows, 1, 7, GPU_ROW_SIDE,
					&(struct lane_span){100, 200})
				 ->tid,
			 7);
	gpu_rows_free(&rows);
}

static uint64_t lane_in(struct gpu_rows *rows, uint32_t context, uint64_t start)
{
	return gpu_rows_place_in(rows, 0, 7, context,
				 &(struct lane_span){start, start + 50})
		->tid;
}

/* Both have a stream 7, and each its lanes. */
static void contexts_lie_apart(void **state)
{
	struct gpu_rows rows = {0};
	bool is_second;

	(void)state;
	assert_int_equal(lane_in(&rows, 1, 100), 7);
	assert_int_equal(lane_in(&rows, 2, 300), 7 + GPU_ROW_SIDE);
	assert_int_equal(lane_in(&rows, 1, 500), 7);
	assert_int_equal(lane_in(&rows, 1, 520), 7 + 2 * GPU_ROW_SIDE);
	assert_int_equal(lane_in(&rows, 2, 900), 7 + GPU_ROW_SIDE);
	assert_int_equal(gpu_rows_of(&rows, 0, 7, 2)->tid, 7 + GPU_ROW_SIDE);
	assert_int_equal(
		gpu_rows_before(&rows, gpu_rows_of(&rows, 0, 7, 2), &is_second),
		0);
	assert_true(is_second);
	assert_int_equal(
		gpu_rows_before(&rows,
				gpu_rows_find(&rows, 0, 7 + 2 * GPU_ROW_SIDE),
				&is_second),
		1);
	/* A hundred that come and go: no lane is taken twice at once. */
	for (uint32_t context = 3; context < 103; context++)
		assert_non_null(gpu_rows_place_in(
			&rows, 0, 7, context,
			&(struct lane_span){context * 1000,
					    context * 1000 + 50}));
	gpu_rows_free(&rows);
}

/* Perfetto makes doubles of ts: 1 ns of either end may be gone. */
static void what_touches_lies_a_gap_apart(void **state)
{
	struct lane_span first = {100, 200}, next = {200, 300}, last = {50, 99};
	struct lane_span tiny = {300, 301};
	struct gpu_rows rows = {0};

	(void)state;
	gpu_rows_place(&rows, 0, 7, GPU_ROW_SIDE, &first);
	gpu_rows_place(&rows, 0, 7, GPU_ROW_SIDE, &next);
	gpu_rows_place(&rows, 0, 7, GPU_ROW_SIDE, &last);
	gpu_rows_place(&rows, 0, 7, GPU_ROW_SIDE, &tiny);
	assert_int_equal(first.start_ns, 100);
	assert_int_equal(next.start_ns, 202);
	assert_int_equal(next.end_ns, 300);
	assert_int_equal(last.end_ns, 98);
	assert_true(tiny.start_ns <= tiny.end_ns);
	gpu_rows_free(&rows);
}

static void a_long_lane_stays_in_order(void **state)
{
	struct gpu_rows rows = {0};

	(void)state;
	for (uint64_t i = 0; i < 20000; i++)
		assert_int_equal(lane_of(&rows, i * 10, i * 10 + 10), 7);
	assert_int_equal(lane_of(&rows, 199995, 200005), 7 + GPU_ROW_SIDE);
	gpu_rows_free(&rows);
}

/* So many may overlap. */
static void more_than_there_are_lanes_is_counted(void **state)
{
	struct gpu_rows rows = {0};

	(void)state;
	for (uint64_t i = 0; i < 64; i++)
		assert_int_equal(lane_of(&rows, 100 + i, 200),
				 7 + i * GPU_ROW_SIDE);
	assert_int_equal(rows.crossing, 0);
	lane_of(&rows, 150, 200);
	assert_int_equal(rows.crossing, 1);
	gpu_rows_free(&rows);
}

static uint64_t nest_of(struct gpu_rows *rows, uint64_t start, uint64_t end)
{
	return gpu_rows_nest(rows, 0, 7, GPU_ROW_NEST,
			     (struct lane_span){start, end})
		->tid;
}

static void annotations_nest_or_lie_apart(void **state)
{
	struct gpu_rows rows = {0};

	(void)state;
	assert_int_equal(nest_of(&rows, 100, 200), 7);
	assert_int_equal(nest_of(&rows, 100, 150), 7);
	assert_int_equal(nest_of(&rows, 50, 300), 7);
	assert_int_equal(nest_of(&rows, 300, 400), 7);
	assert_int_equal(nest_of(&rows, 150, 250), 7 + GPU_ROW_NEST);
	assert_int_equal(nest_of(&rows, 160, 170), 7);
	nest_of(&rows, 170, 260);
	assert_int_equal(rows.crossing, 1);
	gpu_rows_free(&rows);
}

static struct event call_at(uint64_t correlation, uint64_t ticks)
{
	return (struct event){.kind = EVENT_GPU_API,
			      .extra = 42,
			      .start_ticks = ticks,
			      .end_ticks = ticks + 1,
			      .api = {.correlation = correlation}};
}

static void launches_are_found(void **state)
{
	struct gpu_launches launches;
	struct event call = call_at(5, 1000);
	struct gpu_launch *launch;

	(void)state;
	assert_int_equal(gpu_launches_start(&launches), 0);
	assert_null(gpu_launches_find(&launches, 5));
	assert_null(gpu_launches_find(&launches, 0));
	launch = gpu_launches_add(&launches, &call);
	launch->external_id = 77;
	/* Seen ahead, then drawn. */
	assert_ptr_equal(gpu_launches_add(&launches, &call), launch);
	assert_int_equal(launch->external_id, 77);
	assert_ptr_equal(gpu_launches_find(&launches, 5), launch);
	/* The same number, one round later. */
	call = call_at(5 + (UINT64_C(1) << 32), 2000);
	gpu_launches_add(&launches, &call);
	assert_ptr_equal(gpu_launches_find(&launches, 5), launch);
	assert_int_equal(
		gpu_launches_find(&launches, call.api.correlation)->external_id,
		0);
	gpu_launches_end(&launches);
}

static struct gpu_launch *launch_of(struct gpu_launches *launches,
				    uint64_t correlation)
{
	const struct event call = call_at(correlation, correlation);

	return gpu_launches_add(launches, &call);
}

/* A file holds more calls than there are places. */
static void each_launch_counts_however_many_follow(void **state)
{
	const uint64_t count = 300000;
	struct gpu_launches launches;

	(void)state;
	assert_int_equal(gpu_launches_start(&launches), 0);
	for (uint64_t i = 1; i <= count; i++) {
		struct gpu_launch *launch = launch_of(&launches, i);

		gpu_launches_await(&launches, launch, 1);
		/* The second's work never comes, the third's too late. */
		if (i != 2 && i != 3)
			gpu_launches_arrive(&launches, launch, 1, 1);
	}
	assert_int_equal(launches.launched, count);
	assert_int_equal(launches.missing, 2);
	assert_null(gpu_launches_find(&launches, 3));
	gpu_launches_stray(&launches, 1);
	assert_int_equal(launches.missing, 1);
	gpu_launches_end(&launches);
}

static void a_graph_of_unknown_size_is_counted(void **state)
{
	struct gpu_launches launches;
	struct gpu_launch *launch;

	(void)state;
	assert_int_equal(gpu_launches_start(&launches), 0);
	for (uint64_t i = 1; i <= 3; i++) {
		launch = launch_of(&launches, i);
		gpu_launches_await(&launches, launch, 1);
		for (int kernel = 0; kernel < 5; kernel++)
			gpu_launches_arrive(&launches, launch, i < 3 ? 0 : 5,
					    1);
	}
	assert_int_equal(launches.unsized, 2);
	assert_int_equal(launches.missing, 0);
	gpu_launches_end(&launches);
}

static unsigned int handed_out;
static struct gpu_link last_link;
#define SPANS 4u
static struct gpu_projection last_span[SPANS];
static unsigned int last_streams;

static void take(const struct gpu_link *link, void *arg)
{
	(void)arg;
	handed_out++;
	last_link = *link;
	last_streams = 0;
	for (const struct gpu_projection *one = link->first; one;
	     one = one->next)
		last_span[last_streams++ % SPANS] = *one;
}

static struct gpu_link slice(uint64_t start, uint64_t end, uint64_t id,
			     const char *text)
{
	return (struct gpu_link){
		.start_ticks = start,
		.end_ticks = end,
		.id = id,
		.text = text,
		.text_len = text ? (uint32_t)strlen(text) : 0,
	};
}

static bool closed(struct gpu_links *links, struct gpu_link_thread *thread,
		   uint64_t start, uint64_t end, uint64_t id, const char *text)
{
	const struct gpu_link made = slice(start, end, id, text);

	return gpu_links_close(links, thread, &made);
}

static void a_call_belongs_to_the_innermost_slice(void **state)
{
	struct gpu_links links = {0};
	struct gpu_link_thread *thread = gpu_links_thread(&links, 42);
	struct thread live = {0};
	uint64_t next_id = 100;

	(void)state;
	/* inner [20, 30], outer [10, 50], both over; around them [5, ...) */
	closed(&links, thread, 20, 30, 1, NULL);
	closed(&links, thread, 10, 50, 2, NULL);
	live.depth = 1;
	live.open[0] =
		(struct open_slice){.start_ticks = 5, .kind = EVENT_SCOPE};
	assert_int_equal(gpu_links_find(thread, &live, 25, &next_id), 1);
	assert_int_equal(gpu_links_find(thread, &live, 15, &next_id), 2);
	assert_int_equal(gpu_links_find(thread, &live, 40, &next_id), 2);
	assert_int_equal(next_id, 100);
	/* The open one gets an id, which it keeps. */
	assert_int_equal(gpu_links_find(thread, &live, 60, &next_id), 101);
	assert_int_equal(gpu_links_find(thread, &live, 70, &next_id), 101);
	assert_int_equal(gpu_links_reserved(thread, 5), 101);
	assert_int_equal(gpu_links_reserved(thread, 10), 0);
	assert_int_equal(gpu_links_find(thread, &live, 3, &next_id), 0);
	assert_int_equal(gpu_links_find(thread, NULL, 60, &next_id), 0);
	assert_null(gpu_links_known(&links, 43));
	gpu_links_free(&links);
}

static void open_is(struct thread *live, uint32_t at, uint64_t start)
{
	live->open[at] =
		(struct open_slice){.start_ticks = start, .kind = EVENT_SCOPE};
}

static void annotations_span_their_work(void **state)
{
	const struct lane_span first = {1000, 1100}, second = {1300, 1400};
	struct gpu_links links = {0};
	struct gpu_link_thread *thread = gpu_links_thread(&links, 42);
	struct thread live = {0};

	(void)state;
	handed_out = 0;
	/* Work comes while the annotation is open, and after its end. */
	live.depth = 1;
	open_is(&live, 0, 10);
	gpu_links_work(&links, thread, &live, 20, 0, 7, second);
	closed(&links, thread, 10, 50, 9, "step");
	live.depth = 0;
	gpu_links_work(&links, thread, &live, 30, 0, 7, first);
	gpu_links_work(&links, thread, &live, 31, 1, 8, first);
	/* Launched later: not its own. */
	gpu_links_work(&links, thread, &live, 60, 0, 7,
		       (struct lane_span){1, 9999});
	gpu_links_flush(&links, 50, take, NULL);
	assert_int_equal(handed_out, 0);
	gpu_links_flush(&links, 51, take, NULL);
	assert_int_equal(handed_out, 1);
	assert_int_equal(last_link.id, 9);
	assert_int_equal(last_streams, 2);
	assert_int_equal(last_span[0].span.start_ns, 1000);
	assert_int_equal(last_span[0].span.end_ns, 1400);
	assert_int_equal(last_span[1].device, 1);
	gpu_links_flush(&links, UINT64_MAX, take, NULL);
	assert_int_equal(handed_out, 1);
	assert_int_equal(links.cut, 0);
	/* Too late: it is on the lane already, shorter than it was. */
	gpu_links_work(&links, thread, &live, 32, 0, 7, second);
	gpu_links_work(&links, thread, &live, 33, 0, 7, second);
	assert_int_equal(links.cut, 1);
	gpu_links_free(&links);
}

/* Slices of 10 each: an outer one of ten times that closes after its tenth. */
static void close_many(struct gpu_links *links, struct gpu_link_thread *thread,
		       uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		closed(links, thread, i * 10 + 1, i * 10 + 9, i, "inner");
		if (i % 10 == 9)
			closed(links, thread, i * 10 - 90, i * 10 + 10,
			       1000000 + i, "outer");
	}
}

static void work_finds_its_annotations_however_late(void **state)
{
	const struct lane_span span = {1000, 1100};
	const uint64_t count = 20000;
	struct gpu_links links = {0};
	struct gpu_link_thread *thread = gpu_links_thread(&links, 42);
	uint64_t next_id = 100;

	(void)state;
	handed_out = 0;
	close_many(&links, thread, count);
	for (uint64_t i = 0; i < count; i++) {
		assert_int_equal(
			gpu_links_find(thread, NULL, i * 10 + 5, &next_id), i);
		gpu_links_work(&links, thread, NULL, i * 10 + 5, 0, 7, span);
	}
	/* Between two inner ones. */
	assert_int_equal(gpu_links_find(thread, NULL, 10, &next_id), 1000009);
	assert_int_equal(gpu_links_find(thread, NULL, count * 10 + 5, &next_id),
			 0);
	gpu_links_flush(&links, count * 10 / 2 + 1, take, NULL);
	assert_int_equal(handed_out, 11000);
	gpu_links_flush(&links, UINT64_MAX, take, NULL);
	assert_int_equal(handed_out, 22000);
	assert_int_equal(links.cut, 0);
	/* What is over is not kept for good. */
	assert_in_range(thread->count, 1000, 2100);
	gpu_links_free(&links);
}

static void an_annotation_has_as_many_streams_as_it_uses(void **state)
{
	const struct lane_span span = {1000, 1100};
	struct gpu_links links = {0};
	struct gpu_link_thread *thread = gpu_links_thread(&links, 42);

	(void)state;
	handed_out = 0;
	closed(&links, thread, 10, 50, 9, "step");
	for (uint32_t i = 0; i < 40; i++)
		gpu_links_work(&links, thread, NULL, 20, 0, i, span);
	gpu_links_flush(&links, UINT64_MAX, take, NULL);
	assert_int_equal(handed_out, 1);
	assert_int_equal(last_streams, 40);
	gpu_links_free(&links);
}

static void more_than_there_is_room_for_is_counted(void **state)
{
	const struct lane_span span = {1000, 1100};
	struct gpu_links links = {0};
	struct gpu_link_thread *thread = gpu_links_thread(&links, 42);
	uint64_t next_id = 100, i = 0;

	(void)state;
	handed_out = 0;
	while (!closed(&links, thread, i * 10 + 1, i * 10 + 9, i, "inner"))
		i++;
	gpu_links_work(&links, thread, NULL, 5, 0, 7, span);
	gpu_links_shed(&links, thread, take, NULL);
	assert_int_equal(i + 1, GPU_LINKS_MOST);
	assert_int_equal(links.cut, GPU_LINKS_MOST / 4);
	assert_int_equal(handed_out, 1);
	assert_int_equal(thread->count, GPU_LINKS_MOST / 4 * 3);
	/* A call in one of them is nobody's, and that is counted. */
	assert_int_equal(gpu_links_find(thread, NULL, 5, &next_id), 0);
	gpu_links_miss(&links, thread, 5);
	assert_int_equal(links.unknown, 1);
	assert_int_equal(gpu_links_find(thread, NULL, i * 10 + 5, &next_id), i);
	gpu_links_miss(&links, thread, (i + 1) * 10);
	assert_int_equal(links.unknown, 1);
	gpu_links_free(&links);
}

static void threads_that_call_nothing_keep_little(void **state)
{
	struct gpu_links links = {0};
	struct gpu_link_thread *thread = gpu_links_thread(&links, 42);
	uint64_t i = 0;

	(void)state;
	while (!closed(&links, thread, i * 10 + 1, i * 10 + 9, i, NULL))
		i++;
	assert_int_equal(i + 1, GPU_LINKS_MOST_QUIET);
	gpu_links_shed(&links, thread, take, NULL);
	assert_int_equal(links.cut, 0);
	gpu_links_free(&links);
}

static void record(struct gpu_marks *marks, uint32_t event, uint32_t recording,
		   uint64_t correlation)
{
	const struct event mark = {.kind = EVENT_GPU_EVENT,
				   .gpu = {.correlation = correlation,
					   .context = 1,
					   .stream = 7,
					   .event = event,
					   .recording = recording}};

	gpu_marks_add(marks, &mark);
}

/* The call that recorded what a wait is for, 0 unknown. */
static uint64_t awaited(const struct gpu_marks *marks, uint32_t event,
			uint32_t recording, uint64_t correlation)
{
	const struct event wait = {.kind = EVENT_GPU_SYNC,
				   .extra = GPU_SYNC_STREAM_WAIT,
				   .gpu = {.correlation = correlation,
					   .context = 1,
					   .event = event,
					   .recording = recording}};
	const struct gpu_mark *mark = gpu_marks_find(marks, &wait);

	return mark ? mark->correlation : 0;
}

static void waits_find_their_recording(void **state)
{
	struct gpu_marks marks = {0};

	(void)state;
	assert_int_equal(awaited(&marks, 3, 0, 100), 0);
	/* Without numbers of recordings: the last one before the wait, in
	 * whatever order they came. */
	record(&marks, 3, 0, 10);
	record(&marks, 3, 0, 50);
	record(&marks, 3, 0, 30);
	record(&marks, 3 + GPU_MARKS_CHAINS, 0, 35);
	assert_int_equal(awaited(&marks, 3, 0, 40), 30);
	assert_int_equal(awaited(&marks, 3, 0, 60), 50);
	assert_int_equal(awaited(&marks, 3, 0, 10), 0);
	assert_int_equal(awaited(&marks, 4, 0, 60), 0);
	/* With them: that one, wherever the wait was called. */
	record(&marks, 5, 71, 80);
	record(&marks, 5, 72, 90);
	assert_int_equal(awaited(&marks, 5, 71, 200), 80);
	assert_int_equal(awaited(&marks, 5, 73, 200), 0);
	assert_int_equal(awaited(&marks, 5, 0, 200), 90);
	gpu_marks_free(&marks);
}

static void old_recordings_are_forgotten(void **state)
{
	struct gpu_marks marks = {0};

	(void)state;
	record(&marks, 1, 1, 1);
	for (uint32_t i = 2; i <= GPU_MARKS_KEPT; i++)
		record(&marks, 2, i, i);
	assert_int_equal(awaited(&marks, 1, 1, 1), 1);
	record(&marks, 2, 9, 9);
	assert_int_equal(awaited(&marks, 1, 1, 1), 0);
	gpu_marks_free(&marks);
}

static void name_is(struct session *session, const struct event *event,
		    const char *name, const char *category)
{
	struct label key = {.kind = event->kind};
	char text[256];

	gpu_label_key(event, &key);
	gpu_label_text(session, &key, text, sizeof(text));
	assert_string_equal(text, name);
	assert_string_equal(gpu_label_category(&key), category);
}

static void names_are_those_of_torch(void **state)
{
	struct session *session = fixture_begin(4);
	struct event copy[2] = {
		{.kind = EVENT_GPU_COPY, .flags = EVENT_TWO_SLOTS}};
	struct event event = {.kind = EVENT_GPU_KERNEL};

	(void)state;
	*(struct gpu_copy *)&copy[1] =
		(struct gpu_copy){.kind = 1, .source = 2, .destination = 3};
	name_is(session, copy, "Memcpy HtoD (Pinned -> Device)", "gpu_memcpy");
	*(struct gpu_copy *)&copy[1] = (struct gpu_copy){.kind = 200};
	name_is(session, copy, "Memcpy Unknown (Unknown -> Unknown)",
		"gpu_memcpy");
	event.name = names_intern_string(session, "_Z6updatePfPKff");
#ifdef HAVE_DEMANGLE
	name_is(session, &event, "update(float*, float const*, float)",
		"kernel");
#endif
	event.name = names_intern_string(session, "kernel");
	name_is(session, &event, "Kernel", "kernel");
	event.name = names_intern_string(session, "sgemm_128x128_nn");
	name_is(session, &event, "sgemm_128x128_nn", "kernel");
	event = (struct event){.kind = EVENT_GPU_FILL, .extra = 3};
	name_is(session, &event, "Memset (Device)", "gpu_memset");
	event = (struct event){.kind = EVENT_GPU_SYNC, .extra = 3};
	name_is(session, &event, "Stream Sync", "cuda_sync");
	event = (struct event){.kind = EVENT_GPU_API, .api.is_driver = 1};
	name_is(session, &event, "", "cuda_driver");
	fixture_end(session);
}

#ifdef HAVE_DEMANGLE
/* void deep<box<box<...<int>...>>, double>(int): `depth` boxes. */
static void deep_symbol(char *text, int depth)
{
	text += sprintf(text, "_Z4deepI");
	for (int i = 0; i < depth; i++)
		text += sprintf(text, "3boxI");
	text += sprintf(text, "i");
	for (int i = 0; i < depth; i++)
		text += sprintf(text, "E");
	sprintf(text, "dEvi");
}

static void long_symbols_are_demangled_whole(void **state)
{
	struct session *session = fixture_begin(4);
	struct event event = {.kind = EVENT_GPU_KERNEL};
	struct label key = {.kind = EVENT_GPU_KERNEL};
	char symbol[NAME_SYMBOL_MAX + 1], text[2 * NAME_SYMBOL_MAX];
	char parts[NAME_SYMBOL_MAX + 1] = "_Z4wideIJ";
	size_t len;

	(void)state;
	deep_symbol(symbol, 300);
	assert_true(strlen(symbol) > 1500);
	event.name = names_intern_symbol(session, symbol);
	gpu_label_key(&event, &key);
	gpu_label_text(session, &key, text, sizeof(text));
	len = strlen(text);
	assert_int_equal(strncmp(text, "void deep<box<box<", 18), 0);
	assert_string_equal(text + len - 15, ">, double>(int)");
	/* Some KB of template arguments, as kernels really have them. */
	len = strlen(parts);
	while (len + 40 < NAME_SYMBOL_MAX)
		len += (size_t)sprintf(parts + len, "N3lib5tupleIfLi%zuEEE",
				       len);
	strcpy(parts + len, "EEvPf");
	key.name = names_intern_symbol(session, parts);
	gpu_label_text(session, &key, text, sizeof(text));
	assert_int_equal(strncmp(text, "void wide<lib::tuple<float, 9>", 30),
			 0);
	assert_string_equal(text + strlen(text) - 9, ">(float*)");
	fixture_end(session);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(occupancy_is_that_of_torch),
		cmocka_unit_test(occupancy_knows_its_limits),
		cmocka_unit_test(what_overlaps_lies_apart),
		cmocka_unit_test(contexts_lie_apart),
		cmocka_unit_test(what_touches_lies_a_gap_apart),
		cmocka_unit_test(a_long_lane_stays_in_order),
		cmocka_unit_test(more_than_there_are_lanes_is_counted),
		cmocka_unit_test(annotations_nest_or_lie_apart),
		cmocka_unit_test(launches_are_found),
		cmocka_unit_test(each_launch_counts_however_many_follow),
		cmocka_unit_test(a_graph_of_unknown_size_is_counted),
		cmocka_unit_test(a_call_belongs_to_the_innermost_slice),
		cmocka_unit_test(annotations_span_their_work),
		cmocka_unit_test(work_finds_its_annotations_however_late),
		cmocka_unit_test(an_annotation_has_as_many_streams_as_it_uses),
		cmocka_unit_test(more_than_there_is_room_for_is_counted),
		cmocka_unit_test(threads_that_call_nothing_keep_little),
		cmocka_unit_test(waits_find_their_recording),
		cmocka_unit_test(old_recordings_are_forgotten),
		cmocka_unit_test(names_are_those_of_torch),
#ifdef HAVE_DEMANGLE
		cmocka_unit_test(long_symbols_are_demangled_whole),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
