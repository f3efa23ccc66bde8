/* SPDX-License-Identifier: MIT */
/*
 * test_cupti_neighbour.c - CUPTI goes to another profiler and comes back.
 *
 * CUPTI is played here: whose it is by its clock, which is set forwards as soon
 * as another has it, and who gets what it is asked to hand over.  The time goes
 * faster where a test says so (--wrap).
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
#include <string.h>
#include <time.h>
#include <unistd.h>

#define HOUR_NS INT64_C(3600000000000)
#define MOST_NS 20000.0

static const double rate = 1.0005;
static int64_t offset;
static uint64_t origin;
/* What was done to CUPTI: a letter each, see below. */
static char done[64];
/* Who has registered buffers, and how many of the other's are in CUPTI. */
static bool are_ours;
static unsigned int strangers_out, strangers_back;
static bool is_alive = true, was_killed, was_kept, wants_kinds;
static _Atomic bool asked;
static void (*kinds_are_left)(void), (*is_set_up)(void);
static CUpti_TimestampCallbackFunc clock_set;
static CUpti_BuffersCallbackRequestFunc request_set;

/* Of the monotonic clock. */
static _Atomic time_t seconds_ahead;

int __real_clock_gettime(clockid_t which, struct timespec *time);
int __wrap_clock_gettime(clockid_t which, struct timespec *time);

int __wrap_clock_gettime(clockid_t which, struct timespec *time)
{
	const int rc = __real_clock_gettime(which, time);

	if (which == CLOCK_MONOTONIC)
		time->tv_sec += load_relaxed(&seconds_ahead);
	return rc;
}

static void note(char what)
{
	const size_t len = strlen(done);

	assert_true(len + 1 < sizeof(done));
	done[len] = what;
}

bool cupti_is_alive(void)
{
	return is_alive;
}

bool cupti_share_is_on(void)
{
	return false;
}

static uint64_t end_ticks;

uint64_t cupti_flush_end_ticks(void)
{
	return end_ticks;
}

void cupti_flush_ask(void)
{
	store_release(&asked, true);
}

/* k: kernels were switched off. */
void cupti_kinds_leave(void (*before_kernels)(void))
{
	before_kernels();
	if (kinds_are_left)
		kinds_are_left();
	note('k');
}

void cupti_kinds_want(bool on)
{
	wants_kinds = on;
}

/* u: our subscription went. */
void cupti_callbacks_unsubscribe(void)
{
	note('u');
}

bool cupti_callbacks_return(bool kept)
{
	was_kept = kept;
	return true;
}

/* a: attributes are as they were.  From here on all is the other's. */
void cupti_attach_leave(void)
{
	note('a');
	are_ours = false;
	offset = 40 * HOUR_NS;
}

/* s: ours are set up. */
bool cupti_attach_again(void)
{
	note('s');
	are_ours = true;
	if (is_set_up)
		is_set_up();
	return true;
}

