/* SPDX-License-Identifier: MIT */
/*
 * kineto_like.c - a program with a profiler of its own, which calls CUPTI in
 * the order in which torch.profiler's Kineto does.
 *
 *	kineto_like none|old|new|brief after|first SESSIONS
 *
 * "old" subscribes once, keeps that for good, and profiles nothing if it is
 * refused.  "new" (since August 2026) doesn't subscribe.  "brief" subscribes for
 * each session, as JAX's does.  "first": before
 * anything of CUDA's is called, and the first session lies around its start.
 * Between two sessions the program goes on for a while.  Kernels are named by
 * what is going on: "before", "profiled", "between" and "after".
 *
 * STALL_MS lets it wait so long between the calls that begin and end one.
 *
 * CUPTI's functions are looked up as a program finds them that is linked to it,
 * so that whoever stands in front is called; with UNSEEN set in its library
 * alone, and with LATE only when it needs them, as JAX's plug-in does it.  Exit
 * status 77 without CUPTI.
 */
#include "driver_client.h"

#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	LAUNCHES = 20,
	PAUSE_NS = 20000000,
	ROUNDS = 200,
	BUFFER = 1 << 20,
	KERNEL = 10,
	DRIVER_CALL = 4,
	RESOURCE = 3,
	CONTEXT_CREATED = 1,
	FORCED = 1,
	START_AT = 16,
	NAME_AT = 104,
	THREAD_AT = 28,
	THREADS_BUFFERS = 9 /* an attribute */
};

static const char module_text[] =
	".version 7.0\n"
	".target sm_50\n"
	".address_size 64\n"
	".visible .entry before(.param .u64 data) { ret; }\n"
	".visible .entry profiled(.param .u64 data) { ret; }\n"
	".visible .entry between(.param .u64 data) { ret; }\n"
	".visible .entry after(.param .u64 data) { ret; }\n";

/*        name                             parameters */
#define CUPTI_FUNCTIONS(X)                                                     \
	X(cuptiGetVersion, (uint32_t *))                                       \
	X(cuptiSubscribe, (void **, void (*)(void), void *))                   \
	X(cuptiUnsubscribe, (void *))                                          \
	X(cuptiEnableCallback, (uint32_t, void *, int, uint32_t))              \
	X(cuptiActivityRegisterTimestampCallback, (uint64_t(*)(void)))         \
	X(cuptiActivityRegisterCallbacks,                                      \
	  (void (*)(uint8_t **, size_t *, size_t *),                           \
	   void (*)(void *, uint32_t, uint8_t *, size_t, size_t)))             \
	X(cuptiActivityEnable, (int))                                          \
	X(cuptiActivityDisable, (int))                                         \
	X(cuptiActivityFlushAll, (uint32_t))                                   \
	X(cuptiActivityGetAttribute, (int, size_t *, void *))                  \
	X(cuptiActivityGetNextRecord, (uint8_t *, size_t, uint8_t **))

static struct {
#define X(name, parameters) int(*name) parameters;
	CUPTI_FUNCTIONS(X)
#undef X
} cupti;

/* As a training asks for: copies, memsets, kernels, calls. */
static const int kinds[] = {1, 2, KERNEL, 5, 4, 17};

static uint8_t *lent[256];
static size_t kernels, other_names, other_times, foreign;
/* Others than before CUDA's start: whether each thread has a buffer, and whose
 * numbers threads have. */
static size_t settings;
static uint8_t threads_buffers;
static uint32_t tid;

static uint64_t its_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void lend(uint8_t **buffer, size_t *size, size_t *most)
{
	*buffer = aligned_alloc(8, BUFFER);
	*size = BUFFER;
	*most = 0;
	for (size_t i = 0; i < sizeof(lent) / sizeof(lent[0]); i++) {
		uint8_t *none = NULL;

		if (__atomic_compare_exchange_n(&lent[i], &none, *buffer, 0,
						__ATOMIC_RELAXED,
						__ATOMIC_RELAXED))
			return;
	}
}

static int is_own(const uint8_t *buffer)
{
	for (size_t i = 0; i < sizeof(lent) / sizeof(lent[0]); i++) {
		if (lent[i] == buffer) {
			lent[i] = NULL;
			return 1;
		}
	}
	return 0;
}

static void take(void *context, uint32_t stream, uint8_t *buffer, size_t size,
		 size_t valid)
{
	uint8_t *record = NULL;

	(void)context, (void)stream, (void)size;
	if (!is_own(buffer)) {
		foreign++;
		return;
	}
	while (!cupti.cuptiActivityGetNextRecord(buffer, valid, &record)) {
		const uint64_t hour = 3600 * UINT64_C(1000000000);
		const char *name;
		uint64_t start;
		uint32_t kind;

		memcpy(&kind, record, sizeof(kind));
		if (kind == DRIVER_CALL)
			settings +=
				!memcmp(record + THREAD_AT, &tid, sizeof(tid));
		if (kind != KERNEL)
			continue;
		memcpy(&name, record + NAME_AT, sizeof(name));
		memcpy(&start, record + START_AT, sizeof(start));
		kernels++;
		/* 0: CUPTI couldn't measure it. */
		other_times += start && its_clock() - start > hour;
		other_names += strcmp(name, "profiled") != 0;
	}
	free(buffer);
}

