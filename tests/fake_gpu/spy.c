/* SPDX-License-Identifier: MIT */
/*
 * spy.c - the simplest client of CUPTI: writes down all that it is given.
 *
 *	CUDA_INJECTION64_PATH=build/fake-gpu/libspy.so SPY_OUT=file program
 *
 * It works on a real GPU as on the simulated one.  The file is a sequence of
 * completed buffers: a struct chunk, the bytes, and the name of each kernel and
 * device record in turn, 0-terminated.  A chunk of kind CHUNK_TEXT is a line of
 * text about what CUPTI answered and which callbacks came.
 *
 *	SPY_KINDS    kinds to enable, numbers separated by commas
 *	SPY_BUFFER   bytes of a buffer (65536); 0 refuses every request
 *	SPY_CLOCK    "own": no timestamp callback
 *	SPY_NAMES    "late": read the names when the program ends
 *	SPY_SET      activity attributes, number=value separated by commas
 *	SPY_STUBBORN 1: go on after a refused subscription
 *	SPY_EXIT     "early": flush from a handler that is older than the
 *	driver's
 *
 * The last line tells the end, whichever callbacks came before.
 */
#include <cupti.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { CHUNK_BUFFER = 1, CHUNK_TEXT = 2, MOST_LATE = 4096, LONGEST_LINE = 256 };

struct chunk {
	uint32_t kind;
	uint32_t thread; /* that gave the buffer back */
	uint64_t bytes;
	uint64_t name_bytes;
	uint64_t time;
};

/* What is needed of CUPTI, found by dlsym(). */
#define CUPTI_FUNCTIONS(X)                                                     \
	X(cuptiGetVersion)                                                     \
	X(cuptiSubscribe)                                                      \
	X(cuptiEnableCallback)                                                 \
	X(cuptiEnableDomain)                                                   \
	X(cuptiSetThreadIdType)                                                \
	X(cuptiActivitySetAttribute)                                           \
	X(cuptiActivityRegisterTimestampCallback)                              \
	X(cuptiActivityRegisterCallbacks)                                      \
	X(cuptiActivityEnable)                                                 \
	X(cuptiActivityGetNextRecord)                                          \
	X(cuptiActivityGetNumDroppedRecords)                                   \
	X(cuptiActivityFlushAll)

static struct {
#define X(name) typeof(&name) name;
	CUPTI_FUNCTIONS(X)
#undef X
} cupti;

int InitializeInjection(void);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *out;
static bool is_over;  /* under the lock: the process ends */
static void *library; /* CUPTI */
static CUpti_SubscriberHandle subscriber;
static unsigned long launches, resources, fatals, buffers;
static struct late_buffer {
	struct chunk chunk;
	uint8_t *data;
} late[MOST_LATE];
static int late_count;

static const char *setting(const char *name, const char *otherwise)
{
	const char *value = getenv(name);

	return value && *value ? value : otherwise;
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
	char line[LONGEST_LINE];
	struct chunk chunk = {.kind = CHUNK_TEXT, .time = now()};
	va_list arguments;

	va_start(arguments, format);
	chunk.bytes =
		(uint64_t)vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	pthread_mutex_lock(&lock);
	fwrite(&chunk, sizeof(chunk), 1, out);
	fwrite(line, chunk.bytes, 1, out);
	fflush(out);
	pthread_mutex_unlock(&lock);
}

