/* SPDX-License-Identifier: MIT */
/*
 * test_fake_gpu_kinds.c - the simulated GPU when kinds go off and on again, and
 * when threads flush what others write: what some versions of CUPTI spoil.
 */
#include "tests/unit/cmocka_base.h"

#ifdef HAVE_CUPTI
#include "tests/unit/fake_gpu_client.h"

#include <time.h>

#define KERNELS	  CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL

/* Of KERNEL_NS=200000000. */
#define LENGTH_NS 200000000u
#define PAUSE_NS  400000000u

static CUpti_SubscriberHandle handle;
static cudaStream_t stream;

static void kernel(void)
{
}

static void start(void)
{
	static const int kinds[] = {KERNELS, CUPTI_ACTIVITY_KIND_RUNTIME, 0};
	void *cudart = library("libcudart.so.13");
	void **(*module)(void *);
	void (*function)(void **, const void *, void *, const char *, int,
			 void *, void *, void *, void *, void *);

	*(void **)&module = dlsym(cudart, "__cudaRegisterFatBinary");
	*(void **)&function = dlsym(cudart, "__cudaRegisterFunction");
	CHECK(module && function);
	function(module(NULL), (const void *)kernel, NULL, "_Z6kernelv", -1,
		 NULL, NULL, NULL, NULL, NULL);
	begin(kinds, &handle, never);
	CHECK(gpu.cudaStreamCreate(&stream) == 0);
}

static void launch(void)
{
	const dim3 one = {1, 1, 1};

	CHECK(gpu.cudaLaunchKernel((const void *)kernel, one, one, NULL, 0,
				   stream) == 0);
}

static void pause_for(uint64_t ns)
{
	const struct timespec time = {(time_t)(ns / 1000000000),
				      (long)(ns % 1000000000)};

	nanosleep(&time, NULL);
}

/* The kernel that runs while kernels are disabled. */
static uint64_t length_of_cut(void)
{
	const CUpti_ActivityKernel10 *record;

	start();
	launch();
	CHECK(gpu.cuptiActivityDisable(KERNELS) == 0);
	pause_for(PAUSE_NS);
	CHECK(gpu.cuptiActivityEnable(KERNELS) == 0);
	CHECK(gpu.cuptiActivityFlushAll(0) == 0);
	record = (const void *)nth(KERNELS, 0);
	CHECK(record != NULL);
	return record->end - record->start;
}

static void cut_off(void)
{
	CHECK(length_of_cut() > PAUSE_NS / 4 * 3);
}

static void not_cut_off(void)
{
	CHECK(length_of_cut() < PAUSE_NS / 4 * 3);
}

static void disabled_at_work(void)
{
	start();
	launch();
	alarm(2);
	CHECK(gpu.cuptiActivityDisable(KERNELS) == 0);
}

static void disabled_at_rest(void)
{
	start();
	launch();
	CHECK(gpu.cudaStreamSynchronize(stream) == 0);
	alarm(2);
	CHECK(gpu.cuptiActivityDisable(KERNELS) == 0);
}

static void enabled_again(void)
{
	start();
	CHECK(gpu.cuptiActivityDisable(KERNELS) == 0);
	alarm(2);
	CHECK(gpu.cuptiActivityEnable(KERNELS) == 0);
}

/* Whether a graph's kernel has the correlation of the graph's launch. */
static int is_correlated(int which)
{
	const CUpti_ActivityKernel10 *record;
	const CUpti_ActivityAPI *call;

	CHECK(gpu.cudaStreamSynchronize(stream) == 0);
	CHECK(gpu.cuptiActivityFlushAll(0) == 0);
	record = (const void *)nth(KERNELS, which);
	CHECK(record != NULL);
	for (int i = 0;; i++) {
		call = (const void *)nth(CUPTI_ACTIVITY_KIND_RUNTIME, i);
		if (!call)
			return 0;
		if (call->correlationId == record->correlationId)
			return call->cbid ==
			       CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000;
	}
}

static int is_right_the_second_time(void)
{
	cudaGraphExec_t executable;
	cudaGraph_t graph;

	start();
	CHECK(gpu.cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) ==
	      0);
	launch();
	CHECK(gpu.cudaStreamEndCapture(stream, &graph) == 0);
	CHECK(gpu.cudaGraphInstantiate(&executable, graph, 0) == 0);
	CHECK(gpu.cudaGraphLaunch(executable, stream) == 0);
	CHECK(is_correlated(0));
	CHECK(gpu.cuptiActivityDisable(KERNELS) == 0);
	CHECK(gpu.cuptiActivityEnable(KERNELS) == 0);
	CHECK(gpu.cudaGraphLaunch(executable, stream) == 0);
	return is_correlated(1);
}

