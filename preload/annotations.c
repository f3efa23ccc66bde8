/* SPDX-License-Identifier: MIT */
/*
 * annotations.c - the functions of include/traceprof.h.
 *
 * A scope is an open slice of its thread while it lasts and one event at its
 * end.  One that was pushed while nothing was recorded is only counted in
 * thread->untracked, so that pops find their pushes: an open scope keeps in
 * `region` what that count was at its push, and a higher one means that the
 * innermost scope is a counted one.
 */
#include "include/traceprof.h"

#include "collector/gate.h"
#include "collector/log.h"
#include "collector/names.h"
#include "collector/steps.h"
#include "preload/life.h"
#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

/* The gate, decided, and open if this call makes the process interesting. */
static COLD uint32_t open_gate(uint32_t open, const char *caller)
{
	if (open == GATE_UNDECIDED)
		open = life_decide();
	if (open & GATE_SCOPE_WATCH)
		open = life_begin(caller);
	return open;
}

static inline uint32_t look(const char *caller)
{
	const uint32_t open = gate_bits();

	if (likely(open == GATE_CLOSED ||
		   (open & (GATE_SCOPE | GATE_SCOPE_MARK))))
		return open;
	return open_gate(open, caller);
}

/* This thread's record, with its end to be noticed. */
static struct thread *enter(void)
{
	struct thread *thread = thread_self;

	if (likely(thread_records(thread)))
		return thread;
	thread = thread_here();
	if (thread)
		life_thread_entered();
	return thread;
}

/* A name is cut after 1023 bytes, not inside a character. */
static uint32_t intern(const char *name)
{
	size_t len = strnlen(name, NAME_BYTES_MAX);

	if (len == NAME_BYTES_MAX) {
		len--;
		while (len && ((unsigned char)name[len] & 0xc0) == 0x80)
			len--;
	}
	return names_intern(load_relaxed(&session_here), name, len);
}

static void record(struct thread *thread, const struct event *event)
{
	struct event *slot;

	thread_busy();
	slot = ring_reserve(&thread->ring, 1);
	if (likely(slot)) {
		*slot = *event;
		ring_commit(&thread->ring, 1, 1);
	} else {
		ring_refuse(&thread->ring, (enum event_kind)event->kind,
			    event->end_ticks);
	}
	thread_unbusy(thread);
}

EXPORT void traceprof_step_(void)
{
	const int saved = errno;
	const uint32_t open = look("traceprof_step()");
	struct thread *thread;

	if (!(open & (GATE_SCOPE | GATE_SCOPE_MARK)) ||
	    steps_source() != STEP_API)
		return;
	thread = enter();
	if (thread)
		steps_mark(load_relaxed(&session_here), thread, clock_ticks());
	errno = saved;
}

EXPORT void traceprof_push_(const char *name)
{
	const uint32_t open = look("traceprof_push()");
	const int saved = errno;
	struct thread *thread;

	if (!(open & (GATE_SCOPE | GATE_SCOPE_MARK)))
		return;
	thread = enter();
	if (!thread)
		return;
	if (open & GATE_SCOPE && name)
		thread_open(thread, EVENT_SCOPE, clock_ticks(), intern(name), 0,
			    thread->untracked, 0);
	else
		thread->untracked++;
	errno = saved;
}

/* The innermost open slice if it is a scope that is shown. */
static const struct open_slice *open_scope(const struct thread *thread,
					   uint32_t depth)
{
	if (!depth || thread->open[depth - 1].kind != EVENT_SCOPE)
		return NULL;
	return &thread->open[depth - 1];
}

EXPORT void traceprof_pop_(void)
{
	struct thread *thread = thread_self;
	const struct open_slice *slice;
	struct event event;
	uint32_t depth;

	/* Also with the gate closed: what was pushed must be popped. */
	if (!thread_records(thread) || gate_bits() == GATE_UNDECIDED)
		return;
	depth = load_relaxed(&thread->depth);
	if (unlikely(depth > OPEN_SLICES_MAX)) {
		thread_shut(thread);
		return;
	}
	slice = open_scope(thread, depth);
	if (thread->untracked > (slice ? slice->region : 0)) {
		thread->untracked--;
		return;
	}
	if (!slice)
		return;
	event = (struct event){
		.kind = EVENT_SCOPE,
		.name = slice->name,
		.start_ticks = slice->start_ticks,
		.end_ticks = clock_ticks(),
	};
	thread_shut(thread);
	record(thread, &event);
}

