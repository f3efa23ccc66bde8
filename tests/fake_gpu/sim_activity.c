/* SPDX-License-Identifier: MIT */
/*
 * sim_activity.c - enabled kinds, and records that wait for the device.
 */
#include "tests/fake_gpu/sim_activity.h"

#include "tests/fake_gpu/sim_buffers.h"
#include "tests/fake_gpu/sim_call.h"
#include "tests/fake_gpu/sim_clock.h"
#include "tests/fake_gpu/sim_knobs.h"
#include "tests/fake_gpu/sim_record.h"
#include "tests/fake_gpu/sim_shared.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_CBIDS = 2048, MOST_STREAMS = 1024, ZERO_RATE = 20 };

struct waiting {
	struct waiting *next;
	int64_t start_ns, end_ns;
	uint32_t stream;
	int is_carried;		/* ends when kernels are wanted again */
	unsigned int others;	/* clients that want it too */
	int is_others;		/* and the first one doesn't */
	struct sim_place place; /* in a buffer that waits too, or none */
	_Alignas(8) uint8_t record[LONGEST_RECORD];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t collecting = PTHREAD_MUTEX_INITIALIZER;
static struct waiting *first, **last = &first;
static const struct waiting *newest_kernel[MOST_STREAMS];
static _Atomic char wanted[KIND_COUNT];
static _Atomic char unwanted_api[2][MOST_CBIDS];
static _Atomic int system_thread_id;
static _Atomic uint64_t gpu_records;
static _Atomic uint64_t finished;
static _Atomic int enablings; /* of kernels */

static CUpti_ActivityKind kind_of(const void *record)
{
	return ((const CUpti_Activity *)record)->kind;
}

static int is_kernel_kind(CUpti_ActivityKind kind)
{
	return kind == CUPTI_ACTIVITY_KIND_KERNEL ||
	       kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
}

/* Kernels that were cut off by a disabling: theirs is the end of now. */
static void end_carried(void)
{
	const int64_t now = clock_device_now();

	pthread_mutex_lock(&lock);
	for (struct waiting *w = first; w; w = w->next)
		if (w->is_carried) {
			w->is_carried = 0;
			w->end_ns = now;
		}
	pthread_mutex_unlock(&lock);
}

static int ids_begin_anew(void)
{
	const struct sim_knobs *knobs = sim_knobs();

	return knobs->ids_anew == BY_VERSION ? knobs->version >= VERSION_13_1_1
					     : knobs->ids_anew;
}

void activity_enable(CUpti_ActivityKind kind, int on)
{
	const int hangs = sim_knobs()->hang_enable;

	if (on)
		clock_anchor();
	while (on && is_kernel_kind(kind) &&
	       (enablings ? hangs : hangs == FIRST_HANGS))
		pause();
	if (on && is_kernel_kind(kind) && !wanted[kind]) {
		if (enablings++ && ids_begin_anew())
			sim_call_ids_begin_anew();
		end_carried();
	}
	wanted[kind] = (char)on;
}

/* Unfinished kernels, which are cut off with `cut`. */
static int in_flight(int cut)
{
	const int64_t now = clock_device_now();
	int count = 0;

	pthread_mutex_lock(&lock);
	for (struct waiting *w = first; w; w = w->next)
		if (w->end_ns > now && is_kernel_kind(kind_of(w->record))) {
			count++;
			w->is_carried |= cut;
		}
	pthread_mutex_unlock(&lock);
	return count;
}

static int disabled;

void activity_disable(CUpti_ActivityKind kind)
{
	const struct sim_knobs *knobs = sim_knobs();
	int hangs = knobs->hang_disable;

	if (is_kernel_kind(kind) && wanted[kind] && !shared_wants(kind)) {
		if (hangs == BY_VERSION)
			hangs = knobs->version < VERSION_NEWEST && in_flight(0);
		if (hangs == FIRST_HANGS)
			hangs = !__atomic_fetch_add(&disabled, 1,
						    __ATOMIC_RELAXED);
		while (hangs)
			pause();
		clock_sleep_until(clock_device_now() + knobs->disable_ns);
		if (knobs->carry_over)
			in_flight(1);
	}
	activity_enable(kind, 0);
}

uint32_t activity_graph_correlation(uint32_t correlation)
{
	const struct sim_knobs *knobs = sim_knobs();
	const int wrong = knobs->graph_ids == BY_VERSION
				  ? knobs->version < VERSION_13_1_1
				  : knobs->graph_ids;

	return wrong && enablings > 1 ? correlation - 1 : correlation;
}

int activity_enabled(CUpti_ActivityKind kind)
{
	return wanted[kind] || shared_wants(kind);
}

CUpti_ActivityKind activity_kernel_kind(void)
{
	if (wanted[CUPTI_ACTIVITY_KIND_KERNEL])
		return CUPTI_ACTIVITY_KIND_KERNEL;
	if (activity_enabled(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL))
		return CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
	return CUPTI_ACTIVITY_KIND_INVALID;
}

void activity_enable_api(CUpti_ActivityKind kind, uint32_t cbid, int on)
{
	if (cbid < MOST_CBIDS)
		unwanted_api[kind == CUPTI_ACTIVITY_KIND_DRIVER][cbid] = !on;
}

static int is_wanted_call(CUpti_ActivityKind kind, uint32_t cbid)
{
	return wanted[kind] &&
	       !(cbid < MOST_CBIDS &&
		 unwanted_api[kind == CUPTI_ACTIVITY_KIND_DRIVER][cbid]);
}

int activity_api_enabled(CUpti_ActivityKind kind, uint32_t cbid)
{
	return is_wanted_call(kind, cbid) || shared_wants(kind);
}

static int is_call(CUpti_ActivityKind kind)
{
	return kind == CUPTI_ACTIVITY_KIND_RUNTIME ||
	       kind == CUPTI_ACTIVITY_KIND_DRIVER;
}

void activity_emit(const void *record)
{
	const CUpti_ActivityKind kind = kind_of(record);

	if (!record_size(kind))
		return;
	shared_put(record, record_size(kind), shared_wants(kind));
	if (is_call(kind)
		    ? is_wanted_call(kind,
				     ((const CUpti_ActivityAPI *)record)->cbid)
		    : wanted[kind])
		buffers_put(record, record_size(kind));
}

static int is_kernel(const void *record)
{
	return is_kernel_kind(kind_of(record));
}

void activity_emit_later(const void *record, uint32_t stream, int64_t start_ns,
			 int64_t end_ns)
{
	const CUpti_ActivityKind kind = kind_of(record);
	const uint64_t drop = sim_knobs()->drop;

	if (!activity_enabled(kind) || !record_size(kind))
		return;
	if (drop && ++gpu_records % drop == 0) {
		buffers_count_dropped();
		return;
	}

	struct waiting *w = calloc(1, sizeof(*w));
	w->start_ns = start_ns;
	w->end_ns = end_ns;
	w->stream = stream;
	w->others = shared_wants(kind);
	w->is_others = !wanted[kind];
	memcpy(w->record, record, record_size(kind));
	if (sim_knobs()->withhold && !w->is_others) {
		w->place = buffers_reserve(record, record_size(kind));
		if (!w->place.buffer) {
			free(w);
			return;
		}
	}
	pthread_mutex_lock(&lock);
	*last = w;
	last = &w->next;
	if (is_kernel(record))
		newest_kernel[stream % MOST_STREAMS] = w;
	pthread_mutex_unlock(&lock);
}

static int unfinished(const struct waiting *w, int64_t now)
{
	if (w->is_carried || w->end_ns > now)
		return 1;
	return sim_knobs()->forced_incomplete && is_kernel(w->record) &&
	       newest_kernel[w->stream % MOST_STREAMS] == w;
}

/* Those that are ready, oldest first, or newest first for OOO. */
static struct waiting *take_ready(int64_t now, int forced)
{
	struct waiting *ready = NULL, **end = &ready, *w;

