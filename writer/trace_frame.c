/* SPDX-License-Identifier: MIT */
/* trace_frame.c - head and tail of a trace; see trace_frame.h. */
#include "writer/trace_frame.h"

#include "collector/session/names.h"
#include "collector/system/proc.h"
#include "writer/account.h"
#include "writer/bound.h"
#include "writer/events/block_json.h"
#include "writer/events/meta_json.h"
#include "writer/events/python_json.h"
#include "writer/events/sample_json.h"
#include "writer/events/stack_json.h"
#include "writer/gpu/gpu_tail.h"
#include "writer/steps/step_finder.h"
#include "writer/text/schema.h"
#include "writer/window_trace.h"
#include "writer/draw/task_sums.h"
#include <sched.h>
#include <string.h>
#include <unistd.h>

/* Names of the totals in the file, largest sums first; more where the detail
 * had to end, since then nothing else has them. */
#define TOTALS_SHOWN		    200u
#define TOTALS_SHOWN_WITHOUT_DETAIL 100000u

static void micros(struct json *json, uint64_t ns)
{
	json_micros(json, (int64_t)ns);
}

static void trace_name(const struct writer_state *state, struct json *json)
{
	const char *slash = strrchr(state->file.path, '/');
	const char *name = slash ? slash + 1 : state->file.path;

	/* TensorBoard's plugin cuts the file of a program with a GPU after its
	 * last ']' and puts counters and "]}" there: it must be that of a list
	 * on the top level. */
	json_raw(json, ",\n");
	if (load_relaxed(&state->session->head->rank_is_in_tail))
		trace_head_distributed(state->session->head, json);
	gpu_tail_devices(state, json);
	json_raw(json, SCHEMA_KEY(SCHEMA_TRACE_NAME));
	json_string(json, name, strlen(name));
	json_char(json, '}');
}

/* On how many processors the program could run as it began; the writer does on
 * the same.  Who recovers doesn't know. */
static void processors(struct json *json, struct writer_state *state)
{
	const uint64_t percent =
		state->is_recovered ? UINT64_MAX : proc_processors_percent();
	cpu_set_t set;

	if (!state->is_recovered && !sched_getaffinity(0, sizeof(set), &set))
		json_pair_u64(json, "cpus", (uint64_t)CPU_COUNT(&set));
	bound_write(state, json);
	if (percent != UINT64_MAX)
		json_pair_u64(json, "cpu_limit_percent", percent);
}

/* What other programs had of the processors since the recording began. */
static void note_others(struct session_header *head)
{
	struct proc_machine now;
	uint64_t busy, own;

	if (!proc_machine(&now))
		return;
	if (!load_relaxed(&head->machine_all_ns)) {
		store_relaxed(&head->machine_all_ns, now.all_ns);
		store_relaxed(&head->machine_busy_ns, now.busy_ns);
		store_relaxed(&head->machine_own_ns, now.own_ns);
		return;
	}
	busy = now.busy_ns -
	       min_u64(load_relaxed(&head->machine_busy_ns), now.busy_ns);
	own = now.own_ns -
	      min_u64(load_relaxed(&head->machine_own_ns), now.own_ns);
	store_relaxed(&head->processors_ns,
		      now.all_ns - min_u64(load_relaxed(&head->machine_all_ns),
					   now.all_ns));
	store_relaxed(&head->others_ns, busy - min_u64(own, busy));
	/* To the microsecond, where the machine's come in whole ticks. */
	store_relaxed(&head->program_ns, own);
}

void trace_frame_note_scheduled(struct session_header *head, bool with_others)
{
	uint64_t numbers[2];

	if (getpid() != head->pid || !proc_is_aside())
		return;
	if (with_others)
		note_others(head);
	if (proc_numbers("/proc/self/schedstat", numbers, 2) == 2) {
		store_relaxed(&head->ran_ns, numbers[0]);
		store_relaxed(&head->unscheduled_ns, numbers[1]);
		store_relaxed(&head->lived_ns, proc_age_ns(head->pid));
	}
}

/* Who finishes the file for a program that has ended knows it as of the last
 * checkpoint. */
