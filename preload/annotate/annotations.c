/* SPDX-License-Identifier: MIT */
/*
 * annotations.c - the functions of include/traceprof.h.
 *
 * They do nothing but look at the gate and describe the call; what scopes are
 * is in scope.h.
 */
#include "include/traceprof.h"

#include "collector/system/log.h"
#include "collector/steps/steps.h"
#include "preload/process/life.h"
#include "preload/annotate/scope.h"
#include "writer/writer.h"
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

EXPORT void traceprof_step_(void)
{
	const int saved = errno;
	const uint32_t open = scope_gate("traceprof_step()");
	struct thread *thread;

	if (!(open & (GATE_SCOPE | GATE_SCOPE_MARK)) ||
	    steps_source() > STEP_API)
		return;
	thread = hook_thread();
	if (thread && steps_own_call(load_relaxed(&session_here), thread))
		steps_mark(load_relaxed(&session_here), thread, clock_ticks());
	errno = saved;
}

EXPORT void traceprof_push_(const char *name)
{
	uint32_t open = scope_gate("traceprof_push()");
	const int saved = errno;
	struct thread *thread;
	bool is_shown;

	if (!(open & (GATE_SCOPE | GATE_SCOPE_MARK)))
		return;
	thread = hook_thread();
	if (!thread)
		return;
	if (name &&
	    (steps_source() == STEP_AUTO || steps_source() == STEP_NVTX)) {
		steps_scope(load_relaxed(&session_here), thread, NULL, name);
		open = gate_bits();
	}
	is_shown = open & GATE_SCOPE && name;
	scope_push(thread, SCOPE_OWN, is_shown,
		   is_shown ? scope_intern(name)
		   : name   ? scope_intern_hidden(name)
			    : 0,
		   NULL);
	errno = saved;
}

EXPORT void traceprof_pop_(void)
{
	struct thread *thread = thread_self;

	/* Also with the gate closed: what was pushed must be popped. */
	if (thread_records(thread) && gate_bits() != GATE_UNDECIDED)
		scope_pop(thread, SCOPE_OWN);
}

static void record_instant(struct thread *thread, enum event_kind kind,
			   const char *name, double value)
{
	const uint64_t now = clock_ticks();
	struct event event = {
		.kind = (uint16_t)kind,
		.name = scope_intern(name),
		.start_ticks = now,
		.end_ticks = now,
	};

	if (kind == EVENT_COUNTER)
		event.counter.value = value;
	thread_record(thread, &event);
}

EXPORT void traceprof_mark_(const char *name)
{
	const uint32_t open = scope_gate("traceprof_mark()");
	const int saved = errno;
	struct thread *thread;

	if (!(open & GATE_SCOPE) || !name)
		return;
	thread = hook_thread();
	if (thread)
		record_instant(thread, EVENT_MARK, name, 0);
	errno = saved;
}

EXPORT void traceprof_counter_(const char *name, double value)
{
	const uint32_t open = scope_gate("traceprof_counter()");
	const int saved = errno;
	struct thread *thread;

	/* One that isn't finite the writer counts and leaves out. */
	if (!(open & GATE_SCOPE) || !name)
		return;
	thread = hook_thread();
	if (thread)
		record_instant(thread, EVENT_COUNTER, name, value);
	errno = saved;
}

/* True when there is a session to ask. */
static bool has_session(const char *caller)
{
	scope_gate(caller);
	return life_is_running();
}

/* The caller's record, NULL it has none: windows make none. */
static struct thread *own_record(void)
{
	struct thread *thread = thread_self;

	return thread_records(thread) ? thread : NULL;
}

EXPORT int traceprof_start_(const char *name)
{
	const int saved = errno;
	int rc = -1;

	if (has_session("traceprof_start()"))
		rc = steps_start_window(load_relaxed(&session_here),
					own_record(), name);
	errno = saved;
	return rc ? -1 : 0;
}

EXPORT int traceprof_stop_(void)
{
	const int saved = errno;
	int rc = -1;

	if (has_session("traceprof_stop()"))
		rc = steps_stop_window(load_relaxed(&session_here),
				       own_record());
	errno = saved;
	return rc ? -1 : 0;
}

EXPORT int traceprof_enabled_(void)
{
	return (scope_gate("traceprof_enabled()") & GATE_SCOPE) != 0;
}

/* The caller's function, under our own name of what it gets. */
struct totals_caller {
	void (*each)(const struct traceprof_total *total, void *arg);
	void *arg;
};

static void pass_total(const struct writer_total *total, void *arg)
{
	const struct totals_caller *caller = arg;
	const struct traceprof_total passed = {
		.name = total->name,
		.category = total->category,
		.calls = total->calls,
		.total_ns = total->total_ns,
		.min_ns = total->min_ns,
		.max_ns = total->max_ns,
	};

	caller->each(&passed, caller->arg);
}

/* Totals by name, largest first, from the writer; how many there were, 0 when
 * nothing is recorded, negative when the writer doesn't answer. */
static int ask_totals(void (*each)(const struct traceprof_total *, void *),
		      void *arg)
{
	struct totals_caller caller = {each, arg};

	return life_is_running() ? writer_totals(pass_total, &caller) : 0;
}

EXPORT int traceprof_totals_(void (*callback)(const struct traceprof_total *,
					      void *),
			     void *arg)
{
	const int saved = errno;
	int rc = 0;

	if (callback && has_session("traceprof_totals()"))
		rc = ask_totals(callback, arg);
	errno = saved;
	return rc < 0 ? -1 : rc;
}

EXPORT void traceprof_reset_(void)
{
	const int saved = errno;

	if (has_session("traceprof_reset()") && life_is_running())
		writer_totals_reset();
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
		const ssize_t done =
			syscall(SYS_write, STDERR_FILENO, line, len);

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
	    ask_totals(report_total, &report) < 0)
		log_trouble("traceprof_report(): the writer did not answer");
	errno = saved;
}
