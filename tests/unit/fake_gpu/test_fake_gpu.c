/* SPDX-License-Identifier: MIT */
/*
 * test_fake_gpu.c - the simulated GPU, called function by function: codes,
 * callbacks, buffers, and the rules whose breach ends the program.
 */
#include "tests/unit/cmocka_base.h"

#ifdef HAVE_CUPTI
#include "tests/unit/fake_gpu_client.h"

static void walk_codes(void)
{
	_Alignas(8) uint8_t bytes[80] = {0};
	CUpti_Activity *record = NULL;
	CUpti_ActivityAPI *api = (CUpti_ActivityAPI *)bytes;

	CHECK(gpu.cuptiActivityGetNextRecord(NULL, 80, &record) ==
	      CUPTI_ERROR_INVALID_PARAMETER);
	CHECK(gpu.cuptiActivityGetNextRecord(bytes, 0, &record) ==
	      CUPTI_ERROR_MAX_LIMIT_REACHED);
	CHECK(gpu.cuptiActivityGetNextRecord(bytes, 80, &record) ==
	      CUPTI_ERROR_INVALID_KIND);
	api[0].kind = api[1].kind = CUPTI_ACTIVITY_KIND_RUNTIME;
	CHECK(gpu.cuptiActivityGetNextRecord(bytes, 79, &record) == 0);
	CHECK((void *)record == &api[0]);
	CHECK(gpu.cuptiActivityGetNextRecord(bytes, 79, &record) ==
	      CUPTI_ERROR_MAX_LIMIT_REACHED);
	CHECK(gpu.cuptiActivityGetNextRecord(bytes, 80, &record) == 0);
	CHECK((void *)record == &api[1]);
	CHECK(gpu.cuptiActivityGetNextRecord(bytes, 80, &record) ==
	      CUPTI_ERROR_MAX_LIMIT_REACHED);
}

static void one_subscriber(void)
{
	CUpti_SubscriberHandle first, second;
	char name[64] = "";
	CUpti_SubscriberParams params = {
		.structSize = sizeof(params),
		.oldSubscriberName = name,
		.oldSubscriberSize = sizeof(name),
	};

	CHECK(gpu.cuptiSubscribe(&first, never, NULL) == 0);
	CHECK(gpu.cuptiSubscribe_v2(&second, never, NULL, &params) ==
	      CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
	CHECK(strcmp(name, "CUPTI for unnamed") == 0);
	CHECK(gpu.cuptiUnsubscribe(NULL) == CUPTI_ERROR_INVALID_PARAMETER);
	CHECK(gpu.cuptiUnsubscribe(first) == 0);
	CHECK(gpu.cuptiSubscribe(&second, never, NULL) == 0);
}

static void kinds_that_are_gone(void)
{
	CHECK(gpu.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_INVALID) ==
	      CUPTI_ERROR_INVALID_KIND);
	CHECK(gpu.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_EVENT) ==
	      CUPTI_ERROR_INVALID_KIND);
	CHECK(gpu.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_RUNTIME) == 0);
}

static void external_ids(void)
{
	static const int kinds[] = {CUPTI_ACTIVITY_KIND_RUNTIME,
				    CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
				    0};
	const CUpti_ExternalCorrelationKind kind =
		CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2;
	const CUpti_ActivityExternalCorrelation *external;
	CUpti_SubscriberHandle handle;
	uint64_t id = 0;
	int device;

	begin(kinds, &handle, never);
	CHECK(gpu.cuptiActivityPopExternalCorrelationId(kind, &id) ==
	      CUPTI_ERROR_QUEUE_EMPTY);
	CHECK(gpu.cudaGetDevice(&device) == 0);
	CHECK(gpu.cuptiActivityPushExternalCorrelationId(kind, 4711) == 0);
	CHECK(gpu.cudaGetDevice(&device) == 0);
	CHECK(gpu.cuptiActivityPopExternalCorrelationId(kind, &id) == 0);
	CHECK(id == 4711);
	CHECK(gpu.cuptiActivityFlushAll(0) == 0);
	external = (void *)nth(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, 0);
	CHECK(external && external->externalId == 4711);
	CHECK(external->correlationId ==
	      ((const CUpti_ActivityAPI *)nth(CUPTI_ACTIVITY_KIND_RUNTIME, 1))
		      ->correlationId);
	CHECK(!nth(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, 1));
}

static int entered, left;

