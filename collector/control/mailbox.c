/* SPDX-License-Identifier: MIT */
/* mailbox.c - both sides of the mailbox; see mailbox.h. */
#include "collector/control/mailbox.h"

#include "collector/system/clock.h"
#include "collector/system/futex.h"
#include <errno.h>
#include <signal.h>

/* The longest nap of a tool that waits. */
#define LOOK_NS UINT64_C(100000000)

static _Atomic uint32_t signals;

/* By who needs no more than that it was his turn. */
static bool move(struct mailbox *mailbox, uint64_t from, uint64_t to)
{
	return atomic_compare_exchange_strong_explicit(&mailbox->turn, &from,
						       to, memory_order_relaxed,
						       memory_order_relaxed);
}

bool mailbox_take(struct mailbox *mailbox, struct mailbox_request *request,
		  uint64_t *word)
{
	/* ACQUIRE pairs with RELEASE in mailbox_post(): the request. */
	uint64_t seen = load_acquire(&mailbox->turn);

	if (mailbox_turn(seen) != MAILBOX_POSTED)
		return false;
	*request = mailbox->request;
	*word = mailbox_next(seen, MAILBOX_TAKEN);
	return move(mailbox, seen, *word);
}

void mailbox_reply(struct mailbox *mailbox, uint64_t word,
		   const struct mailbox_answer *answer)
{
	if (load_relaxed(&mailbox->turn) != word)
		return;
	mailbox->answer = *answer;
	/* RELEASE pairs with ACQUIRE in mailbox_wait(): the answer. */
	atomic_compare_exchange_strong_explicit(
		&mailbox->turn, &word, mailbox_next(word, MAILBOX_ANSWERED),
		memory_order_release, memory_order_relaxed);
	add_relaxed(&mailbox->bell, 1);
	futex_wake(&mailbox->bell);
}

/* The tool whose request lies there was killed. */
static bool is_abandoned(struct mailbox *mailbox)
{
	const uint32_t holder = load_relaxed(&mailbox->holder);

	return !holder || holder > INT32_MAX ||
	       (kill((pid_t)holder, 0) && errno == ESRCH);
}

int mailbox_post(struct mailbox *mailbox, uint32_t pid,
		 const struct mailbox_request *request, uint64_t *word)
{
	/* ACQUIRE pairs with RELEASE in mailbox_reply(): the last answer was
	 * written before we write ours. */
	uint64_t seen = load_acquire(&mailbox->turn);
	const uint64_t mine = mailbox_next((seen | 0xff) + 1, MAILBOX_CLAIMED);

	if (mailbox_turn(seen) != MAILBOX_FREE && !is_abandoned(mailbox))
		return -EBUSY;
	if (!move(mailbox, seen, mine))
		return -EBUSY;
	store_relaxed(&mailbox->holder, pid);
	mailbox->request = *request;
	*word = mailbox_next(mine, MAILBOX_POSTED);
	seen = mine;
	/* RELEASE pairs with ACQUIRE in mailbox_take(): the request. */
	return atomic_compare_exchange_strong_explicit(
		       &mailbox->turn, &seen, *word, memory_order_release,
		       memory_order_relaxed)
		       ? 0
		       : -EBUSY;
}

/* Takes the request back.  False: the answer came this moment. */
static bool withdraw(struct mailbox *mailbox, uint64_t word)
{
	const uint64_t nobodys = mailbox_next(word, MAILBOX_FREE);

	return move(mailbox, mailbox_next(word, MAILBOX_POSTED), nobodys) ||
	       move(mailbox, mailbox_next(word, MAILBOX_TAKEN), nobodys) ||
	       load_relaxed(&mailbox->turn) !=
		       mailbox_next(word, MAILBOX_ANSWERED);
}

int mailbox_wait(struct mailbox *mailbox, uint64_t word, uint64_t limit_ns,
		 struct mailbox_answer *answer)
{
	const uint64_t end = clock_monotonic_ns() + limit_ns;
	const uint64_t wanted = mailbox_next(word, MAILBOX_ANSWERED);

	for (;;) {
		const uint32_t bell = load_relaxed(&mailbox->bell);
		uint64_t now;

		/* ACQUIRE pairs with RELEASE in mailbox_reply(): the answer. */
		if (load_acquire(&mailbox->turn) == wanted)
			break;
		now = clock_monotonic_ns();
		if (now >= end) {
			if (withdraw(mailbox, word))
				return -ETIMEDOUT;
			continue;
		}
		/* A look now and then, should nobody ring. */
		futex_wait(&mailbox->bell, bell, min_u64(end - now, LOOK_NS));
	}
	*answer = mailbox->answer;
	answer->text[sizeof(answer->text) - 1] = '\0';
	answer->path[sizeof(answer->path) - 1] = '\0';
	store_relaxed(&mailbox->turn, mailbox_next(word, MAILBOX_FREE));
	return 0;
}

void mailbox_signal(void)
{
	add_relaxed(&signals, 1);
}

uint32_t mailbox_signals(void)
{
	return load_relaxed(&signals);
}

void mailbox_forget(void)
{
	store_relaxed(&signals, 0);
}
