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
#include "preload/cuda/cupti_side.h"
#include "preload/cuda/cupti_source.h"
#include "collector/steps/steps.h"
#include "collector/system/cupti_versions.h"
#include "tests/unit/session_fixture.h"
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static bool is_on;
static void (*meanwhile)(void);

/* What CUPTI is set to, and how it is before us. */
struct settings {
	uint64_t kinds; /* a bit each */
	uint8_t latency, event_times, all_sync;
	uint8_t calls[2][CUPTI_CALLS_MAX]; /* whether they are recorded */
};

static struct settings now, before;
static uint64_t dumped;
/* Of managed memory: to its configuration, and to its kind. */
static CUptiResult configure_answer, unified_answer;
static uint32_t unified_kinds;
/* A bit each; asked for, whatever the answer. */
static uint64_t refused, asked;

bool cupti_is_alive(void)
{
	return true;
}

bool cupti_may_be_turned(void)
{
	return true;
}

/* What it is told of, and how often. */
static int refused_kernels, refused_calls;
static unsigned int refusals;

void cupti_attach_refused(int kernels, int calls)
{
	refused_kernels = kernels;
	refused_calls = calls;
	refusals++;
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

static uint64_t bit(CUpti_ActivityKind kind)
{
	return UINT64_C(1) << ((unsigned int)kind % 64);
}

static CUptiResult CUPTIAPI enable(CUpti_ActivityKind kind)
{
	is_on = true;
	asked |= bit(kind);
	if (refused & bit(kind))
		return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
	if (kind == CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER &&
	    unified_answer != CUPTI_SUCCESS)
		return unified_answer;
	now.kinds |= bit(kind);
	pass();
	return kind ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

static CUptiResult CUPTIAPI disable(CUpti_ActivityKind kind)
{
	is_on = false;
	now.kinds &= ~bit(kind);
	pass();
	return kind ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

static CUptiResult CUPTIAPI enable_and_dump(CUpti_ActivityKind kind)
{
	dumped |= bit(kind);
	return enable(kind);
}

static CUptiResult CUPTIAPI set_latency(uint8_t on)
{
	now.latency = on;
	return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI set_event_times(uint8_t on)
{
	now.event_times = on;
	return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI set_all_sync(uint8_t on)
{
	now.all_sync = on;
	return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI set_runtime(CUpti_CallbackId number, uint8_t on)
{
	now.calls[0][number] = on;
	return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI set_driver(CUpti_CallbackId number, uint8_t on)
{
	now.calls[1][number] = on;
	return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI
configure(CUpti_ActivityUnifiedMemoryCounterConfig *config, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		unified_kinds |= config[i].enable << config[i].kind;
	return configure_answer;
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

/* Its one window has been. */
static struct session *begin(void)
{
	struct session *session = fixture_begin(4);
	struct options *options = &session->head->options;
	char why[128];

	strcpy(options->step, "api");
	options_set(options, "ACTIVE", "1", why, sizeof(why));
	options_set(options, "REPEAT", "1", why, sizeof(why));
	steps_start(session, clock_ticks());
	store_relaxed(&session->head->windows.opened, 1);
	cupti.cuptiActivityEnable = enable;
	cupti.cuptiActivityDisable = disable;
	cupti.cuptiActivityEnableAndDump = enable_and_dump;
	cupti.cuptiActivityEnableLatencyTimestamps = set_latency;
	cupti.cuptiActivityEnableCudaEventDeviceTimestamps = set_event_times;
	cupti.cuptiActivityEnableAllSyncRecords = set_all_sync;
	cupti.cuptiActivityEnableRuntimeApi = set_runtime;
	cupti.cuptiActivityEnableDriverApi = set_driver;
	cupti.cuptiActivityConfigureUnifiedMemoryCounter = configure;
	memset(&before, 1, sizeof(before));
	before.kinds = 0;
	before.latency = before.event_times = 0;
	now = before;
	dumped = refused = 0;
	refusals = 0;
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
	steps_forget();
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
	steps_forget();
	fixture_end(session);
}

/* Versions that can't be switched off. */
static void on_for_good(void **state)
{
	static const uint32_t versions[] = {28, 130000};
	struct session *session = begin();

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		cupti_versions_start(versions[i]);
		rest(session);
		assert_true(is_on);
	}
	cupti_versions_start(130001);
	rest(session);
	assert_false(is_on);
	steps_forget();
	fixture_end(session);
}

/* Between two windows no version can. */
static void till_the_last_window(void **state)
{
	static const uint32_t versions[] = {130001, 130101, 130500, 200000};
	struct session *session = begin();

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		cupti_versions_start(versions[i]);
		store_relaxed(&session->head->windows.opened, 0);
		cupti_kinds_want(true);
		cupti_kinds_turn();
		rest(session);
		assert_true(is_on);
		store_relaxed(&session->head->windows.opened, 1);
		rest(session);
		assert_false(is_on);
	}
	steps_forget();
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
	steps_forget();
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
	steps_forget();
	fixture_end(session);
}

/* Kernels are left when all else was, since that takes time. */
static void kernels_are_last(void)
{
	assert_int_equal(now.kinds, bit(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
}

static void what_we_set_is_as_it_was(void **state)
{
	struct session *session = begin();
	struct options *options = &session->head->options;

	(void)state;
	cupti_kinds_leave(kernels_are_last);
	assert_memory_equal(&now, &before, sizeof(now));
	session->head->gpu.cupti_version = 130100;
	options->gpu_latency = 1;
	options->graphs = GRAPHS_GRAPH;
	cupti_kinds_start(options, false);
	cupti_kinds_want(true);
	cupti_kinds_turn();
	assert_true(now.latency && now.event_times && !now.all_sync);
	assert_memory_not_equal(now.calls[0], before.calls[0], CUPTI_CALLS_MAX);
	assert_memory_not_equal(now.calls[1], before.calls[1], CUPTI_CALLS_MAX);
	cupti_kinds_leave(kernels_are_last);
	assert_memory_equal(&now, &before, sizeof(now));
	options->graphs = GRAPHS_NODE;
	cupti_kinds_start(options, false);
	steps_forget();
	fixture_end(session);
}

static uint64_t kinds_of(struct session *session, uint32_t version)
{
	cupti_kinds_leave(kernels_are_last);
	session->head->gpu.cupti_version = version;
	cupti_kinds_want(false);
	cupti_kinds_turn();
	cupti_kinds_start(&session->head->options, false);
	cupti_kinds_want(true);
	cupti_kinds_turn();
	return now.kinds;
}

/* Host functions: kinds of 13.1. */
static void kinds_by_version_and_wish(void **state)
{
	struct session *session = begin();
	struct options *options = &session->head->options;
	const uint64_t always = bit(CUPTI_ACTIVITY_KIND_DEVICE) |
				bit(CUPTI_ACTIVITY_KIND_CONTEXT) |
				bit(CUPTI_ACTIVITY_KIND_STREAM) |
				bit(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) |
				bit(CUPTI_ACTIVITY_KIND_MEMCPY) |
				bit(CUPTI_ACTIVITY_KIND_MEMCPY2) |
				bit(CUPTI_ACTIVITY_KIND_MEMSET) |
				bit(CUPTI_ACTIVITY_KIND_RUNTIME) |
				bit(CUPTI_ACTIVITY_KIND_DRIVER) |
				bit(CUPTI_ACTIVITY_KIND_OVERHEAD) |
				bit(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION) |
				bit(CUPTI_ACTIVITY_KIND_MEMORY2) |
				bit(CUPTI_ACTIVITY_KIND_CUDA_EVENT) |
				bit(CUPTI_ACTIVITY_KIND_MEMORY_POOL) |
				bit(CUPTI_ACTIVITY_KIND_JIT);
	const uint64_t unified =
		bit(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
	const uint64_t host =
		bit((CUpti_ActivityKind)56) | bit((CUpti_ActivityKind)58);

	(void)state;
	assert_int_equal(kinds_of(session, 130001), always);
	assert_int_equal(kinds_of(session, 130100), always | host);
	assert_int_equal(now.latency, 0);
	options->graphs = GRAPHS_GRAPH;
	assert_int_equal(kinds_of(session, 28),
			 always | bit(CUPTI_ACTIVITY_KIND_GRAPH_TRACE));
	options->graphs = GRAPHS_NODE;
	/* Asked for inside of cuInit(), where it is too early. */
	options->unified_memory = 1;
	unified_answer = CUPTI_ERROR_NOT_READY;
	assert_int_equal(kinds_of(session, 28), always);
	unified_answer = CUPTI_SUCCESS;
	cupti_side_initialised();
	assert_int_equal(now.kinds, always | unified);
	/* All eight of them. */
	assert_int_equal(unified_kinds, 0x1fe);
	assert_int_equal(load_relaxed(&session->head->note_count), 0);
	/* Refused, which is said. */
	configure_answer = CUPTI_ERROR_NOT_SUPPORTED;
	assert_int_equal(kinds_of(session, 28), always);
	assert_int_equal(load_relaxed(&session->head->note_count), 1);
	configure_answer = CUPTI_SUCCESS;
	cupti_side_initialised();
	assert_int_equal(now.kinds, always);
	unified_answer = CUPTI_ERROR_INVALID_KIND;
	assert_int_equal(kinds_of(session, 28), always);
	assert_int_equal(load_relaxed(&session->head->note_count), 2);
	unified_answer = CUPTI_SUCCESS;
	steps_forget();
	fixture_end(session);
}

/* Of what was there before we came CUPTI tells where it is asked to. */
static void who_comes_late_asks(void **state)
{
	struct session *session = begin();

	(void)state;
	cupti_kinds_start(&session->head->options, false);
	assert_int_equal(dumped, 0);
	cupti_kinds_start(&session->head->options, true);
	assert_int_equal(dumped, bit(CUPTI_ACTIVITY_KIND_DEVICE) |
					 bit(CUPTI_ACTIVITY_KIND_CONTEXT) |
					 bit(CUPTI_ACTIVITY_KIND_STREAM));
	steps_forget();
	fixture_end(session);
}

#define KERNELS bit(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
#define RUNTIME bit(CUPTI_ACTIVITY_KIND_RUNTIME)
#define DRIVER	bit(CUPTI_ACTIVITY_KIND_DRIVER)

/* They come on once more. */
static void turn_refusing(uint64_t which)
{
	cupti_kinds_forget();
	refused = which;
	refusals = 0;
	asked = 0;
	now = before;
	for (int i = 0; i < 2; i++) {
		cupti_kinds_want(false);
		cupti_kinds_turn();
		cupti_kinds_want(true);
		cupti_kinds_turn();
	}
}

static void what_is_refused_is_said_once(void **state)
{
	const int error = CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
	struct session *session = begin();

	(void)state;
	turn_refusing(KERNELS | RUNTIME | DRIVER);
	assert_int_equal(refusals, 1);
	assert_int_equal(refused_kernels, error);
	assert_int_equal(refused_calls, error);
	/* The rest would belong to nothing. */
	assert_int_equal(now.kinds, 0);
	assert_false(cupti_kinds_are_on());
	assert_true(cupti_kinds_await());
	asked = 0;
	cupti_kinds_want(true);
	cupti_kinds_turn();
	assert_int_equal(asked, 0);
	turn_refusing(KERNELS);
	assert_int_equal(refusals, 1);
	assert_int_equal(refused_kernels, error);
	assert_int_equal(refused_calls, 0);
	assert_true(now.kinds & RUNTIME && cupti_kinds_are_on());
	assert_true(cupti_kinds_lack_kernels());
	turn_refusing(RUNTIME | DRIVER);
	assert_int_equal(refusals, 1);
	assert_int_equal(refused_kernels, 0);
	assert_int_equal(refused_calls, error);
	assert_false(cupti_kinds_lack_kernels());
	turn_refusing(DRIVER | bit(CUPTI_ACTIVITY_KIND_MEMCPY));
	assert_int_equal(refusals, 0);
	steps_forget();
	fixture_end(session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_we_set_is_as_it_was),
		cmocka_unit_test(kinds_by_version_and_wish),
		cmocka_unit_test(who_comes_late_asks),
		cmocka_unit_test(off_when_nothing_needs_them),
		cmocka_unit_test(a_wish_while_they_turn),
		cmocka_unit_test(on_for_good),
		cmocka_unit_test(till_the_last_window),
		cmocka_unit_test(awaited),
		cmocka_unit_test(awaited_in_vain),
		cmocka_unit_test(what_is_refused_is_said_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	return cmocka_skip_all("no CUPTI without CUDA's headers");
}

#endif
