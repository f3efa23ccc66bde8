/* SPDX-License-Identifier: MIT */
/* closing.c - says how a recording ended. */
#include "preload/process/life_parts.h"

#include "collector/control/stack_choice.h"
#include "collector/steps/steps.h"
#include "collector/system/log.h"
#include "collector/system/proc.h"
#include "preload/process/life.h"
#include "preload/process/real.h"
#include "preload/process/process.h"
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* Of text, of an event that is drawn; few have less. */
#define EVENT_TEXT_BYTES 100u
/* Of less nobody asks where it went. */
#define HINT_SECONDS	 1.0
/* Calls from which on a number is no exact one, as threads count at once. */
#define ABOUT_LEAST	 10u
/* "18446744073709551615 calls missed that came inside of others, ...". */
#define LOSS_BYTES	 128
/* Why launches lack kernels. */
#define REASON_BYTES	 320

const char *closing_short_path(const struct session *session, const char *path)
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

/* What CUPTI or its buffers had of the GPU, and the trace has not.  False:
 * nothing. */
static bool say_gpu_loss(char *text, size_t bytes, const struct gpu_state *gpu)
{
	const uint64_t buffers = load_relaxed(&gpu->lost);
	const uint64_t records =
		load_relaxed(&gpu->dropped) + gpu->without_time;
	const uint64_t launches = load_relaxed(&gpu->missing_kernels);

	if (buffers)
		log_format(text, bytes,
			   "%lu {buffer|buffers} of the GPU's records "
			   "LOST",
			   (unsigned long)buffers);
	else if (records)
		log_format(text, bytes, "%lu {record|records} of the GPU LOST",
			   (unsigned long)records);
	else if (load_relaxed(&gpu->is_cut))
		log_format(text, bytes, "the GPU's last records LOST");
	else if (launches)
		log_format(text, bytes, "kernels of %lu {launch|launches} LOST",
			   (unsigned long)launches);
	return buffers || records || launches || load_relaxed(&gpu->is_cut);
}

/* "none lost", or how many: never left out. */
static void say_loss(char *text, size_t bytes, const struct session *session,
		     const struct writer_summary *done)
{
	const uint64_t missed = load_relaxed(&session->head->missed_calls);
	const uint64_t dropped =
		done->dropped + load_relaxed(&session->head->unrecorded_calls);

	if (dropped)
		log_format(text, bytes, "%lu LOST", (unsigned long)dropped);
	else if (done->lost_waits)
		log_format(text, bytes,
			   "%lu {wait|waits} at regions' ends LOST",
			   (unsigned long)done->lost_waits);
	else if (missed)
		log_format(text, bytes,
			   "%lu {call|calls} missed that came inside of "
			   "others, of handlers or the loader",
			   (unsigned long)missed);
	else if (!say_gpu_loss(text, bytes, &session->head->gpu))
		log_format(text, bytes, "none lost");
}

