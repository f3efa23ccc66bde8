/* SPDX-License-Identifier: MIT */
/*
 * cupti_record.h - one record of CUPTI becomes one event of ours.
 *
 * The structs of CUPTI's header are only looked through: a record's length is
 * the walker's business, and a field is read where every CUPTI since 12.0 has
 * it.  Names have been replaced by ids of interned texts before.
 *
 * Devices and contexts are taken in on the way.  Decoding is the writer's
 * thread's alone.
 */
#ifndef PRELOAD_CUPTI_RECORD_H
#define PRELOAD_CUPTI_RECORD_H

#include "preload/cuda/cupti_library.h"

#ifdef HAVE_CUPTI
#include "collector/session/session.h"

struct cupti_event {
	struct event event;
	union {
		struct gpu_kernel kernel;
		struct gpu_copy copy;
		struct gpu_pool pool;
	};
	uint64_t start, end; /* by the record's own clock */
};

enum cupti_record {
	CUPTI_RECORD_EVENT,   /* an event was made */
	CUPTI_RECORD_NOTHING, /* taken in (a device), or of no use */
	CUPTI_RECORD_NO_TIME, /* a piece of work without times */
	CUPTI_RECORD_UNKNOWN, /* of a kind that isn't decoded */
};

/* Numbers of calls of the CUDA API are below. */
#define CUPTI_CALLS_MAX 2048u

/* What a call puts on a GPU, by CUPTI's name of it; any thread. */
enum gpu_launch_kind cupti_launch_kind(const char *name);

/* Where a record keeps a text, NULL if it has none. */
const char **cupti_record_text(CUpti_Activity *record);

/* Of `room` bytes up to the buffer's end. */
enum cupti_record cupti_record_decode(struct session *session,
				      const CUpti_Activity *record, size_t room,
				      struct cupti_event *made);

/* The number of a call in 64 bits. */
uint64_t cupti_record_wide(uint32_t correlation);

/* Before the first record. */
void cupti_record_start(void);

/* Ids of another session mean nothing in a new one. */
/* That call recorded a CUDA event with a name; any thread. */
void cupti_record_named(uint32_t correlation, uint32_t name);

void cupti_record_forget(void);

/* cupti_launch_names.c.  Calls that unload kernels, of a subscriber, and one of
 * them; whether launches are called back for; a launch, by its number; the name
 * that it had, 0 if that isn't known.  Any thread. */
extern _Atomic bool cupti_launch_names_wanted;
void cupti_launch_names_start(void *subscriber);
void cupti_launch_names_unloaded(void);
static inline bool cupti_launch_names_are_wanted(void)
{
	return load_relaxed(&cupti_launch_names_wanted);
}
void cupti_launch_names_note(uint32_t correlation, const char *symbol);
uint32_t cupti_launch_names_of(uint32_t correlation);
void cupti_launch_names_forget(void);

#endif
#endif