static void on_malloc(void *unused, CUpti_CallbackDomain domain,
		      CUpti_CallbackId cbid, const void *data)
{
	const CUpti_CallbackData *call = data;
	const cudaMalloc_v3020_params *params = call->functionParams;

	(void)unused;
	CHECK(domain == CUPTI_CB_DOMAIN_RUNTIME_API);
	CHECK(cbid == CUPTI_RUNTIME_TRACE_CBID_cudaMalloc_v3020);
	CHECK(strcmp(call->functionName, "cudaMalloc") == 0);
	CHECK(params->size == 4096 && call->correlationId != 0);
	if (call->callbackSite == CUPTI_API_ENTER) {
		*call->correlationData = 42;
		entered++;
	} else {
		CHECK(*call->correlationData == 42);
		CHECK(*(const int *)call->functionReturnValue == 0);
		left++;
	}
}

static void callbacks_around_a_call(void)
{
	CUpti_SubscriberHandle handle;
	void *memory = NULL;

	CHECK(gpu.cuptiSubscribe(&handle, on_malloc, NULL) == 0);
	CHECK(gpu.cudaMalloc(&memory, 4096) == 0 && !entered);
	CHECK(gpu.cuptiEnableCallback(
		      1, handle, CUPTI_CB_DOMAIN_RUNTIME_API,
		      CUPTI_RUNTIME_TRACE_CBID_cudaMalloc_v3020) == 0);
	CHECK(gpu.cudaMalloc(&memory, 4096) == 0);
	CHECK(gpu.cudaFree(memory) == 0);
	CHECK(entered == 1 && left == 1);
}

static void noisy_calls_off(void)
{
	static const int kinds[] = {CUPTI_ACTIVITY_KIND_RUNTIME, 0};
	CUpti_SubscriberHandle handle;
	int device;

	begin(kinds, &handle, never);
	CHECK(gpu.cuptiActivityEnableRuntimeApi(
		      CUPTI_RUNTIME_TRACE_CBID_cudaGetDevice_v3020, 0) == 0);
	CHECK(gpu.cudaGetDevice(&device) == 0);
	CHECK(gpu.cudaGetLastError() == 0);
	CHECK(gpu.cuptiActivityFlushAll(0) == 0);
	CHECK(((const CUpti_ActivityAPI *)nth(CUPTI_ACTIVITY_KIND_RUNTIME, 0))
		      ->cbid ==
	      CUPTI_RUNTIME_TRACE_CBID_cudaGetLastError_v3020);
	CHECK(!nth(CUPTI_ACTIVITY_KIND_RUNTIME, 1));
}

static void attached_late(void)
{
	static const int kinds[] = {CUPTI_ACTIVITY_KIND_DEVICE, 0};
	CUpti_SubscriberHandle handle;
	void *memory;

	CHECK(gpu.cudaMalloc(&memory, 1) == 0);
	begin(kinds, &handle, never);
	CHECK(gpu.cuptiActivityFlushAll(0) == 0);
	CHECK(!nth(CUPTI_ACTIVITY_KIND_DEVICE, 0));
	CHECK(gpu.cuptiActivityEnableAndDump(CUPTI_ACTIVITY_KIND_DEVICE) == 0);
	CHECK(gpu.cuptiActivityEnableAndDump(CUPTI_ACTIVITY_KIND_CONTEXT) == 0);
	CHECK(gpu.cuptiActivityFlushAll(0) == 0);
	CHECK(nth(CUPTI_ACTIVITY_KIND_DEVICE, 0) != NULL);
	CHECK(nth(CUPTI_ACTIVITY_KIND_CONTEXT, 0) != NULL);
}

static uint64_t seven(void)
{
	static _Atomic uint64_t time = 7000000;

	return time += 1000;
}

/* A clock of the client's own, in units of its own. */
static void clocks(void)
{
	static const int kinds[] = {CUPTI_ACTIVITY_KIND_MEMSET,
				    CUPTI_ACTIVITY_KIND_RUNTIME, 0};
	const CUpti_ActivityMemset4 *set;
	CUpti_SubscriberHandle handle;
	void *memory;

	CHECK(gpu.cuptiActivityRegisterTimestampCallback(seven) == 0);
	begin(kinds, &handle, never);
	CHECK(gpu.cudaMalloc(&memory, 4096) == 0);
	CHECK(gpu.cudaMemset(memory, 1, 4096) == 0);
	CHECK(gpu.cudaDeviceSynchronize() == 0);
	CHECK(gpu.cuptiActivityFlushAll(0) == 0);
	set = (void *)nth(CUPTI_ACTIVITY_KIND_MEMSET, 0);
	CHECK(set && set->start >= 7000000 && set->end < seven());
	CHECK(set->start <= set->end);
}

