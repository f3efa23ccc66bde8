/* SPDX-License-Identifier: MIT */
/* request.c - acts on signals and requests; see request.h. */
#include "writer/request.h"

#include "collector/system/log.h"
#include "collector/steps/manual_window.h"
#include "writer/account.h"
#include "writer/checkpoint.h"
#include "writer/flight/history.h"
#include <errno.h>
#include <string.h>

#define MS_NS UINT64_C(1000000)

static struct window_state *windows_of(const struct writer_state *state)
{
	return &state->session->head->windows;
}

/* The newest window, NULL none. */
static struct window *newest_window(const struct writer_state *state)
{
	struct window_state *windows = windows_of(state);
	/* ACQUIRE pairs with RELEASE in window_open(): its fields. */
	const uint64_t opened = load_acquire(&windows->opened);

	return opened ? &windows->window[(opened - 1) % WINDOWS_MAX] : NULL;
}

static void say_manual(const struct writer_state *state, int64_t done,
		       char *text, size_t bytes)
{
	struct window_state *windows = windows_of(state);
	const int64_t until_step = load_relaxed(&windows->until_step);
	const uint64_t until_ns = load_relaxed(&windows->until_ns);
	const uint64_t now = clock_monotonic_ns();

	if (until_step)
		log_format(
			text, bytes, "recording, %ld of %ld {step|steps}",
			(long)done,
			(long)(until_step - newest_window(state)->first_step));
	else if (until_ns)
		log_format(text, bytes, "recording, %lu ms left",
			   (unsigned long)(until_ns > now
						   ? (until_ns - now) / MS_NS
						   : 0));
	else
		log_format(text, bytes, "recording until it is stopped");
}

static void say_history(const struct writer_state *state, char *text,
			size_t bytes)
{
	const struct history *history = state->history;
	const uint64_t newest = history->trigger.newest_ticks;
	const double span =
		newest > history->from ? (double)(newest - history->from) : 0;

	log_format(text, bytes,
		   "flight recorder, up to %s: %.1f s in memory, %lu dumps",
		   state->session->head->options.flight,
		   span / (double)clock_ticks_per_second(
				  &state->session->head->clock),
		   (unsigned long)state->session->head->flight.dumps);
}

/* What is recorded at this moment, in words. */
static void say_state(const struct writer_state *state, char *text,
		      size_t bytes)
{
	struct window_state *windows = windows_of(state);
	const struct window *window = newest_window(state);
	const int64_t armed = load_relaxed(&windows->armed_steps);
	struct schedule schedule;
	int64_t done = 0;

	schedule_from_options(&state->session->head->options, &schedule);
	if (window && window->first_step >= 0)
		done = load_relaxed(&windows->steps) - 1 - window->first_step;
	if (armed > 0)
		log_format(text, bytes,
			   "waiting for the next step, to record %ld",
			   (long)armed);
	else if ((!window_is_open(windows) || !window) && state->history)
		say_history(state, text, bytes);
	else if (!window_is_open(windows) || !window)
		log_format(text, bytes, "not recording");
	else if (load_relaxed(&windows->is_manual))
		say_manual(state, done, text, bytes);
	else if (schedule.always)
		log_format(text, bytes, "recording the whole run");
	else if (schedule.active == INT64_MAX)
		log_format(text, bytes, "recording to the end of the run");
	else
		log_format(text, bytes, "recording, %ld of %ld {step|steps}",
			   (long)done, (long)schedule.active);
}

static void say_window(const struct writer_state *state, char *text,
		       size_t bytes)
{
	struct window_state *windows = windows_of(state);
	const int64_t repeat = state->session->head->options.repeat;
	const unsigned long opened =
		(unsigned long)load_relaxed(&windows->opened);

	if (repeat)
		log_format(text, bytes, "%lu of %ld", opened, (long)repeat);
	else
		log_format(text, bytes, "%lu", opened);
}

/* As set; auto becomes the program's own call once there is one. */
static const char *step_source(const struct writer_state *state)
{
	const char *set = state->session->head->options.step;

	return !strncmp(set, "auto", 4) &&
			       search_state(&state->session->head->search) ==
				       SEARCH_NONE
		       ? "api"
		       : set;
}

/* ", for 14.2 s": one that hangs is seen as such. */
static void say_age(const struct writer_state *state, char *text, size_t bytes)
{
	const uint64_t began = windows_of(state)->step_start_ticks;
	const uint64_t now = clock_ticks();
	char age[32];

	text[0] = '\0';
	if (!began || now < began)
		return;
	log_time(age, sizeof(age),
		 (double)(now - began) * 1e6 /
			 (double)clock_ticks_per_second(
				 &state->session->head->clock));
	log_format(text, bytes, ", for %s", age);
}

static void answer_status(struct writer_state *state,
			  struct mailbox_answer *answer)
{
	struct window_state *windows = windows_of(state);
	const int64_t steps = load_relaxed(&windows->steps);
	char now[160];
	char recorded[64], age[48];
	size_t len;

	say_state(state, now, sizeof(now));
	say_window(state, recorded, sizeof(recorded));
	say_age(state, age, sizeof(age));
	len = log_format(answer->text, sizeof(answer->text),
			 "state    %s\nstep     ", now);
	if (steps)
		len += log_format(answer->text + len,
				  sizeof(answer->text) - len, "%ld, by %s%s",
				  (long)steps - 1, step_source(state), age);
	else
		len += log_format(answer->text + len,
				  sizeof(answer->text) - len, "none yet, by %s",
				  step_source(state));
	log_format(answer->text + len, sizeof(answer->text) - len,
		   "\nwindow   %s", recorded);
}

