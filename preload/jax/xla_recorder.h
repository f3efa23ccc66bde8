/* SPDX-License-Identifier: MIT */
/*
 * xla_recorder.h - what XLA keeps its TraceMe annotations in.
 *
 * tsl::profiler::TraceMeRecorder of jaxlib: switched on, it keeps an event of
 * each annotation that ends, and hands over all of them when it is switched
 * off.  Its functions aren't exported, but jaxlib's files have a whole symbol
 * table.  They are used if the version is among those that were looked at, if
 * the code that is loaded is the file's, and if an annotation that
 * jaxlib itself makes for us is found in what comes back.
 */
#ifndef PRELOAD_JAX_XLA_RECORDER_H
#define PRELOAD_JAX_XLA_RECORDER_H

#include "collector/system/base.h"

#include <stdatomic.h>

/* As libstdc++ has had it since its version 5. */
struct xla_text {
	char *at; /* to `own`, where it is short */
	uint64_t len;
	char own[16];
};

struct xla_event {
	struct xla_text name;
	int64_t start_ns, end_ns; /* CLOCK_REALTIME; negative: a half */
};

/* Of one thread: a std::deque. */
struct xla_thread {
	uint32_t id; /* of pthread_self() */
	struct xla_text name;
	struct xla_event **blocks;
	uint64_t block_count;
	struct xla_place {
		struct xla_event *at, *first, *end, **block;
	} begin, end;
};

struct xla_events {
	struct xla_thread *begin, *end, *room;
};

struct xla_recorder {
	/* False: it is on. */
	bool (*start)(int level, uint64_t filter, bool with_source);
	struct xla_events *(*stop)(struct xla_events *events);
	/* While it stays on; NULL: it can't be. */
	struct xla_events *(*empty)(struct xla_events *events);
	void (*release)(void *block); /* operator delete */
	_Atomic int *level;
};

/* Of the file at `path`, loaded at `bias`.  NULL: it is there; or why not, in
 * words. */
const char *xla_recorder_find(struct xla_recorder *recorder, const char *path,
			      uint64_t bias);

/* The name that `annotate` is to give one annotation, by which all is found to
 * lie as it should. */
#define XLA_RECORDER_OWN "traceprof"

/* NULL: it can be used, and is off, and *thread is XLA's number of this one; or
 * why not. */
const char *xla_recorder_prove(const struct xla_recorder *recorder,
			       void (*annotate)(void *arg), void *arg,
			       uint32_t *thread);

int64_t xla_recorder_now_ns(void);
bool xla_recorder_start(const struct xla_recorder *recorder);

/* Calls `tell` for each event, in the order of their ends on each thread. */
void xla_recorder_tell(const struct xla_events *events,
		       void (*tell)(const struct xla_thread *thread,
				    const struct xla_event *event, void *arg),
		       void *arg);

void xla_recorder_release(const struct xla_recorder *recorder,
			  struct xla_events *events);

#endif