static void scheduled(struct json *json, const struct writer_state *state)
{
	struct session_header *head = state->session->head;
	uint64_t ran_ns;

	trace_frame_note_scheduled(head, true);
	ran_ns = load_relaxed(&head->ran_ns);
	if (!ran_ns)
		return;
	json_raw(json, ",\"scheduled\":{\"ran_ns\":");
	json_u64(json, ran_ns);
	json_pair_u64(json, "waited_ns", load_relaxed(&head->unscheduled_ns));
	if (load_relaxed(&head->lived_ns))
		json_pair_u64(json, "lived_ns", load_relaxed(&head->lived_ns));
	if (load_relaxed(&head->processors_ns)) {
		json_pair_u64(json, "processors_ns",
			      load_relaxed(&head->processors_ns));
		json_pair_u64(json, "others_ns",
			      load_relaxed(&head->others_ns));
		json_pair_u64(json, "program_ns",
			      load_relaxed(&head->program_ns));
	}
	json_char(json, '}');
}

/* Closes the events and opens our own object. */
static void open_ours(struct json *json)
{
	json_raw(json, "\n],\n" SCHEMA_KEY(SCHEMA_OURS) "{" SCHEMA_PAIR(
			       "version", TRACEPROF_VERSION));
}

/* A number that few files have. */
#define json_pair_some(json, key, value)                                       \
	do {                                                                   \
		const uint64_t some = (value);                                 \
                                                                               \
		if (some)                                                      \
			json_pair_u64(json, key, some);                        \
	} while (0)

static void events(struct json *json, const struct writer_state *state,
		   const struct account *account)
{
	struct session_header *head = state->session->head;

	json_raw(json, ",\"events\":{\"seen\":");
	json_u64(json, account->seen);
	json_pair_u64(json, "written", account->written);
	json_pair_u64(json, "cut", account->cut);
	json_pair_u64(json, "outside", state->counts.outside);
	json_pair_u64(json, "past_max", state->counts.past_max);
	json_pair_some(json, "unwritable", state->counts.unwritable);
	if (account->thinned)
		json_pair_u64(json, "thinned", account->thinned);
	json_pair_u64(json, "dropped", account->sums.dropped);
	if (head->flight.is_on)
		json_pair_u64(
			json, "aged",
			min_u64(head->flight.aged, state->counts.outside));
	json_pair_u64(json, "in_file", state->counts.file_events);
	json_pair_some(json, "past_heap", state->counts.past_heap);
	json_pair_some(json, "deleted", state->counts.deleted);
	json_pair_u64(json, "unrecorded_calls", account->unrecorded);
	json_pair_some(json, "unfollowed_calls",
		       load_relaxed(&head->unfollowed_calls));
	json_pair_some(json, "held_up_calls",
		       load_relaxed(&head->held_up_calls));
	json_pair_some(json, "missed_calls", account->missed);
	json_pair_some(json, "names_refused",
		       load_relaxed(&head->names_refused));
	json_pair_some(json, "unnamed", state->counts.unnamed);
	json_char(json, '}');
}

/* All of them have found their end by now, but for those that a region's end in
 * a next part will end. */
static void waits(struct json *json, const struct wait_counts *counts,
		  bool is_last)
{
	const uint64_t ended = counts->drawn + counts->outside + counts->lost;

	json_raw(json, ",\"waits\":{\"begun\":");
	json_u64(json, counts->begun);
	json_pair_u64(json, "drawn", counts->drawn);
	json_pair_u64(json, "outside", counts->outside);
	json_pair_u64(json, "lost", counts->lost);
	if (!is_last && counts->begun > ended)
		json_pair_u64(json, "later", counts->begun - ended);
	json_char(json, '}');
}

static void flag(struct json *json, const char *name, bool value)
{
	json_char(json, ',');
	json_string(json, name, strlen(name));
	json_char(json, ':');
	if (value)
		json_raw(json, "true");
	else
		json_raw(json, "false");
}

void trace_frame_short_tail(struct writer_state *state, struct json *json)
{
	struct account account;

	account_take(state, false, &account);
	open_ours(json);
	flag(json, "final", false);
	flag(json, "recovered", state->is_recovered);
	/* How far behind the program the file is. */
	json_pair_u64(json, "waiting", account_waiting(state));
	events(json, state, &account);
	json_raw(json, ",\"heap\":{\"base_bytes\":");
	json_i64(json, state->session->head->heap_base_bytes);
	block_json_drawn(json, state);
	json_raw(json, "}}");
	trace_name(state, json);
}

