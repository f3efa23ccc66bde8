/* SPDX-License-Identifier: MIT */
/* step_by_hand.c - runs backward as marks; see step_by_hand.h. */
#include "writer/steps/step_by_hand.h"

#include "collector/session/names.h"
#include <errno.h>
#include <string.h>

#define PHASE	      "phase: "
#define NODE	      "autograd::engine::evaluate_function: "
#define GRADIENT      NODE "torch::autograd::AccumulateGrad"
#define ROUNDS_MOST   65536u
#define ROUNDS_LEAST  5u
/* Networks that are trained in turn; batches of which gradients are added. */
#define IN_TURN_MOST  8u
#define BATCHES_MOST  64u
/* Operators for each weight, where nothing is changed in place. */
#define OPERATORS_OF  2u
/* Fewer changes may be a batch's. */
#define CHANGES_LEAST 3u
/* Of 100 rounds those that are as others: of gradients that are added up for
 * BATCHES_MOST more would differ. */
#define ALIKE	      97u
#define NEARLY_ALL    95u
#define OFTEN	      90u
#define COVERS_LEAST  40u
#define COUNT_MAX     0xffffu
#define SITE	      1u
/* A walk's steps; people choose multiples of that for reports. */
#define WALK_MOST     16u
#define REPORTS_OF    5u
/* A round's counts in its mark's note. */
#define GRADIENTS     ((uint64_t)COUNT_MAX)
#define NODES	      ((uint64_t)COUNT_MAX << 16)
#define CHANGES	      ((uint64_t)COUNT_MAX << 32)
#define OPERATORS     ((uint64_t)COUNT_MAX << 48)

/* A round's counts, as its mark keeps them. */
static uint64_t packed(const struct by_hand_counts *counts)
{
	return min_u64(counts->gradients, COUNT_MAX) |
	       min_u64(counts->nodes, COUNT_MAX) << 16 |
	       min_u64(counts->changes, COUNT_MAX) << 32 |
	       min_u64(counts->operators, COUNT_MAX) << 48;
}

static struct by_hand_counts counts_of(const struct loop_mark *mark)
{
	return (struct by_hand_counts){
		.gradients = mark->note & COUNT_MAX,
		.nodes = mark->note >> 16 & COUNT_MAX,
		.changes = mark->note >> 32 & COUNT_MAX,
		.operators = mark->note >> 48 & COUNT_MAX,
	};
}

static bool begins_with(const char *name, const char *start)
{
	return !strncmp(name, start, strlen(start));
}

/* "aten::add_", "aten::_foreach_mul_": PyTorch's own rule for names. */
static bool is_change(const char *name)
{
	const size_t len = strlen(name);

	return begins_with(name, "aten::") && name[len - 1] == '_';
}

/* What it called has come before it, and is no change of its own. */
static void leave_inside(struct step_by_hand *hand, uint64_t start_ticks)
{
	while (hand->inside_count &&
	       hand->inside[hand->inside_count - 1].start_ticks >=
		       start_ticks) {
		hand->inside_count--;
		hand->phase.changes--;
		hand->change_ticks =
			hand->inside[hand->inside_count].before_ticks;
	}
}

/* Nothing was computed since that is to be run backward: weights are moved, be
 * it with gradients on or without, or the next batch is made. */
static bool is_between(struct step_by_hand *hand, const struct event *event)
{
	const uint64_t sequence = event->scope.payload;

	if (sequence && !hand->sequence)
		hand->sequence = sequence;
	return !sequence || sequence == hand->sequence;
}

static void add_operator(struct step_by_hand *hand, const char *name,
			 const struct event *event)
{
	hand->all++;
	leave_inside(hand, event->start_ticks);
	hand->phase.nodes += begins_with(name, NODE);
	hand->phase.gradients += begins_with(name, GRADIENT);
	if (!is_between(hand, event))
		return;
	hand->phase.operators++;
	if (!is_change(name))
		return;
	if (hand->inside_count == BY_HAND_INSIDE)
		memmove(hand->inside, hand->inside + 1,
			--hand->inside_count * sizeof(hand->inside[0]));
	hand->inside[hand->inside_count++] =
		(struct by_hand_inside){event->start_ticks, hand->change_ticks};
	hand->phase.changes++;
	hand->change_ticks = event->end_ticks;
}

static void close_round(struct step_by_hand *hand)
{
	if (!hand->is_backward)
		return;
	if (hand->marks.count == ROUNDS_MOST)
		hand->is_full = true;
	else
		step_marks_add(&hand->marks,
			       &(struct loop_mark){
				       .id = SITE,
				       .ticks = hand->begin_ticks,
				       .end_ticks = hand->end_ticks,
				       .note = packed(&hand->round),
			       });
	hand->begin_ticks = hand->end_ticks;
	hand->round = (struct by_hand_counts){0};
	hand->is_backward = false;
}

