/* SPDX-License-Identifier: MIT */
/*
 * gpu_probe.cu - asks CUPTI itself what its documents leave open.  No library of
 * ours is in the process.
 *
 *	withheld PER_THREAD MS	one kernel of so many ms and 100 small ones on
 *				another stream, flushed ten times meanwhile:
 *				which records come before the long one is done
 *	zeros own|callback COUNT	so many kernels: records with a time of 0
 *	devices		DEVICE records after cuInit(): of an enabling, and of
 *			EnableAndDump from another thread
 *	events timed|untimed|off COUNT	nanoseconds of a cudaEventRecord(), and
 *				by which clock the GPU's times are
 *	switching TIMES	microseconds that all kinds take to go on, and nanoseconds
 *			of a launch before, between and after
 *
 * libcupti is looked for as PROBE_CUPTI says, else by its name.  Each mode prints
 * words and numbers in one line.
 */
#include <cuda_runtime.h>
#include <cupti.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SMALL = 100, BUFFER = 1 << 16, BURST = 500, LOOKS = 10 };

#define CUPTI_FUNCTIONS(X)						\
	X(cuptiActivityEnable)						\
	X(cuptiActivityDisable)						\
	X(cuptiActivityEnableAndDump)					\
	X(cuptiActivityRegisterCallbacks)				\
	X(cuptiActivityRegisterTimestampCallback)			\
	X(cuptiActivitySetAttribute)					\
	X(cuptiActivityFlushAll)					\
	X(cuptiActivityGetNextRecord)					\
	X(cuptiActivityEnableCudaEventDeviceTimestamps)

static struct {
#define X(name) decltype(&::name) name;
	CUPTI_FUNCTIONS(X)
#undef X
} cupti;

static const CUpti_ActivityKind kinds[] = {
	CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_RUNTIME,
	CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_ACTIVITY_KIND_MEMCPY,
	CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
	CUPTI_ACTIVITY_KIND_MEMORY2, CUPTI_ACTIVITY_KIND_CUDA_EVENT};

static unsigned long seen[64], zeros, long_ones;
static uint64_t device_time;

__global__ void small_kernel(void)
{
}

__global__ void long_kernel(long long clocks)
{
	const long long start = clock64();

	while (clock64() - start < clocks)
		;
}

static void check(int error, const char *what)
{
	if (!error)
		return;
	fprintf(stderr, "gpu_probe: %s: %d\n", what, error);
	exit(1);
}

