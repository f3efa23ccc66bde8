/* SPDX-License-Identifier: MIT */
/* account.c - seen, and what became of it; see account.h. */
#include "writer/account.h"

#include "collector/control/stack_choice.h"

#include <string.h>
#include <time.h>

static uint64_t consumed(const struct writer_state *state)
{
	return state->counts.written + state->counts.cut +
	       state->counts.thinned;
}

void account_take(struct writer_state *state, bool is_last,
		  struct account *account)
{
	struct session_header *head = state->session->head;

	account->loss_count =
		thread_sum_losses(state->session, &account->sums,
				  account->losses, ACCOUNT_THREADS);
	account->written = state->counts.written;
	account->cut = state->counts.cut;
	account->thinned = state->counts.thinned;
	account->unrecorded = load_relaxed(&head->unrecorded_calls);
	account->missed = load_relaxed(&head->missed_calls);
	account->seen = consumed(state);
	/* A process that was killed between counting an event and publishing
	 * it had not finished that event: there the rings are the truth.  Of
	 * one that lives a thread may go on in a hook when the rest was counted
	 * and before it is written. */
	if (is_last && state->is_live)
		account->seen = max_u64(account->seen, state->counts.committed);
	account->seen +=
		account->sums.dropped + account->unrecorded + account->missed;
	account->heap_live = head->heap_base_bytes +
			     (int64_t)(account->sums.heap_alloc_bytes -
				       account->sums.heap_free_bytes);
}

static uint64_t unread(const struct writer_state *state, uint64_t committed)
{
	return committed > consumed(state) ? committed - consumed(state) : 0;
}

uint64_t account_unread(struct writer_state *state)
{
	struct thread_sums sums;

	thread_sum(state->session, &sums);
	state->counts.committed = sums.committed;
	return unread(state, sums.committed);
}

uint64_t account_left(struct writer_state *state)
{
	struct thread_sums sums;
	uint64_t thinned, left;

	thread_sum(state->session, &sums);
	left = unread(state, sums.committed);
	thinned = sums.thinned - min_u64(sums.thinned, state->counts.thinned);
	return left - min_u64(left, thinned);
}

uint64_t account_waiting(const struct writer_state *state)
{
	struct thread_sums sums;

	thread_sum(state->session, &sums);
	return unread(state, sums.committed);
}

/* What hooks are charged for. */
struct hook_counts {
	uint64_t written[EVENT_KIND_COUNT];
	uint64_t cut, teams, with_stack;
	uint64_t calls; /* of the heap */
	uint64_t marked_ps;
};

/* Of the call stacks, by those that were timed. */
static uint64_t stacks_ns(const struct writer_state *state,
			  const struct hook_counts *counts)
{
	struct session_header *head = state->session->head;
	const uint64_t timed = load_relaxed(&head->stacks.timed);
	const uint64_t second = clock_ticks_per_second(&head->clock);
	const uint64_t *written = counts->written;
	struct stack_choice choice = {0};
	uint64_t taken = 0;
	char why[128];

	if (!timed || !second)
		return 0;
	stack_choice_parse(head->options.stack, &choice, why, sizeof(why));
	if (choice.families & STACK_HEAP ||
	    head->options.malloc == MALLOC_SAMPLED ||
	    head->options.malloc == MALLOC_SITES)
		taken += written[EVENT_HEAP_ALLOC] + written[EVENT_MAP];
	if (choice.families & STACK_OMP)
		taken += written[EVENT_OMP_REGION];
	if (choice.families & STACK_CUDA)
		taken += written[EVENT_CALL] + written[EVENT_ALLOCATOR] +
			 counts->with_stack;
	if (choice.families & STACK_BLAS)
		taken += written[EVENT_BLAS];
	return (uint64_t)((double)load_relaxed(&head->stacks.timed_ticks) /
			  (double)timed * 1e9 / (double)second * (double)taken);
}

/* Of the handlers of samples, likewise. */
static uint64_t samples_ns(const struct writer_state *state, uint64_t samples)
{
	struct sampling *sums = &state->session->head->sampling;
	const uint64_t timed = load_relaxed(&sums->timed);

	return load_relaxed(&sums->begun_ns) +
	       (timed ? (uint64_t)((double)load_relaxed(&sums->timed_ns) /
				   (double)timed * (double)samples)
		      : 0);
}

