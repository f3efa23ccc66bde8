/* SPDX-License-Identifier: MIT */
/*
 * account.h - what was seen, and what became of it.
 *
 *	seen = written + cut + thinned + dropped + unrecorded + missed
 *
 * to the last event.  `cut` is what lay outside the windows or came past the
 * size limit, `dropped` what the hooks counted as refused, the last two are
 * calls for which there was no event at all (session.h).  While a
 * program runs, `seen` is that sum; in the run's last file it is what the hooks
 * had counted when the writer found that it had read all, so that a difference
 * would show.  A hook that was held up past the end of the recording may still
 * commit an event after that; it isn't seen.
 */
#ifndef WRITER_ACCOUNT_H
#define WRITER_ACCOUNT_H

#include "writer/state/writer_state.h"

/* Threads whose losses are shown. */
#define ACCOUNT_THREADS 256u

struct account {
	uint64_t seen;
	uint64_t written;
	uint64_t cut;
	uint64_t thinned;
	uint64_t unrecorded, missed;
	struct thread_sums sums;
	struct thread_loss losses[ACCOUNT_THREADS];
	unsigned int loss_count;
	int64_t heap_live;
};

void account_take(struct writer_state *state, bool is_last,
		  struct account *account);

/* Events that hooks have committed and that nobody has read yet.  What it saw
 * committed is what the last account goes by. */
uint64_t account_unread(struct writer_state *state);

/* Of these, those that are more than a number: not what was thinned. */
uint64_t account_left(struct writer_state *state);

/* All of them at this moment, of a run that goes on. */
uint64_t account_waiting(const struct writer_state *state);

/* What the hooks took of the program's threads' time, by what one of each kind
 * takes here. */
uint64_t account_hooks_ns(const struct writer_state *state,
			  const struct thread_sums *sums);

/* What was counted between a window's edges, by who opened and closed it; of
 * the processors 0 where they couldn't be looked at in time. */
struct account_window {
	uint64_t heap_calls, heap_bytes, hooks_ns;
	uint64_t processors_ns, others_ns, program_ns;
};

/* False: that isn't known. */
bool account_window(struct writer_state *state, uint64_t end_ns,
		    struct account_window *taken);

/* CPU time of the calling thread in the live process, 0 elsewhere. */
uint64_t account_cpu_ns(const struct writer_state *state);

#endif