static void by_kind(struct json *json, const char *name, const uint64_t *counts)
{
	bool any = false;

	json_char(json, ',');
	json_string(json, name, strlen(name));
	json_raw(json, ":{");
	for (unsigned int i = 0; i < EVENT_KIND_COUNT; i++) {
		const char *word = event_kind_word(i);

		if (!counts[i])
			continue;
		if (any)
			json_char(json, ',');
		any = true;
		json_string(json, word, strlen(word));
		json_char(json, ':');
		json_u64(json, counts[i]);
	}
	json_char(json, '}');
}

static void dropped_by_thread(struct json *json, const struct account *account)
{
	json_raw(json, ",\"dropped_by_thread\":{");
	for (unsigned int i = 0; i < account->loss_count; i++) {
		if (i)
			json_char(json, ',');
		json_char(json, '"');
		json_u64(json, account->losses[i].tid);
		json_raw(json, "\":");
		json_u64(json, account->losses[i].dropped);
	}
	json_char(json, '}');
}

static void heap(struct json *json, const struct writer_state *state,
		 const struct account *account)
{
	const struct thread_sums *sums = &account->sums;
	const struct heap_before *before = &state->session->head->heap_before;

	json_raw(json, ",\"heap\":{\"calls\":");
	json_u64(json, sums->heap_allocs);
	json_pair_u64(json, "frees", sums->heap_frees);
	json_pair_u64(json, "bytes", sums->heap_alloc_bytes);
	json_pair_u64(json, "asked_bytes", sums->heap_asked_bytes);
	json_pair_i64(json, "live_bytes", account->heap_live);
	json_pair_i64(json, "peak_bytes",
		      state->heap.peak > account->heap_live
			      ? state->heap.peak
			      : account->heap_live);
	json_pair_i64(json, "base_bytes",
		      state->session->head->heap_base_bytes);
	block_json_drawn(json, state);
	if (before->is_known) {
		json_pair_u64(json, "calls_before", before->allocs);
		json_pair_u64(json, "frees_before", before->frees);
		json_pair_u64(json, "bytes_before", before->alloc_bytes);
		json_pair_u64(json, "asked_bytes_before", before->asked_bytes);
	}
	json_char(json, '}');
}

/* What the kernel says of all reads, those that no hook saw among them. */
static void file_io(struct json *json, const struct writer_state *state)
{
	const struct file_sums *sums = &state->session->head->file_io;
	uint64_t read_bytes, disk_bytes;

	if (!sums->is_known || !state->is_live ||
	    !proc_io(&read_bytes, &disk_bytes))
		return;
	json_raw(json, ",\"io\":{\"read_bytes\":");
	json_u64(json, read_bytes - sums->read_before);
	json_pair_u64(json, "disk_bytes", disk_bytes - sums->disk_before);
	json_char(json, '}');
}

int64_t trace_frame_steps(const struct writer_state *state)
{
	const int64_t before = state->file.steps_before;

	return before < 0 ? -1
			  : (int64_t)state->counts.written_by_kind[EVENT_STEP] -
				    before + state->file.steps_found;
}

static void window(struct json *json, struct writer_state *state)
{
	const struct session *session = state->session;
	const struct window_state *windows = &session->head->windows;
	const struct window *now = writer_state_window(state);
	size_t len = 0;
	int64_t steps;

	json_raw(json, ",\"step\":{\"source\":");
	json_string(json, session->head->options.step,
		    strnlen(session->head->options.step, OPTION_TEXT_BYTES));
	steps = step_finder_steps(state);
	if (now && steps <= now->last_step)
		steps = now->last_step + 1;
	json_pair_i64(json, "seen", steps);
	if (trace_frame_steps(state) >= 0)
		json_pair_i64(json, "drawn", trace_frame_steps(state));
	if (state->file.died_in)
		json_pair_i64(json, "died_in", state->file.died_in - 1);
	if (session->head->search.passed)
		json_pair_u64(json, "passed", session->head->search.passed);
	if (now && now->first_step >= 0) {
		json_pair_i64(json, "first", now->first_step);
		json_pair_i64(json, "last", now->last_step);
	}
	json_pair_u64(json, "window", state->window);
	if (now && now->name) {
		const char *name = names_text(session, now->name, &len);

		json_pair_text(json, "name", name, len);
	}
	json_pair_u64(json, "missed_windows",
		      load_relaxed(&((struct window_state *)windows)->missed));
	json_char(json, '}');
}

