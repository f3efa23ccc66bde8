/* SPDX-License-Identifier: MIT */
/* live_print.c - a look at a running program, for people and for programs. */
#include <stdlib.h>
#include <string.h>

#include "tools/live/live.h"
#include "tools/util/json_print.h"
#include "tools/util/numbers.h"
#include "tools/util/text_buffer.h"

/* In a second; 0 where nothing was before. */
static double rate(const struct live *live, const struct live *before,
		   uint64_t now, uint64_t then)
{
	if (!before || live->now_ns <= before->now_ns || now < then)
		return 0;
	return (double)(now - then) * 1e9 /
	       (double)(live->now_ns - before->now_ns);
}

#define RATE(field)                                                            \
	rate(live, before, (uint64_t)live->field,                              \
	     before ? (uint64_t)before->field : 0)

/* Mean time of a step between the two looks; 0 none ended. */
static double step_ns(const struct live *live, const struct live *before)
{
	const double steps = RATE(steps);

	return steps > 0 ? 1e9 / steps : 0;
}

static const char *state_of(const struct live *live)
{
	if (live->is_over)
		return "over";
	if (live->is_searching)
		return live->is_recording
			       ? "recording, and looking for the step"
			       : "looking for the step";
	return live->is_recording ? "recording" : "waiting";
}

static const struct live_thread *same_thread(const struct live *before,
					     const struct live_thread *thread)
{
	for (size_t at = 0; before && at < before->thread_count; at++)
		if (before->thread[at].tid == thread->tid)
			return &before->thread[at];
	return NULL;
}

static double thread_rate(const struct live *live, const struct live *before,
			  const struct live_thread *thread)
{
	const struct live_thread *then = same_thread(before, thread);

	return then ? rate(live, before, thread->events, then->events) : 0;
}

/* --- text ----------------------------------------------------------------- */

/* A line of the screen, cut to its width. */
struct screen {
	FILE *out;
	unsigned int rows, columns;
	struct text_buffer line;
};

static void end_line(struct screen *screen)
{
	if (!screen->rows)
		return;
	screen->rows--;
	fprintf(screen->out, "%.*s\n", (int)screen->columns,
		screen->line.len ? screen->line.data : "");
	text_buffer_cut(&screen->line, 0);
}

static void add_steps(struct screen *screen, const struct live *live,
		      const struct live *before)
{
	struct text_buffer *line = &screen->line;
	const double mean = step_ns(live, before);

	text_buffer_format(line, "steps    %lld", (long long)live->steps);
	if (mean > 0)
		text_buffer_format(line, ", %.1f a second, %s each",
				   RATE(steps), quantity_time(mean).text);
	if (live->step_ns >= 0)
		text_buffer_format(line, "; this one for %s",
				   quantity_time((double)live->step_ns).text);
	end_line(screen);
}

static void add_gpu(struct screen *screen, const struct live *live,
		    const struct live *before)
{
	struct text_buffer *line = &screen->line;

	if (!live->has_gpu)
		return;
	text_buffer_format(line,
			   "GPU      %llu launches, %.0f a second; %llu "
			   "kernels, %.0f a second",
			   (unsigned long long)live->launches, RATE(launches),
			   (unsigned long long)live->kernels, RATE(kernels));
	if (live->gpu_behind_ns >= 0)
		text_buffer_format(
			line, "; known up to %s ago",
			quantity_time((double)live->gpu_behind_ns).text);
	end_line(screen);
}

static void add_losses(struct screen *screen, const struct live *live)
{
	const uint64_t lost = live->dropped + live->unrecorded + live->missed +
			      live->gpu_lost;

	if (lost)
		text_buffer_format(
			&screen->line,
			"LOST     %llu events without room, %llu calls without "
			"an event, %llu of the GPU's",
			(unsigned long long)live->dropped,
			(unsigned long long)(live->unrecorded + live->missed),
			(unsigned long long)live->gpu_lost);
	else
		text_buffer_format(&screen->line, "lost     nothing");
	text_buffer_format(&screen->line, "; %u of %u buffers are free",
			   live->free_chunks, live->chunks);
	end_line(screen);
}

