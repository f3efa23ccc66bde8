/* SPDX-License-Identifier: MIT */
/* mailbox.c - both sides of the mailbox; see mailbox.h. */
#include "collector/control/mailbox.h"

#include "collector/system/clock.h"
#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The longest nap of a tool that waits. */
#define LOOK_NS UINT64_C(100000000)

static _Atomic uint32_t signals;

/* By who needs no more than that it was his turn. */
static bool move(struct control *control, uint64_t from, uint64_t to)
{
	return atomic_compare_exchange_strong_explicit(&control->turn, &from,
						       to, memory_order_relaxed,
						       memory_order_relaxed);
}

bool control_take(struct control *control, struct control_request *request,
		  uint64_t *word)
{
	/* ACQUIRE pairs with RELEASE in control_post(): the request. */
	uint64_t seen = load_acquire(&control->turn);

	if (control_turn(seen) != CONTROL_POSTED)
		return false;
	*request = control->request;
	*word = control_next(seen, CONTROL_TAKEN);
	return move(control, seen, *word);
}

void control_reply(struct control *control, uint64_t word,
		   const struct control_answer *answer)
{
	if (load_relaxed(&control->turn) != word)
		return;
	control->answer = *answer;
	/* RELEASE pairs with ACQUIRE in control_wait(): the answer. */
	atomic_compare_exchange_strong_explicit(
		&control->turn, &word, control_next(word, CONTROL_ANSWERED),
		memory_order_release, memory_order_relaxed);
	add_relaxed(&control->bell, 1);
	syscall(SYS_futex, &control->bell, FUTEX_WAKE, INT32_MAX, NULL, NULL,
		0);
}

/* The tool whose request lies there was killed. */
static bool is_left_behind(struct control *control)
{
	const uint32_t holder = load_relaxed(&control->holder);

	return !holder || holder > INT32_MAX ||
	       (kill((pid_t)holder, 0) && errno == ESRCH);
}

int control_post(struct control *control, uint32_t pid,
		 const struct control_request *request, uint64_t *word)
{
	/* ACQUIRE pairs with RELEASE in control_reply(): the last answer was
	 * written before we write ours. */
	uint64_t seen = load_acquire(&control->turn);
	const uint64_t mine = control_next((seen | 0xff) + 1, CONTROL_CLAIMED);

	if (control_turn(seen) != CONTROL_FREE && !is_left_behind(control))
		return -EBUSY;
	if (!move(control, seen, mine))
		return -EBUSY;
	store_relaxed(&control->holder, pid);
	control->request = *request;
	*word = control_next(mine, CONTROL_POSTED);
	seen = mine;
	/* RELEASE pairs with ACQUIRE in control_take(): the request. */
	return atomic_compare_exchange_strong_explicit(
		       &control->turn, &seen, *word, memory_order_release,
		       memory_order_relaxed)
		       ? 0
		       : -EBUSY;
}

/* Takes the request back.  False: the answer came this moment. */
static bool withdraw(struct control *control, uint64_t word)
{
	const uint64_t nobodys = control_next(word, CONTROL_FREE);

	return move(control, control_next(word, CONTROL_POSTED), nobodys) ||
	       move(control, control_next(word, CONTROL_TAKEN), nobodys) ||
	       load_relaxed(&control->turn) !=
		       control_next(word, CONTROL_ANSWERED);
}

int control_wait(struct control *control, uint64_t word, uint64_t limit_ns,
		 struct control_answer *answer)
{
	const uint64_t end = clock_monotonic_ns() + limit_ns;
	const uint64_t wanted = control_next(word, CONTROL_ANSWERED);

	for (;;) {
		const uint32_t bell = load_relaxed(&control->bell);
		struct timespec left = {0, 0};
		uint64_t now;

		/* ACQUIRE pairs with RELEASE in control_reply(): the answer. */
		if (load_acquire(&control->turn) == wanted)
			break;
		now = clock_monotonic_ns();
		if (now >= end) {
			if (withdraw(control, word))
				return -ETIMEDOUT;
			continue;
		}
		/* A look now and then, should nobody ring. */
		left.tv_nsec = (long)min_u64(end - now, LOOK_NS);
		syscall(SYS_futex, &control->bell, FUTEX_WAIT, bell, &left,
			NULL, 0);
	}
	*answer = control->answer;
	answer->text[sizeof(answer->text) - 1] = '\0';
	answer->path[sizeof(answer->path) - 1] = '\0';
	store_relaxed(&control->turn, control_next(word, CONTROL_FREE));
	return 0;
}

void control_signal(void)
{
	add_relaxed(&signals, 1);
}

uint32_t control_signals(void)
{
	return load_relaxed(&signals);
}

void control_forget(void)
{
	store_relaxed(&signals, 0);
}