/* Of a file that holds a part of the recording: what of the sums above, which
 * are the recording's, is its own. */
static void counted(struct json *json, struct writer_state *state,
		    uint64_t end_ns)
{
	const uint64_t part = window_trace_part(state);
	struct account_window own;

	if (part)
		json_pair_u64(json, "part", part);
	if (!account_window(state, end_ns, &own))
		return;
	json_raw(json, ",\"window\":{\"heap_calls\":");
	json_u64(json, own.heap_calls);
	json_pair_u64(json, "heap_bytes", own.heap_bytes);
	json_pair_u64(json, "hooks_ns", own.hooks_ns);
	if (own.processors_ns) {
		json_pair_u64(json, "processors_ns", own.processors_ns);
		json_pair_u64(json, "others_ns", own.others_ns);
		json_pair_u64(json, "program_ns", own.program_ns);
	}
	json_char(json, '}');
}

/* Of a file of the flight recorder: what made it. */
static void trigger(struct json *json, struct writer_state *state)
{
	const struct window *now = writer_state_window(state);
	const char *text;
	size_t len;

	if (!now || !now->reason)
		return;
	text = flight_reason_word(now->reason);
	json_raw(json, ",\"trigger\":{\"reason\":");
	json_string(json, text, strlen(text));
	json_pair_u64(json, "number", now->dump);
	text = names_text(state->session, now->name, &len);
	json_pair_text(json, "detail", text, len);
	json_char(json, '}');
}

static bool is_called_so(const struct label *label, const struct label *like)
{
	return label->kind == like->kind && label->text_len == like->text_len &&
	       !memcmp(label->text, like->text, like->text_len);
}

/* The sums of all that have one name: a function's tasks may be made in several
 * places of it.  False: one of them stood before, or none was thinned. */
static bool sum_named(struct label *const *labels, size_t count, size_t at,
		      struct total *sum)
{
	*sum = labels[at]->file;
	for (size_t i = 0; i < count; i++) {
		const struct total *file = &labels[i]->file;

		if (i == at || !is_called_so(labels[i], labels[at]))
			continue;
		if (i < at && file->thinned)
			return false;
		sum->calls += file->calls;
		sum->thinned += file->thinned;
		sum->sum_ns += file->sum_ns;
		sum->min_ns = min_u64(sum->min_ns, file->min_ns);
		sum->max_ns = max_u64(sum->max_ns, file->max_ns);
		sum->mask = sum->mask > file->mask ? sum->mask : file->mask;
	}
	return true;
}

/* The sites of which not every call was drawn: what was seen of them is exact,
 * and so are the sums. */
static void sampled(struct json *json, struct label *const *labels,
		    size_t count)
{
	bool is_first = true;

	json_raw(json, ",\n" SCHEMA_KEY(SCHEMA_SAMPLED) "[");
	for (size_t i = 0; i < count; i++) {
		const struct label *label = labels[i];
		struct total sum;

		if (!label->file.thinned || !sum_named(labels, count, i, &sum))
			continue;
		if (!is_first)
			json_char(json, ',');
		is_first = false;
		json_raw(json, "\n{\"name\":\"");
		json_bytes(json, label->text, label->text_len);
		if (label->kind == EVENT_HEAP_ALLOC)
			json_raw(json, "\",\"heap\":\"alloc\"");
		else if (label->kind == EVENT_HEAP_FREE)
			json_raw(json, "\",\"heap\":\"free\"");
		else if (label->kind == EVENT_OMP_WAIT)
			json_raw(json, "\",\"omp\":\"wait\"");
		else if (label->kind == EVENT_OMP_EXPLICIT)
			json_raw(json, "\",\"omp\":\"explicit\"");
		else if (label->kind == EVENT_OMP_CREATE)
			json_raw(json, "\",\"omp\":\"create\"");
		else if (label->kind == EVENT_OMP_ACQUIRED)
			json_raw(json, "\",\"omp\":\"held\"");
		else
			json_raw(json, "\",\"omp\":\"parallel\"");
		json_raw(json, ",\"sampled\":\"");
		if (sum.mask == UINT32_MAX) {
			json_raw(json, "none\"");
		} else {
			json_raw(json, "1/");
			json_u64(json, sum.mask + UINT64_C(1));
			json_char(json, '"');
		}
		json_pair_u64(json, "seen", sum.calls);
		json_pair_u64(json, "drawn", sum.calls - sum.thinned);
		json_pair_u64(json, "thinned", sum.thinned);
		if (label->kind == EVENT_HEAP_ALLOC ||
		    label->kind == EVENT_HEAP_FREE) {
			json_char(json, '}');
			continue;
		}
		json_pair_micros(json, "total_us", sum.sum_ns);
		json_pair_micros(json, "min_us", sum.min_ns);
		json_pair_micros(json, "max_us", sum.max_ns);
		json_char(json, '}');
	}
	json_char(json, ']');
}