/* What a thread is in, as a person says it. */
static const char *doing(unsigned int kind)
{
	static const struct {
		unsigned int kind;
		const char *text;
	} said[] = {
		{EVENT_OMP_REGION, "an OpenMP region"},
		{EVENT_OMP_IMPLICIT, "its part of an OpenMP region"},
		{EVENT_OMP_EXPLICIT, "an OpenMP task"},
		{EVENT_OMP_WAIT, "a wait of OpenMP"},
		{EVENT_OMP_ACQUIRED, "a critical section"},
		{EVENT_HOST_WAIT, "a call that waits"},
		{EVENT_FILE_IO, "a call for a file"},
		{EVENT_CALL, "a call of CUDA"},
		{EVENT_GPU_API, "a call of CUDA"},
		{EVENT_PYTHON, "a call of Python"},
	};

	for (size_t at = 0; at < sizeof(said) / sizeof(said[0]); at++)
		if (said[at].kind == kind)
			return said[at].text;
	return event_kind_word(kind);
}

static void add_thread(struct screen *screen, const struct live *live,
		       const struct live *before,
		       const struct live_thread *thread)
{
	struct text_buffer *line = &screen->line;

	text_buffer_format(line, "%8u %10.0f %10llu  ", thread->tid,
			   thread_rate(live, before, thread),
			   (unsigned long long)thread->events);
	text_buffer_add_printable(line, thread->name, strlen(thread->name),
				  THREAD_NAME_BYTES);
	if (thread->open_ns)
		text_buffer_format(line, "  in %s for %s", doing(thread->kind),
				   quantity_time((double)thread->open_ns).text);
	end_line(screen);
}

static void add_threads(struct screen *screen, const struct live *live,
			const struct live *before)
{
	text_buffer_format(&screen->line, "%8s %10s %10s  %s", "thread",
			   "events/s", "events", "name");
	end_line(screen);
	for (size_t at = 0; at < live->thread_count; at++)
		if (live->thread[at].is_live)
			add_thread(screen, live, before, &live->thread[at]);
}

void live_print_text(const struct live *live, const struct live *before,
		     unsigned int rows, unsigned int columns, FILE *out)
{
	struct screen screen = {out, rows, columns, {0}};
	struct text_buffer *line = &screen.line;

	text_buffer_add_printable(line, live->program, strlen(live->program),
				  60);
	text_buffer_format(
		line, " (%d), recorded for %s: %s", live->pid,
		quantity_time((double)(live->now_ns - live->began_ns)).text,
		state_of(live));
	end_line(&screen);
	add_steps(&screen, live, before);
	text_buffer_format(line,
			   "events   %llu, %.0f a second; regions %llu, "
			   "%.0f a second",
			   (unsigned long long)live->events, RATE(events),
			   (unsigned long long)live->regions, RATE(regions));
	end_line(&screen);
	if (live->heap_live >= 0) {
		text_buffer_format(line,
				   "heap     %s live, %.0f calls a second",
				   quantity_bytes((double)live->heap_live).text,
				   RATE(heap_calls));
		end_line(&screen);
	}
	add_gpu(&screen, live, before);
	add_losses(&screen, live);
	text_buffer_format(line, "files    %llu done; ",
			   (unsigned long long)live->files);
	text_buffer_add_printable(
		line, live->file[0] ? live->file : "none yet",
		strlen(live->file[0] ? live->file : "none yet"), 300);
	end_line(&screen);
	end_line(&screen);
	add_threads(&screen, live, before);
	text_buffer_free(line);
}

void live_print_line(const struct live *live, const struct live *before,
		     FILE *out)
{
	fprintf(out,
		"%s: step %lld, %.1f a second; %.0f events and %.0f regions a "
		"second; %llu lost\n",
		state_of(live), (long long)live->steps, RATE(steps),
		RATE(events), RATE(regions),
		(unsigned long long)(live->dropped + live->unrecorded +
				     live->missed + live->gpu_lost));
}

/* --- JSON ----------------------------------------------------------------- */

#ifdef HAVE_YAJL