static double processor_seconds(void)
{
	struct timespec used = {0, 0};

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

/* What the recording took of the processors. */
static void say_cost(char *text, size_t bytes,
		     const struct writer_summary *done)
{
	log_format(text, bytes, "took %.3f s of %.3f s processor time",
		   (double)(done->hooks_ns + done->writer_cpu_ns) / 1e9,
		   processor_seconds());
}

/* What is in the files, and how much isn't and why. */
static void say_thinned(const struct session *session,
			const struct writer_summary *done)
{
	if (done->thinned)
		log_say("%lu {call was|calls were} thinned by "
			"TRACEPROF_MAX_OVERHEAD=%ld (the totals have all)",
			(unsigned long)done->thinned,
			(long)session->head->options.max_overhead);
}

static void say_not_in_files(const struct session *session,
			     const struct writer_summary *done)
{
	if (done->past_heap)
		log_say("not in the files, but in the totals: %lu {call|calls} "
			"for small blocks (they may take half of "
			"TRACEPROF_MAX_MB=%ld)",
			(unsigned long)done->past_heap,
			(long)session->head->options.max_mb);
	if (done->deleted)
		log_say("not in the files, but in the totals: %lu "
			"{event|events} of parts that were deleted "
			"(TRACEPROF_MAX_PARTS=%ld)",
			(unsigned long)done->deleted,
			(long)session->head->options.max_parts);
	if (done->past_max)
		log_say("%lu {event|events} came past TRACEPROF_MAX_MB=%ld "
			"(the totals have all)",
			(unsigned long)done->past_max,
			(long)session->head->options.max_mb);
}

static void say_files(const struct session *session,
		      const struct writer_summary *done)
{
	const char *path = closing_short_path(session, done->path);
	char size[32];
	char loss[LOSS_BYTES];
	char cost[64];

	say_cost(cost, sizeof(cost), done);
	say_size(size, sizeof(size), done->bytes);
	say_loss(loss, sizeof(loss), session, done);
	if (done->files == 1)
		log_say("wrote %s (%lu recorded {event|events}, %s, %s; %s)",
			path, (unsigned long)done->written, loss, size, cost);
	else
		log_say("wrote %lu traces (%lu recorded {event|events}, %s, "
			"%s; %s), the last one %s",
			(unsigned long)done->files,
			(unsigned long)done->written, loss, size, cost, path);
	say_not_in_files(session, done);
	say_thinned(session, done);
}

/* The file could not be written to the end, as a line before this says. */
static void say_gave_up(const struct session *session,
			const struct writer_summary *done)
{
	const char *path = closing_short_path(session, done->path);

	if (!done->files)
		return;
	log_say("%s holds %lu of %lu {event|events}", path,
		(unsigned long)done->written, (unsigned long)done->seen);
	if (session->head->place == SESSION_IN_FILE)
		log_say("`traceprof recover %s` adds what memory still holds",
			session->head->options.dir);
}

/* A process of its own writes what is left; whoever kills that (a batch system,
 * say) loses nothing. */
static void say_left(const struct session *session,
		     const struct writer_summary *done)
{
	const uint64_t most = (uint64_t)session->head->options.max_mb << 20;
	char loss[LOSS_BYTES];

	say_loss(loss, sizeof(loss), session, done);
	log_say("recorded %lu {event|events}, %s; %lu of them {is|are} left to "
		"be written to %s after the program's end, in about %.2f s (if "
		"that is killed: traceprof recover %s)",
		(unsigned long)(done->seen - done->dropped), loss,
		(unsigned long)done->left,
		closing_short_path(session, done->path),
		(double)done->left_ns / 1e9, session->head->options.dir);
	/* As far as it was written. */
	say_not_in_files(session, done);
	/* Nobody is there to be told when it is known. */
	if (most && done->left * EVENT_TEXT_BYTES > most / 2)
		log_say("TRACEPROF_MAX_MB=%ld may leave out some of them, "
			"which are in the totals then: `traceprof report` says "
			"how many",
			(long)session->head->options.max_mb);
	say_thinned(session, done);
}

/* Call stacks of blocks were asked for: who holds them is what is to be known.
 * An account of blocks without stacks has no names. */
static const char *next_command(const struct options *options)
{
	struct stack_choice choice;
	char why[80];

	/* These two ask for stacks by themselves. */
	if ((options->malloc == MALLOC_SAMPLED ||
	     options->malloc == MALLOC_SITES) &&
	    !options_is_set(options, OPTION_AT_stack))
		return "memory";
	if (stack_choice_parse(options->stack, &choice, why, sizeof(why)) ||
	    !(choice.families & STACK_HEAP) || options->malloc < MALLOC_ALL)
		return "report";
	return "memory";
}

/* `memory` answers what was asked for, and has no verdict. */
static const char *verdict_is_where(const struct session *session,
				    const char *here, const char *elsewhere)
{
	return strcmp(next_command(&session->head->options), "memory")
		       ? here
		       : elsewhere;
}

static void say_next(const struct session *session,
		     const struct writer_summary *done, const char *what)
{
	const struct session_header *head = session->head;
	const char *path = closing_short_path(
		session, done->judged[0] ? done->judged : done->path);
	const int32_t size = load_relaxed(&head->world_size);
	char text[PATH_MAX + 32];
	const char *command = closing_command(text, sizeof(text));

	log_reserve(0);
	/* Only this one of the ranks says anything. */
	if (load_relaxed(&head->rank) == 0 && size > 1)
		log_say("next: %s %s %s (%d ranks write one each, in %s)%s",
			command, next_command(&head->options), path, (int)size,
			head->options.dir, what);
	else
		log_say("next: %s %s %s%s", command,
			next_command(&head->options), path, what);
}

/* Windows for which the table had no place. */
static void say_missed_windows(const struct window_state *state)
{
	const unsigned int missed = load_relaxed(&state->missed);

	if (missed)
		log_trouble(
			"%u of the schedule's windows {was|were} missed: they "
			"came faster than files can be written (a longer "
			"TRACEPROF_WAIT helps)",
			missed);
}

/* A pattern that nothing was called by. */
static void say_no_match(const struct session *session)
{
	const enum step_source source = steps_source();

	if (!load_relaxed(&session->head->windows.marks) &&
	    (source == STEP_OMP || source == STEP_NVTX ||
	     source == STEP_KERNEL || source == STEP_CUDA))
		log_say("TRACEPROF_STEP=%.*s matched nothing: the run has no "
			"steps",
			64, session->head->options.step);
}

/* False: what a schedule by itself would say is to be said. */
static bool say_beside_flight(const struct session *session)
{
	if (load_relaxed(&session->head->windows.opened))
		return true;
	if (search_state(&session->head->search) == SEARCH_NONE)
		return false;
	log_say("nothing of the schedule was recorded: beside a flight "
		"recorder it begins when the step is found; TRACEPROF_STEP "
		"sets it");
	return true;
}

/* A schedule that could not be followed.  First of all, since the file isn't
 * what was asked for. */
static void say_steps(const struct session *session)
{
	const struct window_state *state = &session->head->windows;
	struct schedule schedule;
	int64_t needed;

	say_no_match(session);
	schedule_from_options(&session->head->options, &schedule);
	needed = window_steps_needed(&schedule);
	if (schedule.always)
		return;
	/* That no step was found the writer has said when it gave up. */
	if (search_state(&session->head->search) == SEARCH_OVER)
		return;
	if (session->head->flight.is_on && say_beside_flight(session))
		return;
	say_missed_windows(state);
	if (load_relaxed(&state->steps) < needed)
		log_say("the run had %ld {step|steps}, the schedule needs "
			"%ld%s",
			(long)load_relaxed(&state->steps), (long)needed,
			load_relaxed(&state->opened)
				? ""
				: ": nothing was recorded");
}

/* What samples would tell: where most of the processor time lies outside of all
 * that was recorded.  A GPU's work, or a schedule, says nothing of that. */
static void say_hint(const struct session *session,
		     const struct writer_summary *done)
{
	const struct options *options = &session->head->options;
	const double used = processor_seconds();
	const double known = (double)(done->drawn_ns + done->hooks_ns +
				      done->writer_cpu_ns) /
			     1e9;

	if (options->sample || options_have_schedule(options) ||
	    session->head->flight.is_on || used < HINT_SECONDS ||
	    known > used / 2)
		return;
	log_say("%.0f %% of %.1f s processor time lie outside what was "
		"recorded: --sample (TRACEPROF_SAMPLE=499) shows where",
		100 * (1 - known / used), used);
}

/* multiprocessing, or joblib, began it to do its parent's work: a DataLoader's
 * worker, or what looks after shared memory.  Not one that trains, of which the
 * parent does nothing: a rank, or one that has steps of its own or a GPU's
 * work. */
static bool is_worker(const struct session *session)
{
	static const char *const words[] = {
		"--multiprocessing-fork", "from multiprocessing.",
		"joblib.externals.loky.", "from joblib.externals.loky."};
	const struct session_header *head = session->head;
	const enum search_state found = search_state(&head->search);
	const bool is_found = found == SEARCH_FOUND || found == SEARCH_JOINED ||
			      found == SEARCH_LIVE;

	/* A loop of regions may be what makes a batch. */
	if (head->gpu.launches ||
	    (is_found ? head->search.family != SEARCH_REGIONS
		      : load_relaxed(&head->windows.steps) > 0) ||
	    (load_relaxed(&head->rank_is_late) &&
	     load_relaxed(&head->rank) >= 0))
		return false;
	for (size_t at = 0; at < sizeof(words) / sizeof(words[0]); at++)
		if (proc_has_argument_from(words[at]))
			return true;
	return false;
}

/* Of a script's hundred short commands nobody reads a hundred verdicts, nor of
 * a program's workers, and of what a wrapper did before it became the program
 * none. */
static bool is_in_brief(const struct session *session, enum program_then then)
{
	const uint64_t ran =
		clock_monotonic_ns() - (uint64_t)session->head->clock.first_ns;

	if ((double)ran >= HINT_SECONDS * 1e9)
		return is_worker(session);
	return then == PROGRAM_BECOMES_ANOTHER ||
	       process_kind_is_one_of_many() || is_worker(session);
}

/* Recorded from its start on, it did nothing of what is drawn: it leaves
 * nothing, as where only a region begins a recording. */
static bool is_empty(const struct session *session,
		     const struct writer_summary *done, enum program_then then)
{
	const struct session_header *head = session->head;

	return then == PROGRAM_BECOMES_ANOTHER && done->files == 1 &&
	       done->seen == done->counts && done->written <= done->counts &&
	       !done->dropped && !done->thinned && done->path[0] &&
	       !load_relaxed(&head->missed_calls) &&
	       !load_relaxed(&head->unrecorded_calls) &&
	       !load_relaxed(&head->unfollowed_calls) &&
	       is_in_brief(session, then);
}

static double seconds_of(int whose)
{
	struct rusage used = {0};

	getrusage(whose, &used);
	return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
	       (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

bool closing_is_launcher(void)
{
	return seconds_of(RUSAGE_SELF) + seconds_of(RUSAGE_CHILDREN) <
		       HINT_SECONDS &&
	       process_kind_is_tool();
}

/* What is recorded of a shell, from its start on, are samples and waits for its
 * commands. */
static bool is_launchers(const struct writer_summary *done,
			 enum program_then then)
{
	return then == PROGRAM_BECOMES_ANOTHER && done->files == 1 &&
	       done->path[0] && closing_is_launcher();
}

/* What is in the file, and where its time went. */
static void say_written(const struct session *session,
			const struct writer_summary *done,
			enum program_then then)
{
	bool hints = false, is_judged;

	say_files(session, done);
	/* For what to type next; no loss is kept back for that. */
	log_reserve(1);
	if (is_in_brief(session, then))
		return;
	is_judged =
		then == PROGRAM_ENDS && closing_verdict(session, done, &hints);
	if (!is_judged && done->most[0])
		log_say("most time: %s", done->most);
	if (!hints)
		say_hint(session, done);
	say_next(session, done,
		 !is_judged && session->head->options.verdict &&
				 !process.direct && done->judged_events
			 ? verdict_is_where(session, ", for the verdict",
					    " (report has the verdict)")
			 : "");
}

/* One more reason. */
static void add_reason(char *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void add_reason(char *text, const char *format, ...)
{
	size_t len = strlen(text);
	va_list args;

	if (len)
		len += log_format(text + len, REASON_BYTES - len, "; ");
	va_start(args, format);
	log_format_list(text + len, REASON_BYTES - len, format, args);
	va_end(args);
}

/* Launches whose kernels aren't there, and why. */
static void say_missing(const struct session *session, uint64_t missing)
{
	const struct gpu_state *gpu = &session->head->gpu;
	const uint64_t untimed = gpu->without_time - gpu->unfinished;
	const uint64_t dropped = load_relaxed(&gpu->dropped);
	const uint64_t buffers = load_relaxed(&gpu->lost);
	char why[REASON_BYTES] = "";

	if (untimed)
		add_reason(why,
			   "CUPTI gave %lu {record|records} of the GPU no time",
			   (unsigned long)untimed);
	if (dropped)
		add_reason(why,
			   "CUPTI had no room for %lu {record|records} of the "
			   "GPU",
			   (unsigned long)dropped);
	if (buffers)
		add_reason(why,
			   "%lu {buffer|buffers} of the GPU's records {is|are} "
			   "lost",
			   (unsigned long)buffers);
	if (!why[0] && !gpu->kernels && !gpu->unfinished)
		add_reason(why, "CUPTI gave no record of any");
	else if (gpu->unfinished || !why[0])
		add_reason(why,
			   "these were missing when the program ended, or "
			   "TRACEPROF_GPU_WAIT_MS (%ld) after the window",
			   (long)session->head->options.gpu_wait_ms);
	log_trouble("%lu {launch lacks|launches lack} kernels in the trace: %s",
		    (unsigned long)missing, why);
}

/* What is not known for sure of launches and calls. */
static void say_gpu(const struct session *session)
{
	const struct gpu_state *gpu = &session->head->gpu;
	const uint64_t missing = load_relaxed(&gpu->missing_kernels);

	if (missing)
		say_missing(session, missing);
	if (gpu->unknown_captures)
		log_trouble("%lu {launch|launches} may have gone into a graph: "
			    "too many nodes were made at once; counted as "
			    "lacking kernels",
			    (unsigned long)gpu->unknown_captures);
	if (gpu->unpaired)
		log_trouble(
			"%lu {call|calls} of CUDA's driver may be drawn beside "
			"what called {it|them} in its runtime: too many "
			"threads called at once",
			(unsigned long)gpu->unpaired);
}

void closing_report(const struct session *session,
		    const struct writer_summary *done, int rc, uint64_t missed,
		    enum program_then then)
{
	const struct options *options = &session->head->options;
	const uint64_t unrecorded =
		load_relaxed(&session->head->unrecorded_calls);
	const uint64_t unfollowed =
		load_relaxed(&session->head->unfollowed_calls);

	if (rc == -ETIMEDOUT)
		log_trouble("the writer was not done after %ld ms "
			    "(TRACEPROF_EXIT_MS): `traceprof recover` "
			    "finishes %s",
			    (long)options->exit_ms,
			    done->path[0] ? done->path : "the trace");
	if (done->dropped)
		log_trouble("%lu {event|events} found no room: raise "
			    "TRACEPROF_BUFFER_MB (%ld), or record less",
			    (unsigned long)done->dropped,
			    (long)options->buffer_mb);
	if (unrecorded > missed + unfollowed)
		log_trouble("some threads found no room to be recorded (%lu "
			    "{call|calls}): raise TRACEPROF_BUFFER_MB (%ld)",
			    (unsigned long)(unrecorded - missed - unfollowed),
			    (long)options->buffer_mb);
	if (unfollowed)
		log_trouble(
			"%lu {call|calls} could not be followed: nested too "
			"deep, too many at once, or inside the profiler",
			(unsigned long)unfollowed);
	say_gpu(session);
	if (!rc &&
	    (is_empty(session, done, then) || is_launchers(done, then))) {
		unlink(done->path);
		return;
	}
	say_steps(session);
	log_reserve(0);
	if (rc == -ECANCELED) {
		say_gave_up(session, done);
	} else if (done->files && rc == -EINPROGRESS) {
		say_left(session, done);
		if (!is_in_brief(session, then))
			say_next(session, done,
				 verdict_is_where(
					 session,
					 done->seeks_step
						 ? ", for the verdict and the "
						   "step, when that is done"
						 : ", for the verdict, when "
						   "that is done",
					 ", when that is done (report has the "
					 "verdict)"));
	} else if (done->files && rc != -ETIMEDOUT) {
		/* Of a file that is not whole yet there are no totals. */
		say_written(session, done, then);
	} else if (session->head->flight.is_on) {
		log_say("no trace: nothing triggered the flight recorder");
	}
}

/* Somebody waits for a trace: of a shell's commands, a build's or a start
 * script's nobody does, and of many ranks one speaks. */
static bool is_asked_for(void)
{
	int32_t size;

	return process.direct ||
	       (processor_seconds() >= HINT_SECONDS &&
		session_rank(&size) <= 0 && process_kind_is_pointed_at());
}

void closing_explain(const struct options *options, uint64_t heap_calls)
{
	const char *object;

	if (!is_asked_for())
		return;
	log_reserve(0);
	if (process_kind_is_tool())
		log_say("no trace of this process: it did nothing that is "
			"recorded; programs that it started write their own if "
			"they do");
	else if (!real_sees_heap(&object))
		log_say("no trace: no OpenMP region or annotation was seen, "
			"and the allocator built into %s can't be watched",
			object);
	else if (options->malloc == MALLOC_OFF)
		log_say("no trace: no OpenMP region or annotation was seen, "
			"and TRACEPROF_MALLOC is off");
	else
		log_say("no trace: in %.1f s of processor time no OpenMP "
			"region, annotation or GPU work was seen; %s shows "
			"where the time went, and %s the heap (%s%lu "
			"{allocation|allocations})",
			processor_seconds(),
			process.direct ? "--sample" : "TRACEPROF_SAMPLE=499",
			process.direct ? "--malloc=large"
				       : "TRACEPROF_MALLOC=large",
			heap_calls < ABOUT_LEAST ? "" : "some ",
			(unsigned long)heap_calls);
}