static void add_backward(struct step_by_hand *hand, const struct event *event)
{
	close_round(hand);
	if (!hand->begin_ticks)
		hand->begin_ticks = event->start_ticks;
	hand->round.gradients = hand->phase.gradients;
	hand->round.nodes = hand->phase.nodes;
	hand->end_ticks = event->end_ticks;
	hand->is_backward = true;
	hand->sequence = 0;
	hand->last_all = hand->all;
}

/* Before the next run backward. */
static void add_changes(struct step_by_hand *hand)
{
	if (!hand->is_backward)
		return;
	hand->round.changes += hand->phase.changes;
	hand->round.operators += hand->phase.operators;
	if (hand->phase.changes)
		hand->end_ticks = hand->change_ticks;
}

/* The first round begins with the last forward before it, and its data. */
static void begin_first(struct step_by_hand *hand, const struct event *event)
{
	if (hand->marks.count || hand->is_backward)
		return;
	hand->begin_ticks =
		hand->data_ticks ? hand->data_ticks : event->start_ticks;
	hand->first_all = hand->phase_all;
}

static void add_phase(struct step_by_hand *hand, const char *name,
		      const struct event *event)
{
	uint64_t data_ticks = 0;

	/* Its operators are the tracer's. */
	if (!strcmp(name, "compilation")) {
		hand->phase = (struct by_hand_counts){0};
		hand->inside_count = 0;
		return;
	}
	if (strcmp(name, "backward") != 0)
		add_changes(hand);
	if (!strcmp(name, "data"))
		data_ticks = event->start_ticks;
	else if (!strcmp(name, "forward"))
		begin_first(hand, event);
	else if (!strcmp(name, "backward"))
		add_backward(hand, event);
	else if (!strcmp(name, "optimizer"))
		hand->has_optimizer = true;
	hand->data_ticks = data_ticks;
	hand->phase = (struct by_hand_counts){0};
	hand->phase_all = hand->all;
	hand->inside_count = 0;
}

void step_by_hand_see(struct step_by_hand *hand, const struct session *session,
		      struct ring_reader *reader, const struct event *event)
{
	size_t len;
	const char *name = names_text(session, event->name, &len);

	if (!name)
		return;
	if (event->kind == EVENT_SCOPE && event_is_operator(event)) {
		add_operator(hand, name, event);
	} else if (event->kind == EVENT_RANGE && begins_with(name, PHASE)) {
		hand->marks.reader = reader;
		hand->marks.tid = thread_shown_tid(reader->thread);
		hand->marks.family = SEARCH_BACKWARD;
		add_phase(hand, name + strlen(PHASE), event);
	}
}

/* The most of the weights were moved: a judge has gradients, too, when what it
 * judges learns from it.  A batch that is made may be changed in place. */
static bool is_updated(const struct loop_mark *mark)
{
	const struct by_hand_counts counts = counts_of(mark);
	const size_t half = max_u64(CHANGES_LEAST, (counts.gradients + 1) / 2);

	return counts.gradients &&
	       counts.changes >= min_u64(counts.gradients, half);
}

/* Of 100 rounds, or of those that move the weights, those that are as the one
 * so many before them. */
static size_t as_before(const struct step_marks *marks, uint64_t mask,
			size_t back, bool is_of_updates)
{
	const struct loop_mark *all = step_marks(marks);
	uint64_t before[WALK_MOST];
	size_t seen = 0, same = 0;

	for (size_t i = 0; i < marks->count; i++) {
		uint64_t *const old = &before[seen % back];

		if (is_of_updates && !is_updated(&all[i]))
			continue;
		same += seen >= back && !((all[i].note ^ *old) & mask);
		*old = all[i].note;
		seen++;
	}
	return seen > back ? same * 100 / (seen - back) : 0;
}

/* The least number of rounds after which the same comes again, always; 0 none.
 */
static size_t turns_of(const struct step_marks *marks, uint64_t mask,
		       size_t often, bool is_of_updates)
{
	for (size_t back = 1; back <= IN_TURN_MOST; back++) {
		if (as_before(marks, mask, back, is_of_updates) >= often)
			return back;
	}
	return 0;
}

/* Weights that are moved each second time otherwise are moved there and back
 * (an extragradient, sharpness-aware minimisation), twice in a step.  Where
 * there is but one, it may go for a walk of some steps, and then another. */
