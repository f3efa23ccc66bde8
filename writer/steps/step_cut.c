/* SPDX-License-Identifier: MIT */
/* step_cut.c - windows that lie in the past; see step_cut.h. */
#include "writer/steps/step_cut.h"

/* The thread takes over if that leaves it so many steps. */
#define STEPS_AHEAD 3

static int64_t cycle_of(const struct step_cut *cut, int64_t step)
{
	return window_cycle_after(&cut->schedule, step, cut->passed);
}

/* The first step that the schedule records. */
static int64_t first_recorded(const struct schedule *schedule)
{
	int64_t first = schedule->skip_first + schedule->warmup;

	return schedule->skip_first_wait ? first : first + schedule->wait;
}

void step_cut_start(struct step_cut *cut, const struct step_marks *of,
		    const struct loop_level *level,
		    const struct options *options, uint64_t divisor,
		    uint64_t kept_ticks)
{
	struct step_turns turns = {.divisor = divisor};
	int64_t gone = 0;
	size_t begin;

	*cut = (struct step_cut){.of = of,
				 .level = level,
				 .turns = turns,
				 .step = -1,
				 .cycle = -1};
	schedule_from_options(options, &cut->schedule);
	while (step_turns_next(of, level, of->count, &turns, &begin) &&
	       turns.ticks < kept_ticks)
		gone++;
	gone -= first_recorded(&cut->schedule);
	cut->passed = gone > 0 ? (uint64_t)gone : 0;
}

/* The window that is cut ends before step `next`. */
static bool close(struct step_cut *cut, struct window_state *windows,
		  int64_t next, uint64_t ticks)
{
	if (cut->skip) {
		/* Only the last one may be open. */
		if (!--cut->skip)
			window_close(windows, ticks, next - 1);
	} else if (cut->is_open)
		window_close(windows, ticks, next - 1);
	else if (window_add_steps(windows, cut->start, ticks, cut->first,
				  next - 1))
		return false;
	cut->is_open = false;
	cut->cycle = -1;
	return true;
}

bool step_cut_run(struct step_cut *cut, struct window_state *windows,
		  size_t count)
{
	struct step_turns before = cut->turns;
	size_t begin;

	while (step_turns_next(cut->of, cut->level, count, &cut->turns,
			       &begin)) {
		const uint64_t ticks = cut->turns.ticks;
		const int64_t cycle = cycle_of(cut, cut->step + 1);

		if (cut->cycle >= 0 && cycle != cut->cycle &&
		    !close(cut, windows, cut->step + 1, ticks)) {
			cut->turns = before;
			return false;
		}
		cut->step++;
		cut->ticks = ticks;
		if (cut->cycle < 0 && cycle >= 0) {
			cut->cycle = cycle;
			cut->first = cut->step;
			cut->start = ticks;
		}
		before = cut->turns;
	}
	cut->seen = count;
	return true;
}

bool step_cut_end(struct step_cut *cut, struct window_state *windows,
		  int64_t steps, uint64_t end_ticks)
{
	if (cut->cycle < 0 || (!cut->is_open && cut->first >= steps))
		return true;
	return close(cut, windows, steps, max_u64(end_ticks, cut->start + 1));
}

bool step_cut_is_over(const struct step_cut *cut)
{
	const int64_t step = cut->step - (int64_t)cut->passed;

	return cut->cycle < 0 && step >= 0 && cycle_of(cut, cut->step) < 0 &&
	       window_next_change(&cut->schedule, step) == INT64_MAX;
}

uint64_t step_cut_keep(const struct step_cut *cut)
{
	if (cut->cycle >= 0)
		return cut->is_open ? UINT64_MAX : cut->start;
	/* What was seen may lie in a step that isn't over and so not known. */
	if (cut->level->is_begin)
		return cut->ticks;
	return cut->seen ? step_marks(cut->of)[cut->seen - 1].ticks : 0;
}

bool step_cut_hand_over(struct step_cut *cut, struct window_state *windows,
			bool is_full)
{
	const bool is_endless = cut->schedule.active == INT64_MAX;

	if (cut->cycle >= 0 && !cut->is_open && (is_endless || is_full))
		cut->is_open =
			!window_open(windows, cut->start, cut->first, 0, false);
	if (cut->cycle >= 0 && !cut->is_open)
		return false;
	for (int64_t ahead = 1; ahead <= STEPS_AHEAD; ahead++) {
		if (cycle_of(cut, cut->step + ahead) != cut->cycle)
			return false;
	}
	return true;
}
