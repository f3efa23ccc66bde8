/* SPDX-License-Identifier: MIT */
/*
 * test_cupti_kinds.c - who turns CUPTI's kinds on and off, while another does.
 *
 * CUPTI is played here: its functions note the last answer, and what another
 * thread would do in the meantime happens inside of them.
 */
#include "tests/unit/cmocka_base.h"

#ifdef HAVE_CUPTI
#include "preload/cuda/cupti_library.h"
#include "preload/cuda/cupti_record.h"
#include "preload/cuda/cupti_share.h"
#include "preload/cuda/cupti_source.h"
#include "collector/system/cupti_versions.h"
#include "tests/unit/session_fixture.h"
#include <pthread.h>
#include <unistd.h>

static bool is_on;
static void (*meanwhile)(void);

bool cupti_is_alive(void)
{
	return true;
}

bool cupti_may_be_turned(void)
{
	return true;
}

bool cupti_share_is_on(void)
{
	return false;
}

bool cupti_is_ours(void)
{
	return true;
}

void cupti_callbacks_stacks(bool on)
{
	(void)on;
}

/* The helper, which turns the kinds when it gets to it. */
void cupti_flush_wake(void)
{
}

uint32_t cupti_launch_names_of(uint32_t correlation)
{
	return correlation * 0;
}

static void pass(void)
{
	void (*const happens)(void) = meanwhile;

	meanwhile = NULL;
	if (happens)
		happens();
}

static CUptiResult CUPTIAPI enable(CUpti_ActivityKind kind)
{
	is_on = true;
	pass();
	return kind ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

static CUptiResult CUPTIAPI disable(CUpti_ActivityKind kind)
{
	is_on = false;
	pass();
	return kind ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

static void window_opens(void)
{
	store_relaxed(&load_relaxed(&session_here)->head->windows.is_open, 1);
}

/* As the thread does that steps. */
static void window_opens_and_wishes(void)
{
	window_opens();
	cupti_kinds_want(true);
}

static void no_wish(void)
{
	cupti_kinds_want(false);
}

static struct session *begin(void)
{
	struct session *session = fixture_begin(4);

	cupti.cuptiActivityEnable = enable;
	cupti.cuptiActivityDisable = disable;
	cupti_versions_start(200000);
	cupti_kinds_forget();
	meanwhile = NULL;
	cupti_kinds_want(true);
	cupti_kinds_turn();
	assert_true(is_on);
	return session;
}

static void rest(const struct session *session)
{
	cupti_kinds_rest(session);
	cupti_kinds_turn();
}

static void off_when_nothing_needs_them(void **state)
{
	struct session *session = begin();

	(void)state;
	window_opens();
	rest(session);
	assert_true(is_on);
	store_relaxed(&session->head->windows.is_open, 0);
	rest(session);
	assert_false(is_on);
	fixture_end(session);
}

/* Each time they are turned, somebody wishes something else. */
static void a_wish_while_they_turn(void **state)
{
	struct session *session = begin();

	(void)state;
	meanwhile = window_opens_and_wishes;
	rest(session);
	assert_true(is_on);
	store_relaxed(&session->head->windows.is_open, 0);
	rest(session);
	meanwhile = no_wish;
	cupti_kinds_want(true);
	cupti_kinds_turn();
	assert_false(is_on);
	fixture_end(session);
}

/* Versions that can't be switched off. */
static void on_for_good(void **state)
{
	static const uint32_t versions[] = {28, 130000, 130001, 130100};
	struct session *session = begin();

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		cupti_versions_start(versions[i]);
		rest(session);
		assert_true(is_on);
	}
	cupti_versions_start(130101);
	rest(session);
	assert_false(is_on);
	fixture_end(session);
}

static void *turn_later(void *unused)
{
	usleep(20000);
	cupti_kinds_turn();
	return unused;
}

static void awaited(void **state)
{
	struct session *session = begin();
	pthread_t helper;

	(void)state;
	assert_true(cupti_kinds_await());
	rest(session);
	assert_false(is_on);
	cupti_kinds_want(true);
	pthread_create(&helper, NULL, turn_later, NULL);
	assert_true(cupti_kinds_await());
	assert_true(is_on);
	pthread_join(helper, NULL);
	fixture_end(session);
}

/* Nobody turns them: said after a while, and not waited for again. */
static void awaited_in_vain(void **state)
{
	struct session *session = begin();
	uint64_t start;

	(void)state;
	rest(session);
	cupti_kinds_want(true);
	start = clock_monotonic_ns();
	assert_false(cupti_kinds_await());
	assert_true(clock_monotonic_ns() - start >=
		    UINT64_C(1000000) * CUPTI_TURN_MS);
	assert_false(cupti_kinds_await());
	assert_false(is_on);
	fixture_end(session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(off_when_nothing_needs_them),
		cmocka_unit_test(a_wish_while_they_turn),
		cmocka_unit_test(on_for_good),
		cmocka_unit_test(awaited),
		cmocka_unit_test(awaited_in_vain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	return cmocka_skip_all("no CUPTI without CUDA's headers");
}

#endif
