/* SPDX-License-Identifier: MIT */
/*
 * sim_replay.c - reads a capture and hands it to the client.
 *
 * Captured times are nanoseconds of the machine that captured.  Here they begin
 * when the client registered its buffers, and stretches in which nothing begins
 * or ends are cut to LONGEST_GAP_NS, which keeps order and nesting.  Pointers
 * to names are made to point to the names in the file; others are not followed
 * by anybody and stay as they were.
 */
#include "tests/fake_gpu/sim_replay.h"

#include "tests/fake_gpu/sim_buffers.h"
#include "tests/fake_gpu/sim_clock.h"
#include "tests/fake_gpu/sim_knobs.h"
#include "tests/fake_gpu/sim_record.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_GAP_NS = 10000000, MOST_TIMES = 3 };

/* As tests/fake_gpu/spy.c writes it. */
struct chunk {
	uint32_t kind; /* 1: a buffer, its bytes, then its names */
	uint32_t thread;
	uint64_t bytes, name_bytes, time;
};

struct moment {
	uint64_t captured;
	int64_t device_ns;
};

static struct capture {
	uint8_t *bytes;
	size_t size;
	struct moment *moments; /* in order, each once */
	size_t count;
} capture;

static int64_t armed_at;
static int played;
static pthread_once_t prepared = PTHREAD_ONCE_INIT;
static __thread int playing;

/* Where the times lie in a record; the number of them. */
static int times_at(CUpti_ActivityKind kind, size_t at[MOST_TIMES])
{
	int count = 2;

	switch (kind) {
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
	case CUPTI_ACTIVITY_KIND_KERNEL:
		at[2] = offsetof(CUpti_ActivityKernel10, completed);
		count = 3;
		/* fall through */
	case CUPTI_ACTIVITY_KIND_MEMCPY:
	case CUPTI_ACTIVITY_KIND_MEMCPY2:
	case CUPTI_ACTIVITY_KIND_MEMSET:
		at[0] = offsetof(CUpti_ActivityKernel10, start);
		at[1] = offsetof(CUpti_ActivityKernel10, end);
		return count;
	case CUPTI_ACTIVITY_KIND_RUNTIME:
	case CUPTI_ACTIVITY_KIND_DRIVER:
	case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
	case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
		at[0] = offsetof(CUpti_ActivityAPI, start);
		at[1] = offsetof(CUpti_ActivityAPI, end);
		return count;
	case CUPTI_ACTIVITY_KIND_OVERHEAD:
		at[0] = offsetof(CUpti_ActivityOverhead3, start);
		at[1] = offsetof(CUpti_ActivityOverhead3, end);
		return count;
	case CUPTI_ACTIVITY_KIND_MEMORY2:
		at[0] = offsetof(CUpti_ActivityMemory4, timestamp);
		return 1;
	case CUPTI_ACTIVITY_KIND_CUDA_EVENT:
		at[0] = offsetof(CUpti_ActivityCudaEvent2, deviceTimestamp);
		return record_size(kind) > at[0];
	default: return 0;
	}
}

static const char **name_at(CUpti_Activity *record)
{
	switch (record->kind) {
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
	case CUPTI_ACTIVITY_KIND_KERNEL:
		return &((CUpti_ActivityKernel10 *)record)->name;
	case CUPTI_ACTIVITY_KIND_DEVICE:
		return &((CUpti_ActivityDevice5 *)record)->name;
	default: return NULL;
	}
}

static void read_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	long size;

	if (!file || fseek(file, 0, SEEK_END) || (size = ftell(file)) < 0 ||
	    fseek(file, 0, SEEK_SET))
		sim_fault("SIMGPU_REPLAY=%s can't be read", path);
	capture.size = (size_t)size;
	capture.bytes = malloc(capture.size + 1);
	if (fread(capture.bytes, 1, capture.size, file) != capture.size)
		sim_fault("SIMGPU_REPLAY=%s can't be read", path);
	/* Ends the last name, even of a file that was cut. */
	capture.bytes[capture.size] = 0;
	fclose(file);
}

