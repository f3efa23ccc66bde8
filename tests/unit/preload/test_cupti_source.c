/* SPDX-License-Identifier: MIT */
/*
 * test_cupti_source.c - from buffers to events, and how far they have come.
 *
 * CUPTI is played here, and so is the helper that asks it: a record lies each
 * STRIDE bytes of a buffer.
 */
#include "tests/unit/cmocka_base.h"

#ifdef HAVE_CUPTI
#include "preload/cuda/cupti_buffers.h"
#include "preload/cuda/cupti_clock.h"
#include "preload/cuda/cupti_graph_memory.h"
#include "preload/cuda/cupti_neighbour.h"
#include "preload/cuda/cupti_record.h"
#include "preload/cuda/cupti_share.h"
#include "preload/cuda/cupti_source.h"
#include "preload/stack/unwind.h"
#include "preload/stack/call_places.h"
#include "tests/unit/session_fixture.h"
#include <string.h>
#include <unistd.h>

#define STRIDE 256u

enum { WAIT, LAUNCH }; /* numbers of calls */

struct unwind unwind;

static uint64_t flushed, forced;
static unsigned int forces, asks;
static uint64_t kinds_since;
static bool is_ending;

uint64_t cupti_flush_ticks(bool is_forced)
{
	return is_forced ? forced : flushed;
}

void cupti_flush_force(void)
{
	forces++;
}

/* Nobody is called back, has CUPTI beside us, or ends. */
/* clang-format off */
bool cupti_is_alive(void) { return true; }
bool cupti_is_ours(void) { return true; }
bool cupti_share_is_on(void) { return false; }
void cupti_flush_ask(void) { asks++; }
void cupti_flush_answered(void) {}
uint32_t cupti_flush_tid(void) { return 0; }
bool cupti_flush_is_ending(void) { return is_ending; }
uint64_t cupti_flush_end_ticks(void) { return 0; }
void cupti_neighbour_watch(void) {}
void cupti_callbacks_follow(const struct session *session) { (void)session; }
void cupti_kinds_follow(const struct session *session) { (void)session; }
uint64_t cupti_kinds_since(void) { return kinds_since; }
bool cupti_kinds_lack_kernels(void) { return false; }
void cupti_kinds_rest(const struct session *session) { (void)session; }
void cupti_nodes_settled(uint64_t ticks) { (void)ticks; }
bool cupti_graphs_ran_nothing(uint64_t number) { return !number; }
bool cupti_stacks_want(const char *name) { return !name; }
uint32_t cupti_stacks_of(uint64_t number) { (void)number; return 0; }
uint32_t call_places_of(uint32_t number) { (void)number; return 0; }
bool cupti_graph_memory_next(struct event *event) { return !event; }
bool cupti_graph_memory_counts(const struct event *event) { return event; }
/* clang-format on */

uint32_t cupti_launch_names_of(uint32_t correlation)
{
	return correlation * 0;
}

void cupti_graph_memory_work(const struct event *work, bool is_last)
{
	(void)work, (void)is_last;
}

bool cupti_nodes_captured(uint32_t tid, uint64_t start, uint64_t end)
{
	(void)tid, (void)start, (void)end;
	return false;
}