static uint64_t now_of(clockid_t id)
{
	struct timespec time;

	clock_gettime(id, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Far from every clock that there is. */
static uint64_t own_clock(void)
{
	return now_of(CLOCK_MONOTONIC) + 1000000000000000ull;
}

static void request(uint8_t **buffer, size_t *size, size_t *most)
{
	*buffer = (uint8_t *)aligned_alloc(8, BUFFER);
	*size = BUFFER;
	*most = 0;
}

static void complete(CUcontext, uint32_t, uint8_t *buffer, size_t,
		     size_t valid)
{
	CUpti_Activity *record = NULL;

	while (!cupti.cuptiActivityGetNextRecord(buffer, valid, &record)) {
		const CUpti_ActivityKernel9 *kernel =
			(const CUpti_ActivityKernel9 *)record;

		__atomic_add_fetch(&seen[record->kind % 64], 1,
				   __ATOMIC_RELAXED);
		if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
			zeros += !kernel->start || !kernel->end;
			long_ones += !!strstr(kernel->name, "long_kernel");
		} else if (record->kind == CUPTI_ACTIVITY_KIND_CUDA_EVENT &&
			   valid >= sizeof(CUpti_ActivityCudaEvent2)) {
			device_time = ((const CUpti_ActivityCudaEvent2 *)record)
					      ->deviceTimestamp;
		}
	}
	free(buffer);
}

static void find_cupti(void)
{
	const char *path = getenv("PROBE_CUPTI");
	void *library = dlopen(path && *path ? path : "libcupti.so.13",
			       RTLD_NOW | RTLD_GLOBAL);

	if (!library)
		library = dlopen("libcupti.so.12", RTLD_NOW | RTLD_GLOBAL);
	check(!library, "libcupti");
#define X(name) *(void **)&cupti.name = dlsym(library, #name);
	CUPTI_FUNCTIONS(X)
#undef X
}

static void turn(int on)
{
	for (CUpti_ActivityKind kind : kinds) {
		if (on)
			cupti.cuptiActivityEnable(kind);
		else
			cupti.cuptiActivityDisable(kind);
	}
}

static unsigned long calls_seen(void)
{
	return seen[CUPTI_ACTIVITY_KIND_RUNTIME] +
	       seen[CUPTI_ACTIVITY_KIND_DRIVER];
}

static int withheld(int per_thread, int ms)
{
	uint8_t value = (uint8_t)per_thread;
	size_t size = sizeof(value);
	cudaStream_t one, two;
	int clock_khz = 1000000, refused, calls = 0, kernels = 0;

	refused = cupti.cuptiActivitySetAttribute(
		CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, &size, &value);
	check(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking), "stream");
	check(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking), "stream");
	cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, 0);
	check(cupti.cuptiActivityRegisterCallbacks(request, complete),
	      "buffers");
	turn(1);
	long_kernel<<<1, 1, 0, one>>>((long long)clock_khz * ms);
	for (int i = 0; i < SMALL; i++)
		small_kernel<<<1, 1, 0, two>>>();
	for (int i = 0; i < LOOKS - 1; i++) {
		usleep((useconds_t)ms * 1000 / LOOKS);
		check(cupti.cuptiActivityFlushAll(0), "flush");
		if (cudaStreamQuery(one) != cudaErrorNotReady)
			break;
		calls = (int)calls_seen();
		kernels = (int)seen[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL];
	}
	check(cudaDeviceSynchronize(), "wait");
	check(cupti.cuptiActivityFlushAll(1), "flush");
	printf("withheld attribute %d refused %d calls_before %d kernels_before "
	       "%d calls %lu kernels %lu\n",
	       per_thread, refused, calls, kernels, calls_seen(),
	       seen[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL]);
	return 0;
}

static void launch_all(long count)
{
	for (long done = 0; done < count; done += BURST) {
		for (int i = 0; i < BURST; i++)
			small_kernel<<<1, 32>>>();
		check(cudaDeviceSynchronize(), "wait");
	}
}

static int zero_times(int callback, long count)
{
	if (callback)
		check(cupti.cuptiActivityRegisterTimestampCallback(own_clock),
		      "clock");
	check(cupti.cuptiActivityRegisterCallbacks(request, complete),
	      "buffers");
	check(cupti.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL),
	      "enable");
	launch_all(count);
	check(cupti.cuptiActivityFlushAll(1), "flush");
	printf("zeros %lu of %lu\n", zeros,
	       seen[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL]);
	return 0;
}

static void *dump(void *)
{
	check(cupti.cuptiActivityEnableAndDump(CUPTI_ACTIVITY_KIND_DEVICE),
	      "EnableAndDump");
	return NULL;
}

static int devices(void)
{
	pthread_t thread;
	unsigned long enabled;

	check(cudaFree(NULL), "cuInit");
	check(cupti.cuptiActivityRegisterCallbacks(request, complete),
	      "buffers");
	check(cupti.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DEVICE), "enable");
	launch_all(1);
	check(cupti.cuptiActivityFlushAll(1), "flush");
	enabled = seen[CUPTI_ACTIVITY_KIND_DEVICE];
	if (cupti.cuptiActivityEnableAndDump) {
		pthread_create(&thread, NULL, dump, NULL);
		pthread_join(thread, NULL);
		check(cupti.cuptiActivityFlushAll(1), "flush");
	}
	printf("devices enabled_late %lu dumped %lu\n", enabled,
	       seen[CUPTI_ACTIVITY_KIND_DEVICE] - enabled);
	return 0;
}