static void request(uint8_t **buffer, size_t *size, size_t *most)
{
	*most = 0;
	*size = strtoul(setting("SPY_BUFFER", "65536"), NULL, 0);
	*buffer = NULL;
	if (*size)
		*buffer = mmap(NULL, *size, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* NULL for a record that has none. */
static const char *name_of(const CUpti_Activity *record)
{
	const char *name = NULL;

	switch (record->kind) {
	case CUPTI_ACTIVITY_KIND_KERNEL:
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
		name = ((const CUpti_ActivityKernel10 *)record)->name;
		return name ? name : "";
	case CUPTI_ACTIVITY_KIND_DEVICE:
		name = ((const CUpti_ActivityDevice5 *)record)->name;
		return name ? name : "";
	default: return NULL;
	}
}

static void write_buffer(struct chunk *chunk, uint8_t *data)
{
	for (int pass = 0; pass < 2; pass++) {
		CUpti_Activity *record = NULL;

		while (cupti.cuptiActivityGetNextRecord(data, chunk->bytes,
							&record) == 0) {
			const char *name = name_of(record);

			if (!name)
				continue;
			if (pass == 0)
				chunk->name_bytes += strlen(name) + 1;
			else
				fwrite(name, strlen(name) + 1, 1, out);
		}
		if (pass == 0) {
			fwrite(chunk, sizeof(*chunk), 1, out);
			fwrite(data, chunk->bytes, 1, out);
		}
	}
	fflush(out);
}

static void complete(CUcontext context, uint32_t stream, uint8_t *buffer,
		     size_t size, size_t valid)
{
	struct chunk chunk = {
		.kind = CHUNK_BUFFER,
		.thread = (uint32_t)gettid(),
		.bytes = valid,
		.time = now(),
	};

	(void)context, (void)stream;
	pthread_mutex_lock(&lock);
	if (is_over) {
		pthread_mutex_unlock(&lock);
		return;
	}
	buffers++;
	if (strcmp(setting("SPY_NAMES", ""), "late") == 0 &&
	    late_count < MOST_LATE) {
		late[late_count++] = (struct late_buffer){chunk, buffer};
	} else {
		write_buffer(&chunk, buffer);
		munmap(buffer, size);
	}
	pthread_mutex_unlock(&lock);
}

/* Another thread's buffer is written whole, or not at all. */
static __attribute__((destructor)) void stop_writing(void)
{
	pthread_mutex_lock(&lock);
	is_over = true;
	pthread_mutex_unlock(&lock);
}

static void at_end(void)
{
	static int done;
	size_t dropped = 0;

	if (done++)
		return;
	const uint64_t before = now();
	const int error = cupti.cuptiActivityFlushAll(0);

	say("waited %lu ns for a flush", now() - before);
	say("flush %d", error);
	say("flush forced %d",
	    cupti.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
	say("dropped %d",
	    cupti.cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped));
	for (int i = 0; i < late_count; i++)
		write_buffer(&late[i].chunk, late[i].data);
	say("end: %lu buffers, %lu launches, %lu resources, %lu fatal, %zu "
	    "dropped",
	    buffers, launches, resources, fatals, dropped);
}

static void called(void *unused, CUpti_CallbackDomain domain,
		   CUpti_CallbackId cbid, const void *data)
{
	const CUpti_CallbackData *call = data;

	(void)unused;
	if (domain == CUPTI_CB_DOMAIN_STATE) {
		__atomic_add_fetch(&fatals, 1, __ATOMIC_RELAXED);
	} else if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
		__atomic_add_fetch(&resources, 1, __ATOMIC_RELAXED);
		if ((cbid == CUPTI_CBID_RESOURCE_CU_INIT_FINISHED ||
		     cbid == CUPTI_CBID_RESOURCE_CONTEXT_CREATED) &&
		    strcmp(setting("SPY_EXIT", ""), "early") != 0)
			atexit(at_end);
	} else if (call->callbackSite == CUPTI_API_ENTER) {
		__atomic_add_fetch(&launches, 1, __ATOMIC_RELAXED);
	}
}

static void set_attributes(void)
{
	char *list = strdup(setting("SPY_SET", "")), *rest = list, *item;

	while ((item = strsep(&rest, ",")) != NULL) {
		int attribute;
		uint64_t value;
		size_t size = sizeof(value);

		if (sscanf(item, "%d=%lu", &attribute, &value) == 2)
			say("attribute %d: %d", attribute,
			    cupti.cuptiActivitySetAttribute(
				    (CUpti_ActivityAttribute)attribute, &size,
				    &value));
	}
	free(list);
}

static void enable_all(void)
{
	CUptiResult (*timed_events)(uint8_t) = NULL;

	/* From 13.0 on. */
	*(void **)&timed_events =
		dlsym(library, "cuptiActivityEnableCudaEventDeviceTimestamps");
	char *list =
		strdup(setting("SPY_KINDS", "1,2,4,5,8,9,10,17,22,36,37,38,"
					    "39,49"));
	char *rest = list, *item;

	while ((item = strsep(&rest, ",")) != NULL) {
		const int kind = atoi(item);
		const int error =
			cupti.cuptiActivityEnable((CUpti_ActivityKind)kind);

		if (error)
			say("enable %d: %d", kind, error);
		if (kind == CUPTI_ACTIVITY_KIND_CUDA_EVENT && timed_events)
			timed_events(1);
	}
	free(list);
	cupti.cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE);
	cupti.cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_STATE);
	cupti.cuptiEnableCallback(
		1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API,
		CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_v13000);
	cupti.cuptiEnableCallback(
		1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API,
		CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000);
}

static int find_cupti(void)
{
	int missing = 0;

	library = dlopen("libcupti.so.13", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		library = dlopen("libcupti.so.12", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return 0;
#define X(name)                                                                \
	*(void **)&cupti.name = dlsym(library, #name);                         \
	missing += !cupti.name;
	CUPTI_FUNCTIONS(X)
#undef X
	return !missing;
}

int InitializeInjection(void)
{
	uint32_t version = 0;
	int error;

	out = fopen(setting("SPY_OUT", "spy.out"), "w");
	if (!out || !find_cupti())
		return 0;
	cupti.cuptiGetVersion(&version);
	error = cupti.cuptiSubscribe(&subscriber, called, NULL);
	say("version %u, subscribe %d", version, error);
	if (error && strcmp(setting("SPY_STUBBORN", "0"), "1") != 0)
		return 1;
	say("thread ids %d",
	    cupti.cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM));
	set_attributes();
	if (strcmp(setting("SPY_CLOCK", ""), "own") != 0)
		say("clock %d",
		    cupti.cuptiActivityRegisterTimestampCallback(now));
	say("buffers %d",
	    cupti.cuptiActivityRegisterCallbacks(request, complete));
	enable_all();
	/* The newest handler goes first; this one is the driver's elder. */
	atexit(at_end);
	return 1;
}