static CUptiResult CUPTIAPI next_record(uint8_t *bytes, size_t valid,
					CUpti_Activity **record)
{
	uint8_t *next = *record ? (uint8_t *)*record + STRIDE : bytes;

	if (next + STRIDE > bytes + valid)
		return CUPTI_ERROR_MAX_LIMIT_REACHED;
	*record = (CUpti_Activity *)(void *)next;
	return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI name_of(CUpti_CallbackDomain domain,
				    uint32_t number, const char **name)
{
	*name = domain && number == LAUNCH ? "cudaLaunchKernel_v7000" : "other";
	return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI set_clock(CUpti_TimestampCallbackFunc clock)
{
	return clock ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

static struct session *begin(void)
{
	struct session *session = fixture_begin(4);

	cupti.cuptiActivityGetNextRecord = next_record;
	cupti.cuptiGetCallbackName = name_of;
	cupti.cuptiActivityRegisterTimestampCallback = set_clock;
	session->head->gpu.cupti_version = 200000;
	cupti_source_forget();
	cupti_clock_start();
	assert_int_equal(cupti_buffers_start(true), 0);
	flushed = 0;
	forced = 0;
	forces = 0;
	return session;
}

static void end(struct session *session)
{
	cupti_buffers_forget();
	fixture_end(session);
}

static uint64_t ms(const struct session *session, unsigned int count)
{
	return count * clock_ticks_per_second(&session->head->clock) / 1000;
}

/* CUPTI asks for a buffer, and writes something into it; when. */
static uint64_t lend(uint8_t **bytes)
{
	size_t room, most;

	cupti_buffers_request(bytes, &room, &most);
	(*bytes)[0] = CUPTI_ACTIVITY_KIND_RUNTIME;
	return cupti_buffers_oldest();
}

static void *record_at(uint8_t *bytes, unsigned int at, CUpti_ActivityKind kind)
{
	CUpti_Activity *record =
		(CUpti_Activity *)(void *)(bytes + at * STRIDE);

	record->kind = kind;
	return record;
}

static void call_at(uint8_t *bytes, unsigned int at, uint64_t start,
		    uint32_t number)
{
	CUpti_ActivityAPI *call =
		record_at(bytes, at, CUPTI_ACTIVITY_KIND_RUNTIME);

	call->cbid = number;
	call->start = start;
	call->end = start + 1;
	call->threadId = 42;
	call->correlationId = 1;
}

static void hand_over(uint8_t *bytes, unsigned int records)
{
	cupti_buffers_complete(NULL, 0, bytes, CUPTI_SMALL_BYTES,
			       records * STRIDE);
	flushed = clock_ticks();
	cupti_source_poll(NULL);
}

static void hand_over_nothing(void)
{
	flushed = clock_ticks();
	cupti_source_poll(NULL);
}

/* A window that is over. */
static void window_is(struct session *session, uint64_t start, uint64_t end)
{
	struct window_state *windows = &session->head->windows;

	assert_int_equal(window_open(windows, start, 0, 0, false), 0);
	assert_int_equal(window_close(windows, end, 0), 0);
}

static bool is_settled(const struct session *session, uint64_t ticks)
{
	hand_over_nothing();
	return load_relaxed(&session->head->gpu.settled_ticks) >= ticks;
}

/* Such a call has its record in a buffer that was lent when the window was
 * over. */
static void a_call_across_a_windows_end_is_awaited(void **state)
{
	struct session *session = begin();
	uint8_t *bytes;
	const uint64_t lent = lend(&bytes);
	const uint64_t over = lent - ms(session, 5);

	(void)state;
	window_is(session, over - ms(session, 50), over);
	assert_true(is_settled(session, over - ms(session, 20)));
	assert_false(is_settled(session, over));
	call_at(bytes, 0, over - 1, WAIT);
	hand_over(bytes, 1);
	assert_true(is_settled(session, lent));
	end(session);
}

static void what_is_lent_later_is_not_awaited(void **state)
{
	struct session *session = begin();
	uint8_t *bytes;
	const uint64_t over = lend(&bytes) - ms(session, 500);

	(void)state;
	window_is(session, over - ms(session, 50), over);
	assert_true(is_settled(session, over));
	end(session);
}

/* It has waited for as long as it may: once. */
static void unfinished_work_is_forced_in_time(void **state)
{
	struct session *session = begin();
	uint8_t *bytes;
	uint64_t over;

	(void)state;
	over = lend(&bytes) + ms(session, 1);
	session->head->options.gpu_wait_ms = 3600000;
	window_is(session, over - ms(session, 50), over);
	assert_false(is_settled(session, over));
	assert_int_equal(forces, 0);
	assert_true(!load_relaxed(&session->head->gpu.hurried_ticks));
	session->head->options.gpu_wait_ms = 0;
	while (clock_ticks() < over)
		continue;
	for (int i = 0; i < 3; i++)
		assert_false(is_settled(session, over));
	assert_int_equal(forces, 1);
	assert_true(load_relaxed(&session->head->gpu.hurried_ticks) >= over);
	forced = clock_ticks();
	assert_true(is_settled(session, over));
	end(session);
}

/* Each answer wakes the writer, which would ask again. */
static void a_window_that_waits_asks_now_and_then(void **state)
{
	struct session *session = begin();
	const uint64_t begun = clock_ticks();
	uint8_t *bytes;
	uint64_t over;

	(void)state;
	over = lend(&bytes) + ms(session, 1);
	window_is(session, over - ms(session, 50), over);
	asks = 0;
	for (int i = 0; i < 300; i++)
		assert_false(is_settled(session, over));
	assert_in_range(asks, 1, 1 + (clock_ticks() - begun) / ms(session, 20));
	end(session);
}

/* More records than one pass takes. */
#define MANY (400 * (CUPTI_SMALL_BYTES / STRIDE))

static void many_come(void)
{
	uint8_t *bytes;

	for (unsigned int i = 0; i < MANY / (CUPTI_SMALL_BYTES / STRIDE); i++) {
		lend(&bytes);
		for (unsigned int at = 0; at < CUPTI_SMALL_BYTES / STRIDE; at++)
			record_at(bytes, at, CUPTI_ACTIVITY_KIND_MODULE);
		cupti_buffers_complete(NULL, 0, bytes, CUPTI_SMALL_BYTES,
				       CUPTI_SMALL_BYTES);
	}
	flushed = clock_ticks();
}

/* Threads that go on fill them faster than they are decoded. */
static void an_end_waits_for_no_buffer_that_comes_later(void **state)
{
	struct session *session = begin();
	unsigned int rounds = 1;
	uint64_t over;

	(void)state;
	assert_int_equal(window_open(&session->head->windows, clock_ticks(), 0,
				     0, false),
			 0);
	is_ending = true;
	many_come();
	over = flushed;
	cupti_source_poll(NULL);
	assert_true(cupti_source_awaits(over));
	for (; rounds < 8 && cupti_source_awaits(over); rounds++) {
		many_come();
		cupti_source_poll(NULL);
	}
	assert_false(cupti_source_awaits(over));
	assert_in_range(session->head->gpu.unknown, MANY,
			(uint64_t)rounds * MANY - 1);
	is_ending = false;
	end(session);
}

static void what_nobody_knows_is_counted(void **state)
{
	struct session *session = begin();
	uint8_t *bytes;

	(void)state;
	lend(&bytes);
	call_at(bytes, 0, clock_ticks(), LAUNCH);
	record_at(bytes, 1, CUPTI_ACTIVITY_KIND_MODULE);
	record_at(bytes, 2, (CUpti_ActivityKind)999);
	hand_over(bytes, 3);
	assert_int_equal(session->head->gpu.unknown, 2);
	assert_int_equal(session->head->gpu.launches, 1);
	end(session);
}

static uint64_t pushed(struct session *session)
{
	return thread_each(session, NULL)->ring.committed;
}

/* The first filled one buffer, the second is in the next, which CUPTI keeps for
 * longer than such a call waits as a rule. */
static void a_driver_call_waits_for_the_buffer_of_its_runtime_call(void **state)
{
	struct session *session = begin();
	const uint64_t start = clock_ticks();
	uint8_t *first, *second;

	(void)state;
	lend(&first);
	lend(&second);
	call_at(first, 0, start, LAUNCH);
	((CUpti_Activity *)(void *)first)->kind = CUPTI_ACTIVITY_KIND_DRIVER;
	hand_over(first, 1);
	usleep(1100000);
	hand_over_nothing();
	assert_int_equal(pushed(session), 0);
	call_at(second, 0, start - 1, LAUNCH);
	((CUpti_ActivityAPI *)(void *)second)->end = start + 2;
	hand_over(second, 1);
	assert_int_equal(pushed(session), 1);
	end(session);
}

/* It would hold up each window from then on. */
static void a_buffer_that_cannot_be_forced_back_is_not_awaited(void **state)
{
	struct session *session = begin();
	uint8_t *first, *kept;

	(void)state;
	lend(&kept);
	lend(&first);
	call_at(first, 0, clock_ticks(), LAUNCH);
	((CUpti_Activity *)(void *)first)->kind = CUPTI_ACTIVITY_KIND_DRIVER;
	hand_over(first, 1);
	forced = clock_ticks();
	usleep(1100000);
	hand_over_nothing();
	assert_int_equal(pushed(session), 1);
	end(session);
}

static struct event call_of(uint64_t correlation, bool is_driver,
			    uint64_t start, uint64_t end)
{
	return (struct event){
		.kind = EVENT_GPU_API,
		.extra = 42,
		.start_ticks = start,
		.end_ticks = end,
		.api = {.correlation = correlation, .is_driver = is_driver}};
}

static void only_the_outermost_call_is_shown(void **state)
{
	struct event out[CUPTI_PAIRS_OUT];
	struct event inner = call_of(1, true, 12, 18);
	struct event other = call_of(1, true, 13, 14);
	struct event outer = call_of(1, false, 10, 20);
	struct event alone = call_of(2, true, 30, 40);
	uint64_t doubled = 0;

	(void)state;
	cupti_pairs_forget();
	assert_int_equal(cupti_pairs_add(&inner, out, &doubled), 0);
	assert_int_equal(cupti_pairs_add(&other, out, &doubled), 0);
	assert_int_equal(cupti_pairs_add(&outer, out, &doubled), 1);
	assert_false(out[0].api.is_driver);
	assert_int_equal(doubled, 2);
	/* Of a buffer that came late. */
	assert_int_equal(cupti_pairs_add(&inner, out, &doubled), 0);
	assert_int_equal(doubled, 3);
	/* The program's own: shown when its thread goes on. */
	assert_int_equal(cupti_pairs_add(&alone, out, &doubled), 0);
	outer = call_of(3, false, 50, 60);
	assert_int_equal(cupti_pairs_add(&outer, out, &doubled), 2);
	assert_int_equal(out[0].api.correlation, 2);
	assert_int_equal(out[1].api.correlation, 3);
	assert_int_equal(doubled, 3);
}

/* Sixteen threads have a place together; more of them are in a call at once. */
static void more_callers_than_are_followed_are_counted(void **state)
{
	struct session *session = fixture_begin(4);
	struct event out[CUPTI_PAIRS_OUT];
	uint64_t doubled = 0;

	(void)state;
	cupti_pairs_forget();
	for (uint32_t i = 0; i < 18; i++) {
		struct event inner = call_of(1 + i, true, 12, 18);

		inner.extra = 1 + 128 * i;
		assert_int_equal(cupti_pairs_add(&inner, out, &doubled),
				 i < 16 ? 0 : 1);
	}
	assert_int_equal(session->head->gpu.unpaired, 2);
	assert_int_equal(load_relaxed(&session->head->note_count), 1);
	cupti_pairs_forget();
	fixture_end(session);
}

static void a_driver_call_does_not_wait_for_ever(void **state)
{
	struct event out[CUPTI_PAIRS_OUT];
	struct event alone = call_of(2, true, 30, 40);
	uint64_t doubled = 0;

	(void)state;
	cupti_pairs_forget();
	assert_true(cupti_pairs_oldest() == UINT64_MAX);
	cupti_pairs_add(&alone, out, &doubled);
	assert_int_equal(cupti_pairs_oldest(), 30);
	assert_false(cupti_pairs_overdue(40, out));
	assert_true(cupti_pairs_overdue(41, out));
	assert_int_equal(out[0].api.correlation, 2);
	assert_false(cupti_pairs_overdue(UINT64_MAX, out));
	assert_true(cupti_pairs_oldest() == UINT64_MAX);
}

/* The thread stood still in between, or its records came in another order:
 * what was shown stands for all of them. */
static void a_call_is_shown_once_however_late(void **state)
{
	struct event out[CUPTI_PAIRS_OUT];
	struct event inner = call_of(2, true, 30, 40);
	struct event second = call_of(2, true, 41, 43);
	struct event outer = call_of(2, false, 29, 50);
	struct event next = call_of(3, false, 60, 70);
	uint64_t doubled = 0;

	(void)state;
	cupti_pairs_forget();
	cupti_pairs_add(&inner, out, &doubled);
	assert_true(cupti_pairs_overdue(41, out));
	assert_int_equal(cupti_pairs_add(&second, out, &doubled), 0);
	assert_false(cupti_pairs_overdue(UINT64_MAX, out));
	assert_int_equal(cupti_pairs_add(&outer, out, &doubled), 0);
	assert_int_equal(doubled, 2);
	cupti_pairs_forget();
	cupti_pairs_add(&inner, out, &doubled);
	assert_int_equal(cupti_pairs_add(&next, out, &doubled), 2);
	assert_int_equal(cupti_pairs_add(&outer, out, &doubled), 0);
	assert_int_equal(doubled, 3);
}

/* The kinds were off in between: CUPTI gives the same number to another call,
 * and what is late from before is known still. */
static void a_number_that_comes_anew_is_another_call(void **state)
{
	struct event out[CUPTI_PAIRS_OUT];
	struct event before = call_of(2, true, 30, 40);
	struct event around = call_of(2, false, 29, 50);
	struct event anew = call_of(2, true, 130, 140);
	uint64_t doubled = 0;

	(void)state;
	cupti_pairs_forget();
	cupti_pairs_add(&before, out, &doubled);
	assert_true(cupti_pairs_overdue(41, out));
	kinds_since = 100;
	assert_int_equal(cupti_pairs_add(&around, out, &doubled), 0);
	assert_int_equal(doubled, 1);
	cupti_pairs_add(&anew, out, &doubled);
	assert_true(cupti_pairs_overdue(141, out));
	assert_int_equal(doubled, 1);
	kinds_since = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_the_outermost_call_is_shown),
		cmocka_unit_test(more_callers_than_are_followed_are_counted),
		cmocka_unit_test(a_driver_call_does_not_wait_for_ever),
		cmocka_unit_test(
			a_driver_call_waits_for_the_buffer_of_its_runtime_call),
		cmocka_unit_test(
			a_buffer_that_cannot_be_forced_back_is_not_awaited),
		cmocka_unit_test(a_call_is_shown_once_however_late),
		cmocka_unit_test(a_number_that_comes_anew_is_another_call),
		cmocka_unit_test(a_call_across_a_windows_end_is_awaited),
		cmocka_unit_test(what_is_lent_later_is_not_awaited),
		cmocka_unit_test(unfinished_work_is_forced_in_time),
		cmocka_unit_test(a_window_that_waits_asks_now_and_then),
		cmocka_unit_test(an_end_waits_for_no_buffer_that_comes_later),
		cmocka_unit_test(what_nobody_knows_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	return cmocka_skip_all("no CUPTI without CUDA's headers");
}

#endif
