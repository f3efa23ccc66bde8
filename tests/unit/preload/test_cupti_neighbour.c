/* SPDX-License-Identifier: MIT */
/*
 * test_cupti_neighbour.c - CUPTI goes to another profiler and comes back.
 *
 * CUPTI is played here: whose it is by its clock, which is set forwards as soon
 * as another has it, and who gets what it is asked to hand over.
 */
#include "tests/unit/cmocka_base.h"

#ifdef HAVE_CUPTI
#include "collector/steps/steps.h"
#include "collector/system/cupti_versions.h"
#include "preload/cuda/cupti_buffers.h"
#include "preload/cuda/cupti_clock.h"
#include "preload/cuda/cupti_neighbour.h"
#include "preload/cuda/cupti_record.h"
#include "preload/cuda/cupti_share.h"
#include "preload/cuda/cupti_source.h"
#include "preload/process/quiet.h"
#include "tests/unit/session_fixture.h"
#include <pthread.h>
#include <unistd.h>

#define HOUR_NS INT64_C(3600000000000)
#define MOST_NS 20000.0

static const double rate = 1.0005;
static int64_t offset;
static uint64_t origin;
/* Who has registered buffers, and how many of the other's are in CUPTI. */
static bool are_ours;
static unsigned int strangers_out, strangers_back;
static _Atomic bool asked;

bool cupti_is_alive(void)
{
	return true;
}

bool cupti_share_is_on(void)
{
	return false;
}

void cupti_flush_ask(void)
{
	store_release(&asked, true);
}

void cupti_kinds_leave(void (*before_kernels)(void))
{
	before_kernels();
}

void cupti_kinds_want(bool on)
{
	(void)on;
}

void cupti_callbacks_unsubscribe(void)
{
}

bool cupti_callbacks_return(bool kept)
{
	(void)kept;
	return true;
}

/* From here on all is the other's. */
void cupti_attach_leave(void)
{
	are_ours = false;
	offset = 40 * HOUR_NS;
}

bool cupti_attach_again(void)
{
	are_ours = true;
	return true;
}

void cupti_kill(void)
{
}

uint32_t cupti_launch_names_of(uint32_t correlation)
{
	return correlation * 0;
}

static uint64_t time_at(uint64_t ticks)
{
	const struct session *session = load_relaxed(&session_here);
	const double ns = (double)(ticks - origin) * 1e9 /
			  (double)clock_ticks_per_second(&session->head->clock);

	return (uint64_t)(2 * HOUR_NS + offset + (int64_t)(ns * rate));
}

static CUptiResult CUPTIAPI timestamp(uint64_t *time)
{
	*time = time_at(clock_ticks());
	return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI set_thread_ids(CUpti_ActivityThreadIdType type)
{
	return (int)type < 0 ? CUPTI_ERROR_INVALID_PARAMETER : CUPTI_SUCCESS;
}

/* What is in its buffers goes to who has registered. */
static CUptiResult CUPTIAPI flush_all(uint32_t flag)
{
	if (flag == CUPTI_ACTIVITY_FLAG_FLUSH_FORCED && !are_ours) {
		strangers_back += strangers_out;
		strangers_out = 0;
	}
	return CUPTI_SUCCESS;
}

static struct session *begin(void)
{
	struct session *session = fixture_begin(4);

	cupti.cuptiGetTimestamp = timestamp;
	cupti.cuptiSetThreadIdType = set_thread_ids;
	cupti.cuptiActivityFlushAll = flush_all;
	cupti_versions_start(130001);
	cupti_clock_forget();
	cupti_neighbour_forget();
	assert_int_equal(cupti_buffers_start(true), 0);
	are_ours = true;
	strangers_out = 0;
	strangers_back = 0;
	asked = false;
	offset = 0;
	origin = clock_ticks();
	assert_int_equal(cupti_clock_start(), 0);
	return session;
}

static void end(struct session *session)
{
	cupti_neighbour_forget();
	cupti_buffers_forget();
	fixture_end(session);
}

static void *another_comes(void *unused)
{
	cupti_neighbour_comes(false);
	cupti_neighbour_is_done();
	return unused;
}

/* It waits for our thread, which is this one. */
static void hand_over(void)
{
	pthread_t another;

	store_relaxed(&asked, false);
	pthread_create(&another, NULL, another_comes, NULL);
	while (!load_acquire(&asked))
		usleep(1000);
	cupti_neighbour_look();
	pthread_join(another, NULL);
	assert_false(cupti_is_ours());
}

/* Decoded after that, when CUPTI's clock can't be asked any more. */
static void times_from_before_are_right(void **state)
{
	struct session *session = begin();
	uint64_t ticks, time;
	double off;

	(void)state;
	usleep(100000);
	ticks = clock_ticks();
	time = time_at(ticks);
	hand_over();
	cupti_clock_pair(cupti_is_ours);
	off = (double)(int64_t)(cupti_clock_ticks(time) - ticks) * 1e9 /
	      (double)clock_ticks_per_second(&session->head->clock);
	assert_true(off < MOST_NS && off > -MOST_NS);
	end(session);
}

/* It has turned its kinds off, and left what it had in CUPTI. */
static void what_it_left_there_comes_to_it(void **state)
{
	struct session *session = begin();

	(void)state;
	hand_over();
	cupti_neighbour_turned(CUPTI_ACTIVITY_KIND_DRIVER, true);
	strangers_out = 3;
	cupti_neighbour_turned(CUPTI_ACTIVITY_KIND_DRIVER, false);
	while (!cupti_is_ours()) {
		usleep(20000);
		cupti_neighbour_look();
	}
	assert_true(are_ours);
	assert_int_equal(strangers_back, 3);
	end(session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_from_before_are_right),
		cmocka_unit_test(what_it_left_there_comes_to_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	return cmocka_skip_all("no CUPTI without CUDA's headers");
}

#endif
