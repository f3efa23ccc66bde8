/* SPDX-License-Identifier: MIT */
/* test_gpu_links.c - the slices around a call, while they end. */
#include "tests/unit/cmocka_base.h"

#include "writer/gpu/gpu_links.h"
#include <string.h>

static unsigned int handed_out;

static void take(const struct gpu_link *link, void *arg)
{
	(void)arg;
	handed_out += link->first != NULL;
}

static void close_slice(struct gpu_links *links, struct gpu_link_thread *thread,
			uint64_t start, uint64_t end, uint64_t id,
			const char *text)
{
	const struct gpu_link made = {
		.start_ticks = start,
		.end_ticks = end,
		.id = id,
		.text = text,
		.text_len = (uint32_t)strlen(text),
	};

	gpu_links_close(links, thread, &made);
}

static void open_is(struct thread *live, uint32_t at, uint64_t start)
{
	live->open[at] =
		(struct open_slice){.start_ticks = start, .kind = EVENT_SCOPE};
}

/* It was open when the pass looked how far the ring goes, and is written in the
 * next one. */
static void a_slice_that_ends_meanwhile_has_its_call(void **state)
{
	const struct lane_span span = {100, 200};
	struct gpu_links links = {0};
	struct gpu_link_thread *thread = gpu_links_thread(&links, 42);
	struct thread live = {0};
	uint64_t next_id = 100;

	(void)state;
	handed_out = 0;
	assert_false(thread->is_looked);
	live.depth = 3;
	open_is(&live, 0, 5);
	open_is(&live, 1, 10);
	open_is(&live, 2, 20);
	gpu_links_look(thread, &live);
	assert_true(thread->is_looked);
	/* The innermost has ended, and one that is younger has begun. */
	live.depth = 3;
	open_is(&live, 2, 60);
	assert_int_equal(gpu_links_find(thread, &live, 25, &next_id), 101);
	gpu_links_work(&links, thread, &live, 25, 0, 7, span);
	assert_int_equal(gpu_links_reserved(thread, 20), 101);
	/* Those around it are as they were, once each. */
	assert_int_equal(gpu_links_find(thread, &live, 15, &next_id), 102);
	assert_int_equal(gpu_links_find(thread, &live, 70, &next_id), 103);
	close_slice(&links, thread, 20, 30, 101, "inner");
	/* Written by now, open as of the look. */
	gpu_links_work(&links, thread, &live, 26, 0, 7, span);
	assert_int_equal(gpu_links_find(thread, &live, 26, &next_id), 101);
	close_slice(&links, thread, 10, 50, 102, "outer");
	close_slice(&links, thread, 5, 90, 104, "outermost");
	gpu_links_flush(&links, UINT64_MAX, take, NULL);
	assert_int_equal(handed_out, 3);
	gpu_links_free(&links);
}

/* It lies below one that goes on, until that one ends. */
static void a_slice_that_has_ended_below_another_has_no_call(void **state)
{
	struct gpu_links links = {0};
	struct gpu_link_thread *thread = gpu_links_thread(&links, 42);
	struct thread live = {0};
	uint64_t next_id = 100;

	(void)state;
	live.depth = 2;
	open_is(&live, 0, 5);
	open_is(&live, 1, 10);
	live.open[0].kind = EVENT_NONE;
	gpu_links_look(thread, &live);
	assert_int_equal(gpu_links_find(thread, &live, 8, &next_id), 0);
	gpu_links_free(&links);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_slice_that_ends_meanwhile_has_its_call),
		cmocka_unit_test(
			a_slice_that_has_ended_below_another_has_no_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