static uint64_t hooks_ns(const struct writer_state *state,
			 const struct hook_counts *counts)
{
	const struct session_header *head = state->session->head;
	const uint64_t *written = counts->written;
	const uint64_t calls = counts->calls;
	const uint64_t regions =
		written[EVENT_OMP_REGION] -
		min_u64(counts->teams, written[EVENT_OMP_REGION]);
	/* A master's share is in its region's event. */
	const uint64_t members = written[EVENT_OMP_IMPLICIT] + counts->teams;
	uint64_t slices = 0, events;

	/* The GPU's and the kernel's counts come from the writer itself. */
	for (int kind = 0; kind < EVENT_KIND_COUNT; kind++) {
		if (kind != EVENT_HEAP_ALLOC && kind != EVENT_HEAP_FREE &&
		    kind != EVENT_OMP_REGION && kind != EVENT_OMP_IMPLICIT &&
		    kind != EVENT_TASK_COUNTS && kind != EVENT_CPU_SAMPLE &&
		    kind != EVENT_PYTHON && !event_is_gpu((uint16_t)kind))
			slices += written[kind];
	}
	events = written[EVENT_HEAP_ALLOC] + written[EVENT_HEAP_FREE];
	/* What was read outside the windows, or past the end of detail, cost as
	 * much; in mode all most of it are heap calls. */
	if (head->options.malloc == MALLOC_ALL ||
	    head->options.malloc == MALLOC_SITES)
		events += counts->cut;
	else
		slices += counts->cut;
	events = min_u64(events, calls);
	return stacks_ns(state, counts) +
	       samples_ns(state, written[EVENT_CPU_SAMPLE]) +
	       (events * head->cost.event_ps +
		(calls - events) * head->cost.counted_ps +
		written[EVENT_PYTHON] * head->cost.python_ps +
		slices * head->cost.slice_ps + regions * head->cost.region_ps +
		members * head->cost.member_ps + counts->marked_ps) /
		       1000;
}

uint64_t account_hooks_ns(const struct writer_state *state,
			  const struct thread_sums *sums)
{
	struct hook_counts counts = {
		.cut = state->counts.cut,
		.teams = state->counts.teams,
		.with_stack = state->session->head->gpu.with_stack,
		.calls = sums->heap_allocs + sums->heap_frees,
		.marked_ps = sums->marked_ps};

	memcpy(counts.written, state->counts.written_by_kind,
	       sizeof(counts.written));
	return hooks_ns(state, &counts);
}

/* Where the writer looked a tenth of the window too early or late, or so much
 * is lost in the kernel's ticks, the processors' time is not the window's. */
#define LATE_PARTS 10u
#define TICKS_NS   20000000u

static uint64_t since(_Atomic uint64_t *sum, uint64_t begun)
{
	const uint64_t now = load_relaxed(sum);

	return now - min_u64(begun, now);
}

static void take_processors(const struct window_file *file,
			    struct session_header *head, uint64_t end_ns,
			    uint64_t now_ns, struct account_window *window)
{
	const struct window_begun *begun = &file->begun;
	const uint64_t late = now_ns - min_u64(end_ns, now_ns) +
			      begun->looked_ns -
			      min_u64(file->start_ns, begun->looked_ns);

	if (begun->looked_ns >= end_ns ||
	    (late + TICKS_NS) * LATE_PARTS > end_ns - file->start_ns)
		return;
	window->processors_ns =
		since(&head->processors_ns, begun->processors_ns);
	window->others_ns = since(&head->others_ns, begun->others_ns);
	window->program_ns = since(&head->program_ns, begun->program_ns);
}

bool account_window(struct writer_state *state, uint64_t end_ns,
		    struct account_window *taken)
{
	const struct window *now = writer_state_window(state);
	struct session_header *head = state->session->head;
	const struct window_begun *begun = &state->file.begun;
	struct hook_counts counts = {0};

	*taken = (struct account_window){0};
	if (!state->is_live || !begun->is_known || !now ||
	    !now->at_start.is_known || !now->at_end.is_known)
		return false;
	/* Closed by one who had counted for the window before. */
	if (now->at_end.calls < now->at_start.calls ||
	    now->at_end.bytes < now->at_start.bytes ||
	    now->at_end.frees < now->at_start.frees ||
	    now->at_end.marked_ps < now->at_start.marked_ps)
		return false;
	taken->heap_calls = now->at_end.calls - now->at_start.calls;
	taken->heap_bytes = now->at_end.bytes - now->at_start.bytes;
	counts.calls =
		taken->heap_calls + now->at_end.frees - now->at_start.frees;
	counts.marked_ps = now->at_end.marked_ps - now->at_start.marked_ps;
	counts.cut = state->counts.cut - state->counts.outside - begun->cut;
	counts.teams = state->counts.teams - begun->teams;
	counts.with_stack = head->gpu.with_stack - begun->with_stack;
	for (int kind = 0; kind < EVENT_KIND_COUNT; kind++)
		counts.written[kind] = state->counts.written_by_kind[kind] -
				       begun->written_by_kind[kind];
	taken->hooks_ns = hooks_ns(state, &counts);
	take_processors(&state->file, head, end_ns,
			timeline_ns(&state->timeline, clock_ticks()), taken);
	return true;
}

uint64_t account_cpu_ns(const struct writer_state *state)
{
	const uint64_t own_ns = state->is_live ? clock_thread_ns() : 0;

	return own_ns ? state->cpu_before_ns + own_ns : 0;
}