static void answer_start(struct writer_state *state,
			 const struct mailbox_request *request,
			 struct mailbox_answer *answer)
{
	struct window_state *windows = windows_of(state);
	char now[160];
	const char *source = step_source(state);

	answer->error = manual_start(state->session, "ctl", request->steps,
				     request->ms);
	say_state(state, now, sizeof(now));
	if (answer->error)
		log_format(answer->text, sizeof(answer->text), "already %s",
			   now);
	else if (request->steps && !load_relaxed(&windows->steps))
		log_format(answer->text, sizeof(answer->text),
			   "%s; none has begun so far (TRACEPROF_STEP=%s)", now,
			   source);
	else
		log_format(answer->text, sizeof(answer->text), "%s", now);
}

static void answer_stop(struct requests *requests, struct writer_state *state,
			uint64_t word, struct mailbox_answer *answer)
{
	struct window_state *windows = windows_of(state);
	const bool was_open =
		window_is_open(windows) && load_relaxed(&windows->is_manual);

	answer->error = manual_stop(state->session);
	if (answer->error && window_is_open(windows))
		log_format(answer->text, sizeof(answer->text),
			   "what is being recorded was not started by hand: "
			   "the schedule ends it");
	else if (answer->error)
		log_format(answer->text, sizeof(answer->text),
			   "nothing is being recorded");
	else if (!was_open)
		log_format(answer->text, sizeof(answer->text),
			   "no longer waiting for a step");
	if (answer->error || !was_open)
		return;
	requests->word = word;
	requests->window = load_relaxed(&windows->opened) - 1;
}

static void reply(struct writer_state *state, uint64_t word,
		  struct mailbox_answer *answer)
{
	struct account account;

	account_take(state, false, &account);
	answer->seen = account.sums.committed + account.sums.dropped;
	answer->written = account.written;
	answer->dropped = account.sums.dropped;
	memcpy(answer->path, state->file.path, sizeof(answer->path));
	mailbox_reply(&state->session->head->mailbox, word, answer);
}

static void ask_history(struct requests *requests, struct writer_state *state)
{
	requests->window = history_wish(state, FLIGHT_DEMAND,
					"traceprof ctl asked for it");
}

static bool is_sane(const struct mailbox_request *request)
{
	return request->verb < MAILBOX_VERB_COUNT && request->steps >= 0 &&
	       request->steps <= MAILBOX_STEPS_MAX && request->ms >= 0 &&
	       request->ms <= MAILBOX_MS_MAX;
}

static void take_request(struct requests *requests, struct writer_state *state)
{
	struct mailbox_answer answer = {0};
	struct mailbox_request request;
	uint64_t word;

	if (!mailbox_take(&state->session->head->mailbox, &request, &word) ||
	    word == requests->word)
		return;
	requests->word = 0;
	if (!is_sane(&request)) {
		answer.error = -EINVAL;
		log_format(answer.text, sizeof(answer.text),
			   "a request that makes no sense");
	} else if (request.verb == MAILBOX_STATUS) {
		answer_status(state, &answer);
	} else if (request.verb == MAILBOX_START) {
		answer_start(state, &request, &answer);
	} else if (request.verb == MAILBOX_STOP) {
		answer_stop(requests, state, word, &answer);
	} else {
		requests->word = word;
		requests->window = UINT64_MAX;
		/* The next pass dumps it, unless a window is open. */
		if (state->history && !windows_of(state)->is_open &&
		    !writer_state_window(state))
			ask_history(requests, state);
	}
	if (!requests->word)
		reply(state, word, &answer);
}

/* However many came in since the last pass: signals of one number are one. */
static void take_signals(struct requests *requests, struct writer_state *state)
{
	const uint32_t signals = mailbox_signals();

	if (signals == requests->signals)
		return;
	requests->signals = signals;
	if (state->history)
		history_wish(state, FLIGHT_SIGNAL, "TRACEPROF_SIGNAL came");
	else if (manual_stop(state->session))
		manual_start(state->session, "signal", 0, 0);
}

void request_poll(struct requests *requests, struct writer_state *state)
{
	take_signals(requests, state);
	take_request(requests, state);
	manual_time(state->session);
}

static void finish_snapshot(struct writer_state *state, uint64_t word)
{
	struct mailbox_answer answer = {0};

	if (!state->file.is_open) {
		answer.error = -ENOENT;
		log_format(answer.text, sizeof(answer.text),
			   "nothing is being recorded");
	} else {
		answer.error = checkpoint_make(state);
	}
	if (answer.error && !answer.text[0])
		log_format(answer.text, sizeof(answer.text),
			   "the file can't be written");
	reply(state, word, &answer);
}

void request_done(struct requests *requests, struct writer_state *state)
{
	const uint64_t word = requests->word;
	struct mailbox_answer answer = {0};

	if (!word)
		return;
	if (requests->window == UINT64_MAX) {
		requests->word = 0;
		finish_snapshot(state, word);
	} else if (state->window > requests->window || state->error) {
		requests->word = 0;
		answer.error = state->error;
		reply(state, word, &answer);
	}
}
