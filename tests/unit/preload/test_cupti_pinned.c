/* SPDX-License-Identifier: MIT */
/*
 * test_cupti_pinned.c - what is left of a call that pins memory of the
 * program's, or gives it back.
 *
 * The rest of preload/cuda/ is played here, so is the process's life.
 */
#include "tests/unit/session_fixture.h"

#ifdef HAVE_CUPTI
#include "preload/cuda/cupti_library.h"
#include "preload/cuda/cupti_pinned.h"
#include "preload/cuda/cupti_source.h"
#include "preload/process/hook.h"
#include "preload/process/life.h"
#include <pthread.h>
#include <unistd.h>

enum { NUMBER = 77, STACK = 4711, BYTES = 8192 };

struct cupti_functions cupti;

static bool is_running;

bool life_is_running(void)
{
	return is_running;
}

struct thread *hook_thread_enter(void)
{
	return thread_here();
}

/* Taken when the call began. */
uint32_t cupti_stacks_of(uint64_t correlation)
{
	return correlation == NUMBER ? STACK : 0;
}

static char page;

static void call(enum cupti_memory_call what, CUpti_ApiCallbackSite site,
		 int result)
{
	const struct {
		void *address;
		size_t bytes;
	} parameters = {&page, BYTES};
	const CUpti_CallbackData data = {.callbackSite = site,
					 .functionParams = &parameters,
					 .functionReturnValue = &result,
					 .correlationId = NUMBER};

	cupti_pinned_call(what, &data);
}

/* On a thread of its own: the block is drawn on that one's lane. */
static void *pins(void *session)
{
	struct ring_walk walk = {0};
	const struct event *event;

	call(CUPTI_PINS, CUPTI_API_ENTER, 0);
	call(CUPTI_PINS, CUPTI_API_EXIT, 0);
	call(CUPTI_UNPINS, CUPTI_API_EXIT, 0);
	for (int is_free = 0; is_free < 2; is_free++) {
		event = ring_walk_next(&walk, session, &thread_self->ring);
		assert_non_null(event);
		assert_int_equal(event->kind, EVENT_GPU_MEMORY);
		assert_int_equal(event->extra,
				 CUPTI_ACTIVITY_MEMORY_KIND_PINNED);
		assert_int_equal(event->caller, STACK);
		assert_int_equal(event->memory.correlation, NUMBER);
		assert_int_equal(event->memory.address, (uintptr_t)&page);
		assert_int_equal(event->memory.size_bytes, is_free ? 0 : BYTES);
		assert_int_equal(event->memory.device, gettid());
		assert_int_equal(event->memory.is_free, is_free);
	}
	assert_null(ring_walk_next(&walk, session, &thread_self->ring));
	return NULL;
}

static void who_pinned_it_and_where(void **state)
{
	struct session *session = fixture_begin(4);
	pthread_t thread;

	(void)state;
	is_running = true;
	pthread_create(&thread, NULL, pins, session);
	pthread_join(thread, NULL);
	fixture_end(session);
}

static void what_failed_or_is_not_recorded_leaves_nothing(void **state)
{
	struct session *session = fixture_begin(4);
	struct ring_walk walk = {0};

	(void)state;
	thread_here();
	is_running = true;
	call(CUPTI_PINS, CUPTI_API_EXIT, 1);
	is_running = false;
	call(CUPTI_PINS, CUPTI_API_EXIT, 0);
	assert_null(ring_walk_next(&walk, session, &thread_self->ring));
	fixture_end(session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_pinned_it_and_where),
		cmocka_unit_test(what_failed_or_is_not_recorded_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	return cmocka_skip_all("no CUPTI without CUDA's headers");
}

#endif