static void record_instant(struct thread *thread, enum event_kind kind,
			   const char *name, double value)
{
	const uint64_t now = clock_ticks();
	struct event event = {
		.kind = (uint16_t)kind,
		.name = intern(name),
		.start_ticks = now,
		.end_ticks = now,
	};

	if (kind == EVENT_COUNTER)
		event.counter.value = value;
	record(thread, &event);
}

EXPORT void traceprof_mark_(const char *name)
{
	const uint32_t open = look("traceprof_mark()");
	const int saved = errno;
	struct thread *thread;

	if (!(open & GATE_SCOPE) || !name)
		return;
	thread = enter();
	if (thread)
		record_instant(thread, EVENT_MARK, name, 0);
	errno = saved;
}

EXPORT void traceprof_counter_(const char *name, double value)
{
	const uint32_t open = look("traceprof_counter()");
	const int saved = errno;
	struct thread *thread;

	if (!(open & GATE_SCOPE) || !name || !isfinite(value))
		return;
	thread = enter();
	if (thread)
		record_instant(thread, EVENT_COUNTER, name, value);
	errno = saved;
}

/* True when there is a session to ask. */
static bool has_session(const char *caller)
{
	look(caller);
	return life_is_running();
}

EXPORT int traceprof_start_(const char *name)
{
	const int saved = errno;
	int rc = -1;

	if (has_session("traceprof_start()"))
		rc = steps_manual_start(load_relaxed(&session_here), name);
	errno = saved;
	return rc ? -1 : 0;
}

EXPORT int traceprof_stop_(void)
{
	const int saved = errno;
	int rc = -1;

	if (has_session("traceprof_stop()"))
		rc = steps_manual_stop(load_relaxed(&session_here));
	errno = saved;
	return rc ? -1 : 0;
}

EXPORT int traceprof_enabled_(void)
{
	return (look("traceprof_enabled()") & GATE_SCOPE) != 0;
}

EXPORT int traceprof_totals_(void (*callback)(const struct traceprof_total *,
					      void *),
			     void *arg)
{
	const int saved = errno;
	int rc = 0;

	if (callback && has_session("traceprof_totals()"))
		rc = life_totals(callback, arg);
	errno = saved;
	return rc < 0 ? -1 : rc;
}

EXPORT void traceprof_reset_(void)
{
	const int saved = errno;

	if (has_session("traceprof_reset()"))
		life_totals_reset();
	errno = saved;
}

/* What is left to print, and whether the head has been. */
struct report {
	int left;
	bool begun;
};

static void print(const char *line, size_t len)
{
	while (len) {
		const ssize_t done = write(STDERR_FILENO, line, len);

		if (done < 0 && errno != EINTR)
			return;
		if (done > 0) {
			line += done;
			len -= (size_t)done;
		}
	}
}

static void report_total(const struct traceprof_total *total, void *arg)
{
	static const char head[] = "       calls     total ms       avg us     "
				   "  min us       max us"
				   "  name\n";
	struct report *report = arg;
	char line[LOG_LINE_BYTES];
	size_t len;

	if (report->left-- <= 0)
		return;
	if (!report->begun)
		print(head, sizeof(head) - 1);
	report->begun = true;
	len = log_format(
		line, sizeof(line) - 1,
		"%12lu %8lu.%03lu %8lu.%03lu %8lu.%03lu %8lu.%03lu  %s",
		(unsigned long)total->calls,
		(unsigned long)(total->total_ns / 1000000),
		(unsigned long)(total->total_ns / 1000 % 1000),
		(unsigned long)(total->total_ns / total->calls / 1000),
		(unsigned long)(total->total_ns / total->calls % 1000),
		(unsigned long)(total->min_ns / 1000),
		(unsigned long)(total->min_ns % 1000),
		(unsigned long)(total->max_ns / 1000),
		(unsigned long)(total->max_ns % 1000), total->name);
	line[len++] = '\n';
	print(line, len);
}

EXPORT void traceprof_report_(int n)
{
	struct report report = {.left = n};
	const int saved = errno;

	if (has_session("traceprof_report()") &&
	    life_totals(report_total, &report) < 0)
		log_trouble("traceprof_report(): the writer did not answer");
	errno = saved;
}