static void ids_are_wrong(void)
{
	CHECK(!is_right_the_second_time());
}

static void ids_are_right(void)
{
	CHECK(is_right_the_second_time());
}

/* A call's number once kernels were off and on again, less one's before. */
static int64_t numbers_apart(void)
{
	const CUpti_ActivityAPI *call;
	int64_t first = 0, last = 0;
	int device;

	start();
	for (int i = 0; i < 3; i++)
		CHECK(gpu.cudaGetDevice(&device) == 0);
	CHECK(gpu.cuptiActivityDisable(KERNELS) == 0);
	CHECK(gpu.cuptiActivityEnable(KERNELS) == 0);
	CHECK(gpu.cudaGetDevice(&device) == 0);
	CHECK(gpu.cuptiActivityFlushAll(0) == 0);
	for (int i = 0;; i++) {
		call = (const void *)nth(CUPTI_ACTIVITY_KIND_RUNTIME, i);
		if (!call)
			return last - first;
		first = i ? first : call->correlationId;
		last = call->correlationId;
	}
}

static void ids_go_on(void)
{
	CHECK(numbers_apart() > 0);
}

static void ids_begin_anew(void)
{
	CHECK(numbers_apart() <= 0);
}

static void *flush(void *unused)
{
	CHECK(gpu.cuptiActivityFlushAll(0) == 0);
	return unused;
}

static int calls_seen(void)
{
	static const int kinds[] = {CUPTI_ACTIVITY_KIND_RUNTIME, 0};
	pthread_t other;
	int device, count = 0;

	begin(kinds, &handle, never);
	CHECK(gpu.cudaGetDevice(&device) == 0);
	pthread_create(&other, NULL, flush, NULL);
	pthread_join(other, NULL);
	for (int i = 0; i < 3; i++)
		CHECK(gpu.cudaGetDevice(&device) == 0);
	CHECK(gpu.cuptiActivityFlushAll(0) == 0);
	while (nth(CUPTI_ACTIVITY_KIND_RUNTIME, count))
		count++;
	return count;
}

static void one_is_lost(void)
{
	CHECK(calls_seen() == 3);
}

static void none_is_lost(void)
{
	CHECK(calls_seen() == 4);
}

/* Of who turns the kind on when CUDA is in use already. */
static int is_told_of_devices(void)
{
	start();
	CHECK(gpu.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DEVICE) == 0);
	CHECK(gpu.cuptiActivityFlushAll(0) == 0);
	return nth(CUPTI_ACTIVITY_KIND_DEVICE, 0) != NULL;
}

static void late_and_not_told(void)
{
	CHECK(!is_told_of_devices());
}

static void late_and_told(void)
{
	CHECK(is_told_of_devices());
}

/* clang-format off */
#define LONG_KERNEL "SIMGPU_KERNEL_NS=200000000 SIMGPU_WITHHOLD=0 "
#define TESTS(X)							\
	X(cut_off, LONG_KERNEL, 0)					\
	X(not_cut_off, LONG_KERNEL "SIMGPU_CARRY_OVER=0", 0)		\
	X(disabled_at_work, LONG_KERNEL "SIMGPU_VERSION=130000", -SIGALRM) \
	X(disabled_at_rest, LONG_KERNEL "SIMGPU_VERSION=130000", 0)	\
	X(ids_are_wrong, "", 0)						\
	X(ids_are_right, "SIMGPU_VERSION=130101 SIMGPU_IDS_ANEW=0", 0)	\
	X(ids_go_on, "SIMGPU_VERSION=130100", 0)			\
	X(ids_begin_anew, "SIMGPU_VERSION=130101", 0)			\
	X(one_is_lost, "SIMGPU_VERSION=24 SIMGPU_PER_THREAD=1", 0)	\
	X(none_is_lost, "SIMGPU_VERSION=25 SIMGPU_PER_THREAD=1", 0)	\
	X(late_and_not_told, "SIMGPU_VERSION=130299", 0)		\
	X(late_and_told, "SIMGPU_VERSION=130300", 0)
/* clang-format on */

TESTS(TEST_OF)

static void test_newest_disabled_at_work(void **state)
{
	(void)state;
	need_double();
	assert_int_equal(in_child(disabled_at_work, LONG_KERNEL), 0);
	assert_int_equal(in_child(disabled_at_rest, "SIMGPU_HANG_DISABLE=1"),
			 -SIGALRM);
	assert_int_equal(in_child(enabled_again, "SIMGPU_HANG_ENABLE=1"),
			 -SIGALRM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TESTS(ENTRY_OF) cmocka_unit_test(test_newest_disabled_at_work)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	return cmocka_skip_all("no double without CUDA's headers");
}

#endif