static void called(void)
{
}

/* What a program linked with CUPTI calls. */
static int find_cupti(void)
{
	void *library = dlopen("libcupti.so.13", RTLD_NOW | RTLD_GLOBAL);
	void *where = getenv("UNSEEN") ? library : RTLD_DEFAULT;
	int missing = 0;

	if (!library)
		return 0;
#define X(name, parameters)                                                    \
	*(void **)&cupti.name = dlsym(where, #name);                           \
	missing |= !cupti.name;
	CUPTI_FUNCTIONS(X)
#undef X
	return !missing;
}

static uint8_t has_threads_buffers(void)
{
	uint8_t value = 0;
	size_t bytes = sizeof(value);

	driver_check(cupti.cuptiActivityGetAttribute(THREADS_BUFFERS, &bytes,
						     &value),
		     "a buffer for each thread");
	return value;
}

static void *subscriber;

static int subscribe(void)
{
	if (cupti.cuptiSubscribe(&subscriber, called, NULL))
		return 0;
	return !cupti.cuptiEnableCallback(1, subscriber, RESOURCE,
					  CONTEXT_CREATED);
}

/* A busy machine lets it wait between any two of its calls. */
static void stall(void)
{
	const char *ms = getenv("STALL_MS");

	if (ms)
		usleep((useconds_t)atoi(ms) * 1000);
}

static void start(void)
{
	uint32_t version;
	tid = (uint32_t)syscall(SYS_gettid);
	driver_check(cupti.cuptiActivityRegisterTimestampCallback(its_clock),
		     "its clock");
	stall();
	driver_check(cupti.cuptiGetVersion(&version), "cuptiGetVersion");
	driver_check(cupti.cuptiActivityRegisterCallbacks(lend, take),
		     "its buffers");
	stall();
	if (!getenv("LATE"))
		settings += has_threads_buffers() != threads_buffers;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		driver_check(cupti.cuptiActivityEnable(kinds[i]), "its kinds");
	stall();
}

static void stop(void)
{
	stall();
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		driver_check(cupti.cuptiActivityDisable(kinds[i]), "disable");
	stall();
	driver_check(cupti.cuptiActivityFlushAll(FORCED), "flush");
	printf("profiled %zu kernels, %zu of another name, %zu of another "
	       "time, "
	       "%zu buffers and %zu settings of another\n",
	       kernels, other_names, other_times, foreign, settings);
	fflush(stdout);
	kernels = other_names = other_times = foreign = settings = 0;
}

static void *module;

static void launch(const char *name, int count)
{
	uint64_t memory = 0;
	void *arguments[] = {&memory}, *kernel;

	driver_check(driver.cuModuleGetFunction(&kernel, module, name), name);
	for (int i = 0; i < count; i++)
		driver_check(driver.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0,
						   NULL, arguments, NULL),
			     "cuLaunchKernel");
	driver_check(driver.cuStreamSynchronize(NULL), "cuStreamSynchronize");
}

static void go_on(const char *name)
{
	for (int i = 0; i < ROUNDS; i++) {
		nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
		launch(name, 1);
	}
}

static void start_cuda(void)
{
	if (!driver_find())
		exit(NO_DRIVER);
	module = driver_load(module_text);
}

int main(int argc, char **argv)
{
	const int is_first = argc > 2 && !strcmp(argv[2], "first");
	const int sessions = argc > 3 ? atoi(argv[3]) : 0;
	const int is_late = getenv("LATE") != NULL;
	const int is_brief = argc > 1 && !strcmp(argv[1], "brief");
	int works = argc > 1 && strcmp(argv[1], "none") != 0;

	if (works && !is_late && !find_cupti())
		return NO_DRIVER;
	if (works && !is_late)
		threads_buffers = has_threads_buffers();
	if (!is_first) {
		start_cuda();
		launch("before", LAUNCHES);
	}
	if (works && is_late && !find_cupti())
		return NO_DRIVER;
	if (works && !strcmp(argv[1], "old") && !subscribe()) {
		puts("refused");
		works = 0;
	}
	for (int i = 0; i < sessions; i++) {
		if (is_brief && !subscribe()) {
			puts("refused");
			works = 0;
		}
		if (works)
			start();
		if (!module)
			start_cuda();
		launch("profiled", LAUNCHES);
		if (works)
			stop();
		if (is_brief && works)
			driver_check(cupti.cuptiUnsubscribe(subscriber),
				     "cuptiUnsubscribe");
		go_on(i + 1 < sessions ? "between" : "after");
	}
	puts("done");
	return 0;
}