static uint64_t monotonic(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Registering again spoils three records, which then begin too early. */
static void clock_twice(void)
{
	static const int kinds[] = {CUPTI_ACTIVITY_KIND_MEMSET, 0};
	CUpti_SubscriberHandle handle;
	uint64_t again;
	void *memory;
	int before = 0;

	CHECK(gpu.cuptiActivityRegisterTimestampCallback(monotonic) == 0);
	begin(kinds, &handle, never);
	CHECK(gpu.cudaMalloc(&memory, 4096) == 0);
	CHECK(gpu.cudaMemset(memory, 1, 4096) == 0);
	CHECK(gpu.cudaDeviceSynchronize() == 0);
	CHECK(gpu.cuptiActivityFlushAll(0) == 0);
	again = monotonic();
	CHECK(gpu.cuptiActivityRegisterTimestampCallback(monotonic) == 0);
	for (int i = 0; i < 4; i++)
		CHECK(gpu.cudaMemset(memory, 1, 4096) == 0);
	CHECK(gpu.cudaDeviceSynchronize() == 0);
	CHECK(gpu.cuptiActivityFlushAll(0) == 0);
	for (int i = 0; i < 5; i++) {
		const CUpti_ActivityMemset4 *set =
			(void *)nth(CUPTI_ACTIVITY_KIND_MEMSET, i);

		CHECK(set && set->end < monotonic());
		before += set->start < again;
	}
	/* The first one, and three that are a millisecond too early. */
	CHECK(before == 4);
}

static void *flush(void *unused)
{
	CHECK(gpu.cuptiActivityFlushAll(0) == 0);
	return unused;
}

static void many_threads_flush(void)
{
	static const int kinds[] = {CUPTI_ACTIVITY_KIND_RUNTIME, 0};
	CUpti_SubscriberHandle handle;
	pthread_t threads[4];
	int device;

	begin(kinds, &handle, never);
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, flush, NULL);
	for (int i = 0; i < 100; i++)
		CHECK(gpu.cudaGetDevice(&device) == 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	CHECK(gpu.cuptiActivityFlushAll(0) == 0);
	CHECK(nth(CUPTI_ACTIVITY_KIND_RUNTIME, 99) != NULL);
	CHECK(!nth(CUPTI_ACTIVITY_KIND_RUNTIME, 100));
}

static void forked(void)
{
	void *memory;
	int status;

	CHECK(gpu.cudaMalloc(&memory, 16) == 0);
	const pid_t child = fork();
	if (child == 0)
		_exit(gpu.cudaMalloc(&memory, 16));
	CHECK(waitpid(child, &status, 0) == child);
	CHECK(WEXITSTATUS(status) == cudaErrorInitializationError);
}

static void make_calls(int twice, int filled, uint8_t zeroed)
{
	static const int kinds[] = {CUPTI_ACTIVITY_KIND_RUNTIME, 0};
	CUpti_SubscriberHandle handle;
	size_t size = sizeof(zeroed);
	int device;

	hand_out_twice = twice;
	dirty = filled;
	CHECK(gpu.cuptiActivitySetAttribute(
		      CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &size,
		      &zeroed) == 0);
	begin(kinds, &handle, never);
	for (size_t i = 0; i < BUFFER_SIZE / sizeof(CUpti_ActivityAPI) + 2; i++)
		CHECK(gpu.cudaGetDevice(&device) == 0);
}

static void buffer_twice(void)
{
	make_calls(1, 0, 1);
}

static void buffer_dirty(void)
{
	make_calls(0, 0x55, 1);
}

static void buffer_cleaned_by_cupti(void)
{
	make_calls(0, 0x55, 0);
}

/* clang-format off */
#define TESTS(X)							\
	X(walk_codes, "", 0)						\
	X(one_subscriber, "", 0)					\
	X(kinds_that_are_gone, "", 0)					\
	X(external_ids, "", 0)						\
	X(callbacks_around_a_call, "", 0)				\
	X(noisy_calls_off, "", 0)					\
	X(attached_late, "", 0)						\
	X(clocks, "", 0)						\
	X(clock_twice, "", 0)						\
	X(many_threads_flush, "SIMGPU_COMPLETE_ON=worker", 0)		\
	X(forked, "", 0)						\
	X(buffer_twice, "SIMGPU_COMPLETE_ON=flusher", -SIGABRT)		\
	X(buffer_dirty, "", -SIGABRT)					\
	X(buffer_cleaned_by_cupti, "", 0)
/* clang-format on */

TESTS(TEST_OF)

int main(void)
{
	const struct CMUnitTest tests[] = {TESTS(ENTRY_OF)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	return cmocka_skip_all("no double without CUDA's headers");
}

#endif
