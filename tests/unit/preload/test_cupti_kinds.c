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
#include "preload/cuda/cupti_source.h"
#include "tests/unit/session_fixture.h"

static bool is_on;
static void (*meanwhile)(void);

bool cupti_is_alive(void)
{
	return true;
}

bool cupti_is_ours(void)
{
	return true;
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
	cupti_kinds_forget();
	meanwhile = NULL;
	cupti_kinds_want(true);
	assert_true(is_on);
	return session;
}

static void off_when_nothing_needs_them(void **state)
{
	struct session *session = begin();

	(void)state;
	window_opens();
	cupti_kinds_rest(session);
	assert_true(is_on);
	store_relaxed(&session->head->windows.is_open, 0);
	cupti_kinds_rest(session);
	assert_false(is_on);
	fixture_end(session);
}

static void a_wish_while_they_turn(void **state)
{
	struct session *session = begin();

	(void)state;
	meanwhile = window_opens_and_wishes;
	cupti_kinds_rest(session);
	assert_true(is_on);
	store_relaxed(&session->head->windows.is_open, 0);
	cupti_kinds_rest(session);
	meanwhile = no_wish;
	cupti_kinds_want(true);
	assert_false(is_on);
	fixture_end(session);
}

/* The wish came before the writer's own, which took its place. */
static void a_wish_that_was_lost(void **state)
{
	struct session *session = begin();

	(void)state;
	meanwhile = window_opens;
	cupti_kinds_rest(session);
	assert_true(is_on);
	fixture_end(session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(off_when_nothing_needs_them),
		cmocka_unit_test(a_wish_while_they_turn),
		cmocka_unit_test(a_wish_that_was_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

/* Without CUDA's headers there are no kinds. */
static void test_kinds(void **state)
{
	(void)state;
	skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_kinds)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