static void put_thread(yajl_gen gen, const struct live *live,
		       const struct live *before,
		       const struct live_thread *thread)
{
	yajl_gen_map_open(gen);
	json_print_integer(gen, "tid", thread->tid);
	json_print_text(gen, "name", thread->name);
	json_print_integer(gen, "events", (int64_t)thread->events);
	json_print_number(gen, "events_per_s",
			  thread_rate(live, before, thread));
	json_print_integer(gen, "dropped", (int64_t)thread->dropped);
	json_print_integer(gen, "regions", (int64_t)thread->regions);
	json_print_integer(gen, "open_slices", thread->depth);
	if (thread->open_ns) {
		json_print_text(gen, "open_kind",
				event_kind_word(thread->kind));
		json_print_integer(gen, "open_ns", thread->open_ns);
	}
	yajl_gen_map_close(gen);
}

static void put_counts(yajl_gen gen, const struct live *live,
		       const struct live *before)
{
	json_print_object(gen, "steps");
	json_print_integer(gen, "begun", live->steps);
	json_print_number(gen, "per_s", RATE(steps));
	json_print_integer(gen, "mean_ns", (int64_t)step_ns(live, before));
	json_print_integer(gen, "this_ns", live->step_ns);
	yajl_gen_map_close(gen);
	json_print_object(gen, "events");
	json_print_integer(gen, "seen", (int64_t)live->events);
	json_print_number(gen, "per_s", RATE(events));
	json_print_integer(gen, "dropped", (int64_t)live->dropped);
	json_print_integer(gen, "unrecorded_calls", (int64_t)live->unrecorded);
	json_print_integer(gen, "missed_calls", (int64_t)live->missed);
	yajl_gen_map_close(gen);
	json_print_object(gen, "regions");
	json_print_integer(gen, "begun", (int64_t)live->regions);
	json_print_number(gen, "per_s", RATE(regions));
	yajl_gen_map_close(gen);
	if (live->heap_live >= 0) {
		json_print_object(gen, "heap");
		json_print_integer(gen, "live_bytes", live->heap_live);
		json_print_integer(gen, "calls", (int64_t)live->heap_calls);
		json_print_number(gen, "calls_per_s", RATE(heap_calls));
		yajl_gen_map_close(gen);
	}
}

static void put_gpu(yajl_gen gen, const struct live *live,
		    const struct live *before)
{
	json_print_object(gen, "gpu");
	json_print_integer(gen, "launches", (int64_t)live->launches);
	json_print_number(gen, "launches_per_s", RATE(launches));
	json_print_integer(gen, "kernels", (int64_t)live->kernels);
	json_print_number(gen, "kernels_per_s", RATE(kernels));
	json_print_integer(gen, "lost", (int64_t)live->gpu_lost);
	json_print_integer(gen, "behind_ns", live->gpu_behind_ns);
	yajl_gen_map_close(gen);
}

void live_print_json(const struct live *live, const struct live *before,
		     FILE *out)
{
	yajl_gen gen = json_print_begin(out, true);

	json_print_integer(gen, "pid", live->pid);
	json_print_text(gen, "program", live->program);
	json_print_text(gen, "host", live->host);
	json_print_text(gen, "state", state_of(live));
	json_print_integer(gen, "recorded_ns", live->now_ns - live->began_ns);
	json_print_integer(gen, "between_ns",
			   before ? live->now_ns - before->now_ns : 0);
	put_counts(gen, live, before);
	if (live->has_gpu)
		put_gpu(gen, live, before);
	json_print_object(gen, "buffers");
	json_print_integer(gen, "all", live->chunks);
	json_print_integer(gen, "free", live->free_chunks);
	yajl_gen_map_close(gen);
	json_print_object(gen, "windows");
	json_print_integer(gen, "opened", (int64_t)live->windows);
	json_print_integer(gen, "files", (int64_t)live->files);
	json_print_text(gen, "file", live->file);
	yajl_gen_map_close(gen);
	json_print_list(gen, "threads");
	for (size_t at = 0; at < live->thread_count; at++)
		if (live->thread[at].is_live)
			put_thread(gen, live, before, &live->thread[at]);
	yajl_gen_array_close(gen);
	json_print_end(gen);
}

#else

void live_print_json(const struct live *live, const struct live *before,
		     FILE *out)
{
	(void)live;
	(void)before;
	(void)out;
}

#endif
