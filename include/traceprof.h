/* SPDX-License-Identifier: MIT */
/*
 * traceprof.h - annotations for programs that may run under traceprof.
 *
 * Include it and call: nothing needs to be linked.  Every function is a weak
 * symbol; without the preload each call is a test of a null pointer.  C11 and
 * C++11.  All functions may be called from any thread; none but
 * traceprof_report(), traceprof_totals() and traceprof_reset() blocks, and none
 * sets errno.
 */
#ifndef TRACEPROF_H
#define TRACEPROF_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#define TRACEPROF_NOTHROW noexcept
#else
#define TRACEPROF_NOTHROW
#endif

/* A step (iteration) begins here; the one before it ends.  Steps belong to the
 * thread that calls this first: calls from other threads are ignored until that
 * has ended, and a note in the trace says so.  Then they are the next one's. */
void traceprof_step_(void) TRACEPROF_NOTHROW __attribute__((weak));

/* Opens and closes a slice on the calling thread.  `name` is UTF-8, copied at
 * once, and cut after 1023 bytes; pairs nest, 32 levels are shown. */
void traceprof_push_(const char *name) TRACEPROF_NOTHROW __attribute__((weak));
void traceprof_pop_(void) TRACEPROF_NOTHROW __attribute__((weak));

/* An instant, and a value on a counter track (one that isn't finite is counted,
 * not drawn). */
void traceprof_mark_(const char *name) TRACEPROF_NOTHROW __attribute__((weak));
void traceprof_counter_(const char *name, double value) TRACEPROF_NOTHROW
	__attribute__((weak));

/* A recording window by hand, with a file of its own, and the rest of a run of
 * which nothing else was asked with others.  0; -1 when one is being recorded
 * already (start) or none was started by hand (stop). */
int traceprof_start_(const char *name) TRACEPROF_NOTHROW __attribute__((weak));
int traceprof_stop_(void) TRACEPROF_NOTHROW __attribute__((weak));

/* 1 while events are being recorded. */
int traceprof_enabled_(void) TRACEPROF_NOTHROW __attribute__((weak));

/* One line of the totals by name since the start or the last reset.  Times in
 * nanoseconds. */
struct traceprof_total {
	const char *name; /* valid during the callback only */
	const char *category;
	uint64_t calls, total_ns, min_ns, max_ns;
};

/* Prints the `n` largest totals on stderr. */
void traceprof_report_(int n) TRACEPROF_NOTHROW __attribute__((weak));

/* Calls back for each name, largest total first.  The callback must not call
 * traceprof.  Returns the number of names, 0 without the preload, -1 when the
 * writer did not answer within two seconds. */
int traceprof_totals_(void (*callback)(const struct traceprof_total *total,
				       void *arg),
		      void *arg) TRACEPROF_NOTHROW __attribute__((weak));
void traceprof_reset_(void) TRACEPROF_NOTHROW __attribute__((weak));

static inline void traceprof_step(void)
{
	if (traceprof_step_)
		traceprof_step_();
}

static inline void traceprof_push(const char *name)
{
	if (traceprof_push_)
		traceprof_push_(name);
}

static inline void traceprof_pop(void)
{
	if (traceprof_pop_)
		traceprof_pop_();
}

static inline void traceprof_mark(const char *name)
{
	if (traceprof_mark_)
		traceprof_mark_(name);
}

static inline void traceprof_counter(const char *name, double value)
{
	if (traceprof_counter_)
		traceprof_counter_(name, value);
}

static inline int traceprof_start(const char *name)
{
	return traceprof_start_ ? traceprof_start_(name) : -1;
}

static inline int traceprof_stop(void)
{
	return traceprof_stop_ ? traceprof_stop_() : -1;
}

static inline int traceprof_enabled(void)
{
	return traceprof_enabled_ ? traceprof_enabled_() : 0;
}

static inline void traceprof_report(int n)
{
	if (traceprof_report_)
		traceprof_report_(n);
}

static inline int traceprof_totals(
	void (*callback)(const struct traceprof_total *total, void *arg),
	void *arg)
{
	return traceprof_totals_ ? traceprof_totals_(callback, arg) : 0;
}

static inline void traceprof_reset(void)
{
	if (traceprof_reset_)
		traceprof_reset_();
}

static inline void traceprof_scope_end_(const int *unused)
{
	(void)unused;
	traceprof_pop();
}

#ifdef __cplusplus
}

/* A slice from here to the end of the enclosing block, however it is left. */
namespace traceprof_detail
{
struct scope {
	explicit scope(const char *name) noexcept
	{
		traceprof_push(name);
	}
	~scope()
	{
		traceprof_pop();
	}
	scope(const scope &) = delete;
	scope &operator=(const scope &) = delete;
};
} // namespace traceprof_detail

#define TRACEPROF_JOIN_(a, b)	a##b
#define TRACEPROF_UNIQUE_(a, b) TRACEPROF_JOIN_(a, b)
#define TRACEPROF_SCOPE(name)                                                  \
	::traceprof_detail::scope TRACEPROF_UNIQUE_(traceprof_scope_,          \
						    __COUNTER__)(name)
#else
#define TRACEPROF_JOIN_(a, b)	a##b
#define TRACEPROF_UNIQUE_(a, b) TRACEPROF_JOIN_(a, b)
#define TRACEPROF_SCOPE(name)                                                  \
	__attribute__((cleanup(traceprof_scope_end_), unused)) const int       \
	TRACEPROF_UNIQUE_(traceprof_scope_, __COUNTER__) =                     \
		(traceprof_push(name), 0)
#endif

#define TRACEPROF_FUNCTION() TRACEPROF_SCOPE(__func__)

#endif