/* The chunk at *at, which goes on to the next; 0 after the last whole one. */
static int next_chunk(size_t *at, struct chunk *chunk, uint8_t **body)
{
	if (*at + sizeof(*chunk) > capture.size)
		return 0;
	memcpy(chunk, capture.bytes + *at, sizeof(*chunk));
	*body = capture.bytes + *at + sizeof(*chunk);
	if (chunk->bytes + chunk->name_bytes >
	    capture.size - *at - sizeof(*chunk))
		return 0;
	*at += sizeof(*chunk) + chunk->bytes + chunk->name_bytes;
	return 1;
}

/* Calls `each` with every record, in an aligned copy of its own, and with the
 * name that belongs to it; `end` after each buffer. */
static void walk(void (*each)(CUpti_Activity *record, const char *name),
		 void (*end)(void))
{
	struct chunk chunk;
	uint8_t *body;
	size_t at = 0;

	while (next_chunk(&at, &chunk, &body)) {
		const char *name = (const char *)body + chunk.bytes;
		_Alignas(8) uint8_t copy[LONGEST_RECORD];
		CUpti_Activity *record = NULL;

		if (chunk.kind != 1)
			continue;
		while (record_next(body, chunk.bytes, &record) == 0) {
			CUpti_Activity *one = (CUpti_Activity *)copy;

			memcpy(copy, record, record_size(record->kind));
			each(one, name);
			if (name_at(one))
				name += strlen(name) + 1;
		}
		end();
	}
}

static void nothing(void)
{
}

static void collect(CUpti_Activity *record, const char *name)
{
	size_t at[MOST_TIMES];
	const int count = times_at(record->kind, at);

	(void)name;
	for (int i = 0; i < count; i++) {
		uint64_t time;

		memcpy(&time, (uint8_t *)record + at[i], sizeof(time));
		if (!time)
			continue;
		if ((capture.count & (capture.count - 1)) == 0)
			capture.moments = realloc(
				capture.moments,
				(capture.count ? 2 * capture.count : 1) *
					sizeof(*capture.moments));
		capture.moments[capture.count++].captured = time;
	}
}

static int in_order(const void *a, const void *b)
{
	const struct moment *left = a, *right = b;

	return (left->captured > right->captured) -
	       (left->captured < right->captured);
}

static void lay_out(void)
{
	struct moment *moments = capture.moments;
	int64_t now = armed_at;

	qsort(moments, capture.count, sizeof(*moments), in_order);
	for (size_t i = 0; i < capture.count; i++) {
		const uint64_t gap =
			i ? moments[i].captured - moments[i - 1].captured : 0;

		now += gap < LONGEST_GAP_NS ? (int64_t)gap : LONGEST_GAP_NS;
		moments[i].device_ns = now;
	}
}

static void give(CUpti_Activity *record, const char *name)
{
	const char **field = name_at(record);
	size_t at[MOST_TIMES];
	const int count = times_at(record->kind, at);

	for (int i = 0; i < count; i++) {
		struct moment key, *found;
		uint64_t time;

		memcpy(&key.captured, (uint8_t *)record + at[i], sizeof(time));
		if (!key.captured)
			continue;
		found = bsearch(&key, capture.moments, capture.count,
				sizeof(key), in_order);
		time = clock_convert(found->device_ns);
		memcpy((uint8_t *)record + at[i], &time, sizeof(time));
	}
	if (field)
		*field = name;
	buffers_put(record, record_size(record->kind));
}

static void end_buffer(void)
{
	buffers_flush(0);
}

static void prepare(void)
{
	if (!sim_knobs()->replay)
		return;
	armed_at = clock_device_now();
	read_file(sim_knobs()->replay);
	walk(collect, nothing);
	lay_out();
	if (capture.count)
		clock_sleep_until(capture.moments[capture.count - 1].device_ns);
}

void replay_arm(void)
{
	pthread_once(&prepared, prepare);
}

void replay_play(void)
{
	if (!sim_knobs()->replay ||
	    __atomic_exchange_n(&played, 1, __ATOMIC_RELAXED))
		return;
	clock_anchor();
	playing = 1;
	walk(give, end_buffer);
	playing = 0;
}

int replay_lets_through(void)
{
	return !sim_knobs()->replay || playing;
}