static void totals(struct json *json, struct writer_state *state)
{
	const size_t most = state->file.detail_is_over
				    ? TOTALS_SHOWN_WITHOUT_DETAIL
				    : TOTALS_SHOWN;
	struct label *const *sorted;
	size_t count;

	if (!state->totals_are_whole)
		return;
	count = totals_sort(&state->totals, true, &sorted);
	json_raw(json, ",\n" SCHEMA_KEY(SCHEMA_TOTALS) "[");
	for (size_t i = 0; i < count && i < most; i++) {
		const struct label *label = sorted[i];

		if (i)
			json_char(json, ',');
		json_raw(json, "\n{\"name\":\"");
		json_bytes(json, label->text, label->text_len);
		json_raw(json, "\",\"cat\":");
		json_string(json, label->category, strlen(label->category));
		json_pair_u64(json, "calls", label->file.calls);
		json_pair_micros(json, "total_us", label->file.sum_ns);
		json_pair_micros(json, "min_us", label->file.min_ns);
		json_pair_micros(json, "max_us", label->file.max_ns);
		json_char(json, '}');
	}
	json_char(json, ']');
	if (state->counts.thinned)
		sampled(json, sorted, count);
}

static void all_options(struct json *json, const struct options *options)
{
	char text[OPTION_TEXT_BYTES];

	json_raw(json, ",\n" SCHEMA_KEY(SCHEMA_OPTIONS) "{");
	for (unsigned int i = 0; i < option_row_count; i++) {
		if (i)
			json_char(json, ',');
		options_text(options, i, text, sizeof(text));
		json_string(json, option_rows[i].name,
			    strlen(option_rows[i].name));
		json_char(json, ':');
		json_string(json, text, strlen(text));
	}
	json_char(json, '}');
}

static void notes(struct json *json, const struct writer_state *state)
{
	struct session_header *head = state->session->head;
	const uint32_t count = (uint32_t)min_u64(
		load_relaxed(&head->note_count), SESSION_NOTES_MAX);
	const uint32_t refused = load_relaxed(&head->notes_refused);

	json_raw(json, ",\n" SCHEMA_KEY(SCHEMA_NOTES) "[");
	for (uint32_t i = 0; i < count; i++) {
		if (i)
			json_char(json, ',');
		json_string(json, head->notes[i],
			    strnlen(head->notes[i], SESSION_NOTE_BYTES));
	}
	if (refused) {
		json_raw(json, ",\"");
		json_u64(json, refused);
		json_raw(json, " more notes had no room\"");
	}
	json_char(json, ']');
}

