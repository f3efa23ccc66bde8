/* SPDX-License-Identifier: MIT */
/* closing.c - says how a recording ended. */
#include "preload/process/life_parts.h"

#include "collector/system/log.h"
#include "preload/process/life.h"
#include "preload/process/real.h"
#include "preload/process/process.h"
#include <time.h>

/* The path as the user would write it: relative if that is shorter. */
static const char *short_path(const struct session *session, const char *path)
{
	const struct session_header *head = session->head;
	const char *dir = head->options.dir;
	size_t here = 0;

	while (dir[0] == '.' && dir[1] == '/')
		dir += 2;
	while (head->folder[here])
		here++;
	for (size_t i = 0; dir[0] != '/' && i < here; i++) {
		if (head->folder[i] != path[i])
			return path;
	}
	if (dir[0] == '/')
		return path;
	for (size_t len = 0; dir[len]; len++)
		here--;
	return path + here;
}

static void say_size(char *text, size_t bytes, uint64_t size)
{
	if (size < 1000)
		log_format(text, bytes, "%lu B", (unsigned long)size);
	else if (size < 1000000)
		log_format(text, bytes, "%.1f kB", (double)size / 1e3);
	else
		log_format(text, bytes, "%.1f MB", (double)size / 1e6);
}

/* "nothing lost", or how many: never left out. */
static void say_loss(char *text, size_t bytes, uint64_t dropped)
{
	if (dropped)
		log_format(text, bytes, "%lu LOST", (unsigned long)dropped);
	else
		log_format(text, bytes, "none lost");
}

static double processor_seconds(void)
{
	struct timespec used = {0, 0};

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

/* What the recording took of the processors. */
static void say_cost(char *text, size_t bytes, const struct closing *closing)
{
	log_format(text, bytes, "took %.3f s of %.3f s processor time",
		   (double)(closing->hooks_ns + closing->writer_ns) / 1e9,
		   processor_seconds());
}

static void say_files(const struct session *session,
		      const struct closing *closing)
{
	const char *path = short_path(session, closing->path);
	char size[32];
	char loss[32];
	char cost[64];

	say_cost(cost, sizeof(cost), closing);
	say_size(size, sizeof(size), closing->bytes);
	if (closing->gave_up)
		log_format(loss, sizeof(loss), "until then");
	else
		say_loss(
			loss, sizeof(loss),
			closing->dropped +
				load_relaxed(&session->head->unrecorded_calls));
	if (closing->files == 1)
		log_say("wrote %s (%lu events, %s, %s; %s)", path,
			(unsigned long)closing->written, loss, size, cost);
	else
		log_say("wrote %lu traces (%lu events, %s, %s; %s), the "
			"last one %s",
			(unsigned long)closing->files,
			(unsigned long)closing->written, loss, size, cost,
			path);
	/* A few were under way when the last window closed. */
	if (closing->cut > closing->written / 100)
		log_say("%lu events lay outside the windows or past "
			"TRACEPROF_MAX_MB",
			(unsigned long)closing->cut);
	if (closing->gave_up && session->head->place == SESSION_IN_FILE)
		log_say("`traceprof recover %s` adds what memory still holds",
			session->head->options.dir);
	else
		log_say("next: traceprof report %s", path);
}

/* A schedule that the run did not live to see. */
static void say_steps(const struct session *session)
{
	const struct window_state *state = &session->head->windows;
	struct schedule schedule;
	int64_t needed;

	schedule_from_options(&session->head->options, &schedule);
	needed = window_steps_needed(&schedule);
	if (schedule.always || session->head->flight.is_on ||
	    search_state(&session->head->search) == SEARCH_OVER ||
	    load_relaxed(&state->steps) >= needed)
		return;
	log_say("the run had %ld steps, the schedule needs %ld%s",
		(long)load_relaxed(&state->steps), (long)needed,
		load_relaxed(&state->opened) ? "" : ": nothing was recorded");
}

void closing_report(const struct session *session,
		    const struct closing *closing)
{
	const struct session_header *head = session->head;
	const struct options *options = &head->options;
	const uint64_t unrecorded = load_relaxed(&head->unrecorded_calls);
	const uint64_t unfollowed = load_relaxed(&head->unfollowed_calls);

	if (closing->timed_out)
		log_trouble("the writer was not done after %ld ms "
			    "(TRACEPROF_EXIT_MS): `traceprof recover` "
			    "finishes %s",
			    (long)options->exit_ms,
			    closing->path[0] ? closing->path : "the trace");
	if (closing->dropped)
		log_trouble("%lu events found no room: raise "
			    "TRACEPROF_BUFFER_MB (%ld), or record less",
			    (unsigned long)closing->dropped,
			    (long)options->buffer_mb);
	if (unrecorded > unfollowed)
		log_trouble("some threads found no room to be recorded (%lu "
			    "calls): raise TRACEPROF_BUFFER_MB (%ld)",
			    (unsigned long)(unrecorded - unfollowed),
			    (long)options->buffer_mb);
	if (unfollowed)
		log_trouble("%lu calls could not be followed: nested too deep, "
			    "too many at once, or inside the profiler",
			    (unsigned long)unfollowed);
	/* Of a file that is not whole yet there are no totals to tell. */
	if (closing->files && !closing->timed_out)
		say_files(session, closing);
	else if (session->head->flight.is_on)
		log_say("no trace: nothing triggered the flight recorder");
	say_steps(session);
}

void closing_explain(const struct options *options, uint64_t heap_calls)
{
	const char *object;

	if (process_kind_is_tool())
		log_say("no trace of this process: it did nothing that is "
			"recorded; the programs that it started write their "
			"own");
	else if (!real_sees_heap(&object))
		log_say("no trace: no OpenMP region or annotation was seen, "
			"and the allocator built into %s can't be watched",
			object);
	else if (options->malloc == MALLOC_OFF)
		log_say("no trace: no OpenMP region or annotation was seen, "
			"and TRACEPROF_MALLOC is off");
	else
		log_say("no trace: no OpenMP region or annotation was seen, "
			"%.1f s of processor time and some %lu allocations "
			"are too few; TRACEPROF_MALLOC=large records them "
			"from the start",
			processor_seconds(), (unsigned long)heap_calls);
}
