/* SPDX-License-Identifier: MIT */
/* account.c - seen, written, cut, dropped; see account.h. */
#include "writer/account.h"

#include <time.h>

static uint64_t consumed(const struct scribe *scribe)
{
	return scribe->counts.written + scribe->counts.cut;
}

void account_take(struct scribe *scribe, bool is_last, struct account *account)
{
	thread_sum(scribe->session, &account->sums);
	account->written = scribe->counts.written;
	account->cut = scribe->counts.cut;
	account->seen = consumed(scribe) + account->sums.dropped;
	/* A process that was killed between counting an event and publishing
	 * it had not finished that event: there the rings are the truth. */
	if (is_last && scribe->is_live)
		account->seen = account->sums.committed + account->sums.dropped;
	account->heap_live = scribe->session->head->heap_base_bytes +
			     (int64_t)(account->sums.heap_alloc_bytes -
				       account->sums.heap_free_bytes);
}

uint64_t account_unread(struct scribe *scribe)
{
	struct thread_sums sums;

	thread_sum(scribe->session, &sums);
	return sums.committed > consumed(scribe)
		       ? sums.committed - consumed(scribe)
		       : 0;
}

uint64_t account_cpu_ns(const struct scribe *scribe)
{
	struct timespec now;

	if (!scribe->is_live || clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now))
		return 0;
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
