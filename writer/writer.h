/* SPDX-License-Identifier: MIT */
/*
 * writer.h - the background thread that turns a session into trace files.
 *
 * The life-cycle file of preload/ starts and stops it; the CUPTI source adds
 * what it polls.  Everything else about files, JSON and gzip is not
 * seen from here.
 */
#ifndef WRITER_WRITER_H
#define WRITER_WRITER_H

#include "collector/session/session.h"

/* Starts the thread: all signals blocked, named "traceprof", on the CPUs that
 * the process had at `affinity` (cpu_set_t of `affinity_bytes`, NULL: as is).
 * 0, -errno, or errno where there can be no thread now: as if it had been put
 * away, and it isn't called back.  Called once per session. */
int writer_start(struct session *session, const void *affinity,
		 size_t affinity_bytes);

/* The program ends, writer_stop() comes: what waits for a free core waits for
 * that, though the last window is closed before.  Idempotent. */
void writer_ends_soon(void);

/* Asks the writer to drain everything, finish the file and end; waits for it
 * at most `wait_ms`.  0 done; -ETIMEDOUT (the file on disk is that of the last
 * checkpoint; `traceprof recover` has the rest); -ECANCELED the writer gave up
 * before (disk full, say); -EINPROGRESS a process of its own finishes the
 * file.  Idempotent; a second caller doesn't wait. */
int writer_stop(unsigned int wait_ms);

/* Ends its thread and nothing else, before a call that the kernel refuses a
 * process of several; and starts another one, which goes on.  What is recorded
 * meanwhile waits.  Nobody else may call anything here between the two.  The
 * first returns the thread's id, which may not be gone from the kernel yet; 0:
 * there was none, or it didn't end within `wait_ms`.  The second returns 0 or
 * -errno: then writer_stop() tries again, and finishes the file itself if need
 * be. */
uint32_t writer_put_away(unsigned int wait_ms);
int writer_call_back(void);

/* False: it is away, or has ended. */
bool writer_has_thread(void);

/* Wakes it out of its sleep.  Async-signal-safe. */
void writer_wake(void);

/* What the writer thread calls once in each pass, before the rings: more
 * events come from `poll`.  At most 8 sources; before or after writer_start. */
int writer_add_source(void (*poll)(void *arg), void *arg);

/* In a forked child: forget the thread, the files and all state, without
 * freeing or closing what belongs to the parent. */
void writer_forget(void);

/* Lets the writer drain what was committed before the call, then hands out
 * totals by name, largest total first.  Not from a hook.  Returns the number
 * of names; -ETIMEDOUT.  `total` is called while a lock is held: it must not
 * call back. */
struct writer_total {
	const char *name;
	const char *category;
	uint64_t calls;
	uint64_t total_ns, min_ns, max_ns;
};
int writer_totals(void (*total)(const struct writer_total *, void *arg),
		  void *arg);
void writer_totals_reset(void);

/* What the closing lines say. */
struct writer_summary {
	uint32_t tid; /* of the writer's thread */
	uint64_t files, written, cut, dropped, bytes;
	uint64_t past_heap, deleted; /* small blocks past their half of it; in
					parts that were deleted */
	uint64_t past_max;	     /* of `cut`: past TRACEPROF_MAX_MB */
	uint64_t seen;		     /* whatever became of them */
	uint64_t counts; /* of these what the writer's thread has counted of
			    the others, and nothing else */
	uint64_t left, left_ns; /* for a process that finishes the file, about
				   how long that takes */
	bool seeks_step;	/* that one looks for the step, too */
	uint64_t thinned;	/* by TRACEPROF_MAX_OVERHEAD */
	uint64_t lost_waits;	/* of members at regions' ends, not drawn */
	char path[SESSION_TEXT_BYTES]; /* newest file, "" none */
	uint64_t judged_events;
	enum window_worth judged_worth;
	char judged[SESSION_TEXT_BYTES];  /* of the whole ones, "" none */
	uint64_t hooks_ns, writer_cpu_ns; /* what the recording cost */
	uint64_t drawn_ns; /* of what threads did, one beside the other */
	char most[256];	   /* what took most of the time, "" not known */
};
void writer_summarise(struct writer_summary *summary);

#endif