void cupti_kill(void)
{
	was_killed = true;
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

/* t: threads have their usual numbers. */
static CUptiResult CUPTIAPI set_thread_ids(CUpti_ActivityThreadIdType type)
{
	note(type == CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT ? 't' : 'T');
	return CUPTI_SUCCESS;
}

/* f: a forced flush.  What is in its buffers goes to who has registered. */
static CUptiResult CUPTIAPI flush_all(uint32_t flag)
{
	note(flag == CUPTI_ACTIVITY_FLAG_FLUSH_FORCED ? 'f' : 'F');
	if (flag == CUPTI_ACTIVITY_FLAG_FLUSH_FORCED && !are_ours) {
		strangers_back += strangers_out;
		strangers_out = 0;
	}
	return CUPTI_SUCCESS;
}

/* c, b: the other's clock and buffers are registered again. */
static CUptiResult CUPTIAPI set_clock(CUpti_TimestampCallbackFunc clock)
{
	note('c');
	clock_set = clock;
	return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI
set_buffers(CUpti_BuffersCallbackRequestFunc request,
	    CUpti_BuffersCallbackCompleteFunc complete)
{
	note(complete ? 'b' : 'B');
	request_set = request;
	return CUPTI_SUCCESS;
}

/* e: a kind of the other's is on again. */
static CUptiResult CUPTIAPI enable(CUpti_ActivityKind kind)
{
	note(kind == CUPTI_ACTIVITY_KIND_DRIVER ? 'e' : 'E');
	return CUPTI_SUCCESS;
}

static uint64_t CUPTIAPI its_clock(void)
{
	return 1;
}

static void CUPTIAPI its_request(uint8_t **bytes, size_t *size, size_t *most)
{
	(void)bytes, (void)size, (void)most;
}

static void CUPTIAPI its_complete(CUcontext context, uint32_t stream,
				  uint8_t *bytes, size_t size, size_t valid)
{
	(void)context, (void)stream, (void)bytes, (void)size, (void)valid;
}

static struct session *begin(void)
{
	struct session *session = fixture_begin(4);

	cupti.cuptiGetTimestamp = timestamp;
	cupti.cuptiSetThreadIdType = set_thread_ids;
	cupti.cuptiActivityFlushAll = flush_all;
	cupti.cuptiActivityRegisterTimestampCallback = set_clock;
	cupti.cuptiActivityRegisterCallbacks = set_buffers;
	cupti.cuptiActivityEnable = enable;
	cupti_versions_start(130001);
	cupti_clock_forget();
	cupti_neighbour_forget();
	cupti_neighbour_finalised();
	assert_int_equal(cupti_buffers_start(true), 0);
	memset(done, 0, sizeof(done));
	is_alive = true;
	was_killed = false;
	kinds_are_left = is_set_up = NULL;
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

/* So many ticks are a second: half of one is what the other is idle for. */
static void second_is(struct session *session, double ticks)
{
	struct clock_segments *clock = &session->head->clock;

	clock->uses_counter = 1;
	if (!load_relaxed(&clock->count))
		store_relaxed(&clock->count, 1);
	clock->segment[load_relaxed(&clock->count) - 1].ns_per_tick =
		1e9 / ticks;
}

static _Atomic bool is_back;

static void *another_comes(void *subscribes)
{
	cupti_neighbour_comes(subscribes);
	cupti_neighbour_is_done();
	store_release(&is_back, true);
	return NULL;
}

/* It waits for our thread, which is this one. */
static void hand_over_to(bool subscribes)
{
	pthread_t another;

	store_relaxed(&asked, false);
	store_relaxed(&is_back, false);
	pthread_create(&another, NULL, another_comes, subscribes ? done : NULL);
	while (!load_acquire(&asked))
		usleep(1000);
	cupti_neighbour_look();
	pthread_join(another, NULL);
	assert_false(cupti_is_ours());
}

static void hand_over(void)
{
	hand_over_to(false);
}

/* It is idle at once. */
static void take_up(struct session *session)
{
	second_is(session, 2);
	cupti_neighbour_look();
	assert_true(cupti_is_ours());
}

static void all_is_as_before_us(void **state)
{
	struct session *session = begin();
	const uint64_t lost = cupti_buffers_refused();
	size_t room, most;
	uint8_t *bytes;

	(void)state;
	cupti_buffers_request(&bytes, &room, &most);
	bytes[0] = CUPTI_ACTIVITY_KIND_DRIVER;
	hand_over();
	assert_string_equal(done, "ftkfa");
	assert_int_equal(cupti_buffers_refused(), lost + 1);
	end(session);
}

/* Who wants callbacks gets the subscription; and what was registered before,
 * clock and buffers, is so again. */
static void it_has_all_that_it_had(void **state)
{
	struct session *session = begin();

	(void)state;
	cupti_neighbour_timed(its_clock);
	cupti_neighbour_registered(its_request, its_complete);
	hand_over_to(true);
	cupti_neighbour_subscribed(true);
	assert_string_equal(done, "ftukfacb");
	assert_ptr_equal(clock_set, its_clock);
	assert_ptr_equal(request_set, its_request);
	store_relaxed(&session->head->windows.is_open, 1);
	take_up(session);
	assert_true(was_kept);
	/* A window has opened meanwhile. */
	assert_true(wants_kinds);
	store_relaxed(&session->head->windows.is_open, 0);
	/* It gives the subscription back. */
	hand_over();
	cupti_neighbour_subscribed(false);
	take_up(session);
	assert_false(was_kept);
	end(session);
}

/* It has CUPTI, and subscribes later. */
static void it_subscribes_later(void **state)
{
	struct session *session = begin();

	(void)state;
	hand_over();
	cupti_neighbour_comes(true);
	cupti_neighbour_is_done();
	assert_string_equal(done, "ftkfau");
	end(session);
}

/* With all that CUPTI knew of it. */
static void it_finalises(void **state)
{
	struct session *session = begin();

	(void)state;
	cupti_neighbour_timed(its_clock);
	cupti_neighbour_registered(its_request, its_complete);
	hand_over();
	cupti_neighbour_turned(CUPTI_ACTIVITY_KIND_DRIVER, true);
	cupti_neighbour_subscribed(true);
	cupti_neighbour_finalised();
	take_up(session);
	assert_false(was_kept);
	memset(done, 0, sizeof(done));
	hand_over();
	assert_string_equal(done, "ftkfa");
	end(session);
}

static void it_is_there_first(void **state)
{
	struct session *session = begin();

	(void)state;
	assert_false(cupti_neighbour_is_first());
	cupti_neighbour_turned(CUPTI_ACTIVITY_KIND_DRIVER, true);
	assert_true(cupti_neighbour_is_first());
	assert_false(cupti_is_ours());
	cupti_neighbour_forget();
	cupti_neighbour_turned(CUPTI_ACTIVITY_KIND_DRIVER, false);
	assert_false(cupti_neighbour_is_first());
	cupti_neighbour_subscribed(true);
	assert_true(cupti_neighbour_is_first());
	assert_false(cupti_is_ours());
	cupti_neighbour_subscribed(false);
	end(session);
}

/* It waits no longer, and what it turned on meanwhile our thread turned off. */
static void it_turns_its_own_on(void)
{
	while (!load_acquire(&is_back))
		usleep(1000);
	cupti_neighbour_turned(CUPTI_ACTIVITY_KIND_DRIVER, true);
}

static void it_waits_no_longer_than_it_must(void **state)
{
	struct session *session = begin();

	(void)state;
	kinds_are_left = it_turns_its_own_on;
	hand_over();
	/* No second flush: what would come is its own. */
	assert_string_equal(done, "ftkae");
	cupti_neighbour_turned(CUPTI_ACTIVITY_KIND_DRIVER, false);
	end(session);
}

/* As long as it has something on, is inside of a call, or was a moment ago. */
static void it_is_not_disturbed(void **state)
{
	struct session *session = begin();

	(void)state;
	hand_over();
	second_is(session, 2);
	cupti_neighbour_turned(CUPTI_ACTIVITY_KIND_DRIVER, true);
	cupti_neighbour_look();
	assert_false(cupti_is_ours());
	cupti_neighbour_turned(CUPTI_ACTIVITY_KIND_DRIVER, false);
	/* Thirty-two of its threads have a place. */
	for (int i = 0; i < 33; i++)
		cupti_neighbour_comes(false);
	for (int i = 0; i < 33; i++) {
		cupti_neighbour_look();
		assert_false(cupti_is_ours());
		cupti_neighbour_is_done();
	}
	is_alive = false;
	cupti_neighbour_look();
	is_alive = true;
	assert_false(cupti_is_ours());
	take_up(session);
	end(session);
}

/* First of all: nothing was ever done. */
static void its_last_call_counts(void **state)
{
	struct session *session = begin();

	(void)state;
	second_is(session,
		  20.0 * (double)clock_ticks_per_second(&session->head->clock));
	hand_over();
	cupti_neighbour_look();
	assert_false(cupti_is_ours());
	take_up(session);
	end(session);
}

/* It comes back while we are at setting ourselves up. */
static pthread_t early;

static void *comes_early(void *may_go)
{
	cupti_neighbour_comes(false);
	while (!load_acquire((_Atomic bool *)may_go))
		usleep(1000);
	assert_false(cupti_is_ours());
	cupti_neighbour_is_done();
	return NULL;
}

static _Atomic bool may_go;

static void it_comes_meanwhile(void)
{
	is_set_up = NULL;
	store_relaxed(&asked, false);
	pthread_create(&early, NULL, comes_early, &may_go);
	usleep(20000);
}

static void what_comes_meanwhile_waits(void **state)
{
	struct session *session = begin();

	(void)state;
	store_relaxed(&may_go, false);
	hand_over();
	is_set_up = it_comes_meanwhile;
	second_is(session, 2);
	cupti_neighbour_look();
	second_is(session, 1e18);
	/* Ours for a moment; then it asks. */
	for (int i = 0; i < 500 && !load_acquire(&asked); i++)
		usleep(1000);
	cupti_neighbour_look();
	store_release(&may_go, true);
	pthread_join(early, NULL);
	end(session);
}

/* Each time is told, and that there were more than there is room for. */
static void each_time_is_told(void **state)
{
	struct session *session = begin();
	struct gpu_state *gpu = &session->head->gpu;
	uint64_t last = 0;

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		struct gpu_taken *taken = &gpu->taken[i];

		memset(done, 0, sizeof(done));
		hand_over();
		assert_int_equal(load_relaxed(&gpu->taken_count), i + 1);
		assert_true(load_relaxed(&taken->start_ticks) > last);
		assert_int_equal(load_relaxed(&taken->end_ticks), 0);
		assert_int_equal(load_relaxed(&taken->is_loss), 0);
		take_up(session);
		last = load_relaxed(&taken->end_ticks);
		assert_true(last > load_relaxed(&taken->start_ticks));
	}
	assert_int_equal(load_relaxed(&session->head->note_count), 2);
	store_relaxed(&gpu->taken_count, GPU_TAKEN_MAX);
	memset(done, 0, sizeof(done));
	hand_over();
	assert_int_equal(load_relaxed(&session->head->note_count), 3);
	assert_true(load_relaxed(&gpu->taken[0].start_ticks) > last);
	end(session);
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
	take_up(session);
	assert_true(are_ours);
	assert_int_equal(strangers_back, 3);
	end(session);
}

/* The writer looks each second: twice CUPTI_TURN_MS is ten of them. */
static void it_hangs(void)
{
	cupti_neighbour_watch();
	/* Stopped, or asleep: that is no more than from one look to the next,
	 * however often. */
	for (int i = 0; i < 4; i++) {
		add_relaxed(&seconds_ahead, 3600);
		cupti_neighbour_watch();
		assert_false(was_killed);
	}
	for (int i = 4; i < 9; i++) {
		add_relaxed(&seconds_ahead, 1);
		cupti_neighbour_watch();
		assert_false(was_killed);
	}
	add_relaxed(&seconds_ahead, 1);
	cupti_neighbour_watch();
	assert_true(was_killed);
}

static void who_was_stopped_hangs_in_nothing(void **state)
{
	struct session *session = begin();

	(void)state;
	/* Nobody is at it. */
	cupti_neighbour_watch();
	add_relaxed(&seconds_ahead, 3600);
	cupti_neighbour_watch();
	kinds_are_left = it_hangs;
	hand_over();
	assert_true(was_killed);
	end(session);
}

/* What is launched while the end is held up is no loss, but isn't forgotten. */
static void what_is_refused_after_the_end_is_counted_apart(void **state)
{
	const uint64_t lost = cupti_buffers_refused();
	uint8_t *bytes;
	size_t room, most;

	(void)state;
	assert_int_equal(cupti_buffers_start(true), 0);
	do {
		cupti_buffers_request(&bytes, &room, &most);
	} while (bytes);
	assert_int_equal(cupti_buffers_refused(), lost + 1);
	assert_int_equal(cupti_buffers_refused_late(), 0);
	end_ticks = 1;
	cupti_buffers_request(&bytes, &room, &most);
	end_ticks = 0;
	assert_null(bytes);
	assert_int_equal(cupti_buffers_refused(), lost + 1);
	assert_int_equal(cupti_buffers_refused_late(), 1);
	cupti_buffers_forget();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(its_last_call_counts),
		cmocka_unit_test(times_from_before_are_right),
		cmocka_unit_test(all_is_as_before_us),
		cmocka_unit_test(it_has_all_that_it_had),
		cmocka_unit_test(it_subscribes_later),
		cmocka_unit_test(it_finalises),
		cmocka_unit_test(it_is_there_first),
		cmocka_unit_test(it_waits_no_longer_than_it_must),
		cmocka_unit_test(it_is_not_disturbed),
		cmocka_unit_test(what_comes_meanwhile_waits),
		cmocka_unit_test(each_time_is_told),
		cmocka_unit_test(what_it_left_there_comes_to_it),
		cmocka_unit_test(who_was_stopped_hangs_in_nothing),
		cmocka_unit_test(
			what_is_refused_after_the_end_is_counted_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	return cmocka_skip_all("no CUPTI without CUDA's headers");
}

#endif