/* The clock that a time is nearest to. */
static const char *clock_of(uint64_t time)
{
	const struct {
		const char *name;
		uint64_t now;
	} clocks[] = {{"callback", own_clock()},
		      {"realtime", now_of(CLOCK_REALTIME)},
		      {"monotonic", now_of(CLOCK_MONOTONIC)},
		      {"raw", now_of(CLOCK_MONOTONIC_RAW)}};

	for (const auto &one : clocks) {
		if (time <= one.now && one.now - time < 60000000000ull)
			return one.name;
	}
	return time ? "none of them" : "none";
}

static int events(const char *how, long count)
{
	cudaEvent_t event;
	uint64_t start;

	check(cudaEventCreate(&event), "event");
	check(cupti.cuptiActivityRegisterTimestampCallback(own_clock), "clock");
	check(cupti.cuptiActivityRegisterCallbacks(request, complete),
	      "buffers");
	if (strcmp(how, "off") != 0) {
		turn(1);
		if (cupti.cuptiActivityEnableCudaEventDeviceTimestamps)
			cupti.cuptiActivityEnableCudaEventDeviceTimestamps(
				!strcmp(how, "timed"));
	}
	small_kernel<<<1, 1>>>();
	check(cudaDeviceSynchronize(), "wait");
	start = now_of(CLOCK_MONOTONIC);
	for (long i = 0; i < count; i++)
		check(cudaEventRecord(event, 0), "cudaEventRecord");
	start = now_of(CLOCK_MONOTONIC) - start;
	check(cudaDeviceSynchronize(), "wait");
	check(cupti.cuptiActivityFlushAll(1), "flush");
	printf("events %s record_ns %.1f records %lu clock %s\n", how,
	       (double)start / (double)count,
	       seen[CUPTI_ACTIVITY_KIND_CUDA_EVENT], clock_of(device_time));
	return 0;
}

static double launch_ns(void)
{
	const uint64_t start = now_of(CLOCK_MONOTONIC);
	uint64_t spent;

	for (int i = 0; i < BURST; i++)
		small_kernel<<<1, 32>>>();
	spent = now_of(CLOCK_MONOTONIC) - start;
	check(cudaDeviceSynchronize(), "wait");
	return (double)spent / BURST;
}

static int switching(int times)
{
	launch_ns();
	printf("switching before_ns %.1f", launch_ns());
	check(cupti.cuptiActivityRegisterCallbacks(request, complete),
	      "buffers");
	for (int i = 0; i < times; i++) {
		uint64_t on = now_of(CLOCK_MONOTONIC), off;
		double within;

		turn(1);
		on = now_of(CLOCK_MONOTONIC) - on;
		within = launch_ns();
		off = now_of(CLOCK_MONOTONIC);
		turn(0);
		off = now_of(CLOCK_MONOTONIC) - off;
		printf(" on_us %.1f within_ns %.1f off_us %.1f after_ns %.1f",
		       (double)on / 1000, within, (double)off / 1000,
		       launch_ns());
	}
	printf("\n");
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	find_cupti();
	if (argc == 4 && !strcmp(what, "withheld"))
		return withheld(atoi(argv[2]), atoi(argv[3]));
	if (argc == 4 && !strcmp(what, "zeros"))
		return zero_times(!strcmp(argv[2], "callback"), atol(argv[3]));
	if (argc == 2 && !strcmp(what, "devices"))
		return devices();
	if (argc == 4 && !strcmp(what, "events"))
		return events(argv[2], atol(argv[3]));
	if (argc == 3 && !strcmp(what, "switching"))
		return switching(atoi(argv[2]));
	fprintf(stderr, "gpu_probe: see the head of gpu_probe.cu\n");
	return 2;
}
