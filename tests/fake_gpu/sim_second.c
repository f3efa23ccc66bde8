/* SPDX-License-Identifier: MIT */
/*
 * sim_second.c - another profiler of the program's own, as torch.profiler is.
 *
 * It comes at the call SECOND_FROM and goes SECOND_CALLS calls later.  The
 * older kind subscribes first and does nothing if that is refused.  The newer
 * one does not ask: it registers its own buffers and its own clock over those
 * of whoever is there, turns the kinds on, and off again when it goes.  What
 * the first client lent comes back to this one, which lets it lie.  Its calls
 * can't be seen by interposing: it stands behind CUPTI's names.
 */
#include "tests/fake_gpu/sim_second.h"

#include "tests/fake_gpu/sim_activity.h"
#include "tests/fake_gpu/sim_buffers.h"
#include "tests/fake_gpu/sim_callbacks.h"
#include "tests/fake_gpu/sim_clock.h"
#include "tests/fake_gpu/sim_knobs.h"
#include "tests/fake_gpu/sim_record.h"
#include "tests/fake_gpu/sim_stream.h"
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BUFFER_BYTES = 1 << 20, MOST_BUFFERS = 256 };

static const CUpti_ActivityKind kinds[] = {
	CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
	CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_RUNTIME};

static _Atomic uint64_t calls;
static _Atomic int is_there, has_come;
static __thread int is_coming;
static int is_subscribed;
static uint8_t *_Atomic lent[MOST_BUFFERS];
static _Atomic size_t kernels, foreign;

static uint64_t its_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void lend(uint8_t **buffer, size_t *size, size_t *most)
{
	uint8_t *none = NULL, *made = calloc(1, BUFFER_BYTES);

	*buffer = made;
	*size = BUFFER_BYTES;
	*most = 0;
	for (int i = 0; i < MOST_BUFFERS; i++, none = NULL)
		if (__atomic_compare_exchange_n((uint8_t **)&lent[i], &none,
						made, 0, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED))
			return;
}

static int is_own(const uint8_t *buffer)
{
	for (int i = 0; i < MOST_BUFFERS; i++)
		if (lent[i] == buffer) {
			lent[i] = NULL;
			return 1;
		}
	return 0;
}

static void take(CUcontext context, uint32_t stream, uint8_t *buffer,
		 size_t size, size_t valid)
{
	CUpti_Activity *record = NULL;

	(void)context, (void)stream, (void)size;
	if (!is_own(buffer)) {
		foreign++;
		return;
	}
	while (record_next(buffer, valid, &record) == CUPTI_SUCCESS)
		kernels +=
			record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
	free(buffer);
}

static void ignore(void *unused, CUpti_CallbackDomain domain, uint32_t cbid,
		   const void *data)
{
	(void)unused, (void)domain, (void)cbid, (void)data;
}

static void turn(int on)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		activity_enable(kinds[i], on);
}

static void come(void)
{
	if (sim_knobs()->second_client == SECOND_SUBSCRIBES) {
		if (callbacks_subscribe(ignore, NULL)) {
			fprintf(stderr, "simgpu: second client: refused\n");
			return;
		}
		is_subscribed = 1;
	}
	clock_register(its_clock);
	buffers_register(lend, take);
	/* What lies there is none of its own. */
	buffers_flush(0);
	turn(1);
	is_there = 1;
}

static void go(void)
{
	/* As such clients do, so that their last kernels are among theirs. */
	stream_synchronize_all();
	turn(0);
	buffers_flush(1);
	if (is_subscribed)
		callbacks_unsubscribe();
	fprintf(stderr,
		"simgpu: second client: %zu kernels, %zu buffers of another\n",
		(size_t)kernels, (size_t)foreign);
}

void second_look(void)
{
	const struct sim_knobs *knobs = sim_knobs();
	uint64_t call;

	if (!knobs->second_client)
		return;
	call = ++calls;
	if (call < knobs->second_from)
		return;
	if (call == knobs->second_from) {
		is_coming = 1;
		come();
		is_coming = 0;
		has_come = 1;
		return;
	}
	/* The thread that lets it come may be slower than the others' calls,
	 * and then there would be none for it. */
	while (!has_come && !is_coming)
		sched_yield();
	if (call >= knobs->second_from + knobs->second_calls &&
	    __atomic_exchange_n(&is_there, 0, __ATOMIC_ACQ_REL))
		go();
}
