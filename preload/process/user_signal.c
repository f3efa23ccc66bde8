/* SPDX-License-Identifier: MIT */
/*
 * user_signal.c - the handler of TRACEPROF_SIGNAL.
 *
 * It counts the signal and wakes the writer, which starts or stops a window, or
 * dumps the flight recorder; nothing else happens in the handler.  Installed
 * with SA_RESTART before anything is recorded, since the default action of such
 * a signal ends a program.  A handler of the program's own, before or after, is
 * left in its place, and said.
 */
#include "preload/process/life_parts.h"

#include "collector/system/clock.h"
#include "collector/control/mailbox.h"
#include "collector/system/log.h"
#include "collector/control/options.h"
#include "preload/process/process.h"
#include "writer/writer.h"
#include <errno.h>
#include <signal.h>

#define LOOK_EACH_NS UINT64_C(1000000000)

static struct {
	int number; /* 0: none is ours */
	bool is_said;
	bool is_theirs; /* somebody had a handler before us */
	uint64_t looked_ns;
} ours;

static SIGNAL_HANDLER void handle(int number)
{
	const int saved = errno;

	(void)number;
	mailbox_signal();
	writer_wake();
	errno = saved;
}

void user_signal_start(void)
{
	struct sigaction action = {.sa_handler = handle,
				   .sa_flags = SA_RESTART | SA_ONSTACK};
	struct sigaction before;
	char why[LOG_LINE_BYTES];
	int number;

	number = signal_name_parse(process.options.signal, why, sizeof(why));
	if (number <= 0 || sigaction(number, NULL, &before))
		return;
	ours.number = number;
	/* Who ignores it has decided too, and his children inherit that. */
	if (before.sa_flags & SA_SIGINFO || before.sa_handler != SIG_DFL) {
		ours.is_theirs = true;
		return;
	}
	sigfillset(&action.sa_mask);
	if (sigaction(number, &action, NULL))
		ours.number = 0;
}

static bool is_in_place(void)
{
	struct sigaction now;

	return !ours.is_theirs && !sigaction(ours.number, NULL, &now) &&
	       !(now.sa_flags & SA_SIGINFO) && now.sa_handler == handle;
}

void user_signal_poll(void *unused)
{
	const uint64_t now = clock_monotonic_ns();

	(void)unused;
	if (!ours.number || ours.is_said || now - ours.looked_ns < LOOK_EACH_NS)
		return;
	ours.looked_ns = now;
	if (is_in_place())
		return;
	ours.is_said = true;
	log_say("the program handles signal %d itself: TRACEPROF_SIGNAL=%s "
		"does nothing; traceprof ctl does the same without a signal",
		ours.number, process.options.signal);
}