static bool is_to_and_fro(const struct step_marks *marks)
{
	const uint64_t first = step_marks(marks)->note;
	const size_t most = (first & COUNT_MAX) == 1 ? WALK_MOST : 2;

	if (turns_of(marks, CHANGES, OFTEN, true) > 1)
		return true;
	for (size_t back = 2; back <= most; back++) {
		if (back % REPORTS_OF &&
		    as_before(marks, OPERATORS, back, true) >= NEARLY_ALL &&
		    as_before(marks, OPERATORS, 1, true) < OFTEN)
			return true;
	}
	return false;
}

/* All weights are moved behind each: so often is it done to several networks in
 * turn, of which each has as many; 0 not known. */
static size_t networks_of(const struct step_marks *marks)
{
	const size_t turns = turns_of(marks, GRADIENTS, NEARLY_ALL, false);

	/* Two that are alike, and one of them learns from both. */
	if (turns == 1 &&
	    as_before(marks, NODES, 1, false) < 100 - NEARLY_ALL &&
	    turns_of(marks, NODES, OFTEN, false) > 1)
		return 0;
	return turns == 1 && is_to_and_fro(marks) ? 0 : turns;
}

/* The weights are moved behind each so many; 0 now and then. */
static size_t batches_of(const struct step_marks *marks)
{
	const struct loop_mark *all = step_marks(marks);
	size_t batches = 0, begin = 0, updates = 0;

	for (size_t i = 0; i < marks->count; i++) {
		if (!is_updated(&all[i]))
			continue;
		if (updates++ && i + 1 - begin != batches)
			return 0;
		batches = i + 1 - begin;
		begin = i + 1;
	}
	return updates >= ROUNDS_LEAST && batches <= BATCHES_MOST &&
			       !is_to_and_fro(marks)
		       ? batches
		       : 0;
}

/* Nothing is changed in place, but each round has as much that may be new
 * weights: where gradients were added up, some had more. */
static bool are_alike(const struct step_marks *marks)
{
	const struct by_hand_counts first = counts_of(step_marks(marks));

	return first.gradients &&
	       first.operators >= OPERATORS_OF * first.gradients &&
	       as_before(marks, OPERATORS, 1, false) >= ALIKE;
}

static size_t runs_in_step(const struct step_marks *marks)
{
	const struct loop_mark *all = step_marks(marks);
	size_t updated = 0;

	if (are_alike(marks))
		return networks_of(marks);
	for (size_t i = 0; i < marks->count; i++)
		updated += is_updated(&all[i]);
	/* The program may end with the last one. */
	return updated + 1 >= marks->count ? networks_of(marks)
					   : batches_of(marks);
}

/* A part of the main thread's operators lies elsewhere, but no large one; nor
 * of its regions, or ranges, where there are as many as rounds. */
static bool covers(const struct step_by_hand *hand,
		   const struct step_marks *streams, size_t count)
{
	const struct loop_mark *all = step_marks(&hand->marks);
	const uint64_t begin = all[0].ticks;
	const uint64_t end = all[hand->marks.count - 1].end_ticks;

	for (size_t i = 0; i < count; i++) {
		if (streams[i].tid == hand->marks.tid &&
		    streams[i].count >= hand->marks.count &&
		    (step_marks_before(&streams[i], end) -
		     step_marks_before(&streams[i], begin)) *
				    100 <
			    streams[i].count * COVERS_LEAST)
			return false;
	}
	return (hand->last_all - hand->first_all) * 100 >=
	       hand->all * COVERS_LEAST;
}

/* 0: they tell none. */
static size_t find_runs(struct step_by_hand *hand,
			const struct step_marks *streams, size_t count)
{
	size_t runs;

	close_round(hand);
	if (hand->has_optimizer || hand->is_full || !hand->marks.count ||
	    !covers(hand, streams, count))
		return 0;
	runs = runs_in_step(&hand->marks);
	return hand->marks.count >= ROUNDS_LEAST * runs ? runs : 0;
}

size_t step_by_hand_steps(struct step_by_hand *hand,
			  const struct step_marks *streams, size_t count)
{
	const size_t runs = find_runs(hand, streams, count);

	return runs ? hand->marks.count / runs : 0;
}

int step_by_hand_find(struct step_by_hand *hand,
		      const struct step_marks *streams, size_t count,
		      struct loop_nest *nest)
{
	struct loop_level *level = &nest->level[0];
	const size_t runs = find_runs(hand, streams, count);

	if (!runs)
		return -ENOENT;
	*nest = (struct loop_nest){.count = 1, .runner_up = 1};
	step_marks_find_site(&hand->marks, 0, level);
	level->every = runs;
	level->turns /= runs;
	level->ticks *= runs;
	return 0;
}