static void ourselves(struct json *json, struct writer_state *state,
		      const struct thread_sums *sums)
{
	const struct session_cost *cost = &state->session->head->cost;
	struct clock_segments *clock = &state->session->head->clock;
	const uint64_t cpu_ns = account_cpu_ns(state);

	if (clock->uses_counter)
		json_raw(json, ",\"clock\":{\"source\":\"counter\"");
	else
		json_raw(json, ",\"clock\":{\"source\":\"monotonic\"");
	json_pair_i64(json, "error_ns", clock->error_ns);
	json_pair_u64(json, "segments", load_relaxed(&clock->count));
	json_pair_u64(json, "jumps", clock->steps_back);
	json_char(json, '}');
	processors(json, state);
	scheduled(json, state);
	json_raw(json, ",\"writer\":{\"cpu_ns\":");
	json_u64(json, cpu_ns);
	json_pair_u64(json, "passes", state->passes);
	json_pair_u64(json, "checkpoints", state->checkpoints);
	json_pair_u64(json, "late_passes", state->late_passes);
	json_pair_u64(json, "spooled_bytes", state->spool.written);
	json_raw(json, "},\"cost\":{\"hooks_ns\":");
	json_u64(json, account_hooks_ns(state, sums));
	json_pair_u64(json, "writer_ns", cpu_ns);
	json_pair_u64(json, "heap_call_ps", cost->counted_ps);
	json_pair_u64(json, "heap_event_ps", cost->event_ps);
	json_pair_u64(json, "slice_ps", cost->slice_ps);
	json_pair_u64(json, "region_ps", cost->region_ps);
	json_pair_u64(json, "member_ps", cost->member_ps);
	json_pair_u64(json, "thinned_ps", cost->thinned_ps);
	json_pair_u64(json, "marked_ps", cost->marked_ps);
	json_pair_u64(json, "python_call_ps", cost->python_ps);
	json_pair_u64(json, "teams", state->counts.teams);
	json_raw(json, "},\"detail_ended\":");
	if (state->file.detail_is_over)
		micros(json, state->file.detail_ended_ns);
	else
		json_raw(json, "null");
}

#define ON_SPAN                                                                \
	",\"pid\":\"" SCHEMA_SPAN_PID "\",\"tid\":\"" SCHEMA_SPAN_TID          \
	"\",\"ts\":"

/* The window as the readers of torch.profiler's traces know it.  Its
 * marks lie on the lane of the span: a global one has no name in Perfetto. */
static void span(struct json *json, const struct writer_state *state,
		 uint64_t end_ns)
{
	const uint64_t start_ns = state->file.start_ns;

	json_raw(json, ",\n{\"ph\":\"X\",\"cat\":\"" SCHEMA_TRACE
		       "\",\"name\":\"" SCHEMA_SPAN_NAME "\"" ON_SPAN);
	micros(json, start_ns);
	json_pair_micros(json, "dur",
			 end_ns > start_ns ? end_ns - start_ns : 0);
	json_raw(json, ",\"args\":{\"" SCHEMA_OP_COUNT "\":0}}");
	json_raw(json, ",\n{\"ph\":\"M\",\"name\":\"" SCHEMA_PROCESS_SORT
		       "\",\"ts\":");
	micros(json, start_ns);
	json_raw(json, ",\"pid\":\"" SCHEMA_SPAN_PID
		       "\",\"tid\":0,\"args\":{\"" SCHEMA_SORT_INDEX
		       "\":536870912}}");
	json_raw(json, ",\n{\"ph\":\"i\",\"s\":\"t\",\"name\":"
		       "\"" SCHEMA_ITERATION_START "\"" ON_SPAN);
	micros(json, start_ns);
	json_raw(json,
		 "},\n{\"ph\":\"i\",\"s\":\"t\",\"name\":\"" SCHEMA_WINDOW_END
		 "\"" ON_SPAN);
	micros(json, max_u64(start_ns, end_ns));
	json_char(json, '}');
}

void trace_frame_tail(struct writer_state *state, struct json *json,
		      struct trace_end end)
{
	const struct session_header *head = state->session->head;
	struct account account;

	account_take(state, end.is_last, &account);
	span(json, state, end.end_ns);
	open_ours(json);
	flag(json, "final", true);
	flag(json, "recovered", end.is_recovered);
	events(json, state, &account);
	waits(json, &state->counts.waits, end.is_last);
	by_kind(json, "dropped_by_kind", account.sums.dropped_by_kind);
	dropped_by_thread(json, &account);
	by_kind(json, "written_by_kind", state->counts.written_by_kind);
	heap(json, state, &account);
	sampling_json(json, state);
	task_sums_json(state, json);
	file_io(json, state);
	window(json, state);
	trigger(json, state);
	gpu_tail_account(state, json);
	all_options(json, &head->options);
	json_raw(json, ",\n\"reason\":");
	json_string(json, head->reason,
		    strnlen(head->reason, sizeof(head->reason)));
	notes(json, state);
	stack_json_modules(state, json);
	ourselves(json, state, &account.sums);
	python_json(state, json, end.end_ns);
	counted(json, state, end.end_ns);
	totals(json, state);
	json_char(json, '}');
	trace_name(state, json);
}