	pthread_mutex_lock(&lock);
	for (struct waiting **place = &first; (w = *place) != NULL;) {
		const int early = unfinished(w, now);

		if (early && !forced) {
			place = &w->next;
			continue;
		}
		*place = w->next;
		if (early)
			w->end_ns = 0;
		if (sim_knobs()->out_of_order) {
			w->next = ready;
			ready = w;
		} else {
			w->next = NULL;
			*end = w;
			end = &w->next;
		}
	}
	for (last = &first; *last; last = &(*last)->next)
		;
	pthread_mutex_unlock(&lock);
	return ready;
}

static void put_time(struct waiting *w, size_t at, int64_t device_ns)
{
	const uint64_t time = w->end_ns ? clock_convert(device_ns) : 0;

	if (at && at + sizeof(time) <= record_size(kind_of(w->record)))
		memcpy(w->record + at, &time, sizeof(time));
}

/* CUPTI could not measure this one. */
static int is_zero(void)
{
	const struct sim_knobs *knobs = sim_knobs();
	int64_t rate = knobs->zero_times;

	if (rate == BY_VERSION)
		rate = knobs->version >= VERSION_12_6 &&
				       knobs->version < VERSION_13_1 &&
				       clock_is_clients()
			       ? ZERO_RATE
			       : 0;
	return rate && ++finished % (uint64_t)rate == 0;
}

static void finish(struct waiting *w)
{
	const int64_t error = clock_error();
	size_t start_at, end_at;

	if (is_zero())
		w->end_ns = 0;
	record_times_at(kind_of(w->record), &start_at, &end_at);
	if (w->start_ns)
		put_time(w, start_at, w->start_ns + error);
	put_time(w, end_at, w->end_ns + error);
	if (is_kernel(w->record)) {
		CUpti_ActivityKernel10 *kernel = (void *)w->record;

		kernel->completed = kernel->end;
	}
	shared_put(w->record, record_size(kind_of(w->record)), w->others);
	if (w->is_others)
		return;
	if (w->place.buffer)
		buffers_finish(w->place, w->record,
			       record_size(kind_of(w->record)));
	else
		buffers_put(w->record, record_size(kind_of(w->record)));
}

void activity_collect(int forced)
{
	struct waiting *ready;

	pthread_mutex_lock(&collecting);
	/* Everything that is ready now lies between the anchors. */
	ready = take_ready(clock_device_now(), forced);
	if (ready)
		clock_anchor();
	while (ready) {
		struct waiting *w = ready;

		ready = w->next;
		finish(w);
		free(w);
	}
	pthread_mutex_unlock(&collecting);
}

void activity_overhead(CUpti_ActivityOverheadKind kind, uint64_t start,
		       uint64_t end, uint32_t correlation)
{
	CUpti_ActivityOverhead3 record = {
		.kind = CUPTI_ACTIVITY_KIND_OVERHEAD,
		.overheadKind = kind,
		.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD,
		.start = start,
		.end = end,
		.correlationId = correlation,
	};

	record.objectId.pt.processId = (uint32_t)getpid();
	record.objectId.pt.threadId = activity_thread_id();
	activity_emit(&record);
}

void activity_use_system_thread_id(int on)
{
	system_thread_id = on;
}

uint32_t activity_thread_id(void)
{
	return system_thread_id ? (uint32_t)gettid() : (uint32_t)pthread_self();
}
