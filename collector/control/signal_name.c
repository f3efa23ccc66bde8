/* SPDX-License-Identifier: MIT */
/* signal_name.c - reads the name of a signal; see signal_name.h. */
#include "collector/control/signal_name.h"

#include "collector/system/log.h"
#include <errno.h>
#include <signal.h>
#include <string.h>

static int parse_number(const char *text, int most)
{
	int number = 0;

	if (!*text)
		return -1;
	for (; *text; text++) {
		if (*text < '0' || *text > '9' || number > most)
			return -1;
		number = number * 10 + (*text - '0');
	}
	return number <= most ? number : -1;
}

/* RTMIN, RTMIN+3, RTMAX-2; -1 otherwise. */
static int parse_real_time(const char *text)
{
	const bool is_least = !strncmp(text, "RTMIN", 5);
	const int span = SIGRTMAX - SIGRTMIN;
	int offset;

	if (!is_least && strncmp(text, "RTMAX", 5) != 0)
		return -1;
	text += 5;
	if (!*text)
		return is_least ? SIGRTMIN : SIGRTMAX;
	if (*text != (is_least ? '+' : '-'))
		return -1;
	offset = parse_number(text + 1, span);
	if (offset < 0)
		return -1;
	return is_least ? SIGRTMIN + offset : SIGRTMAX - offset;
}

static int parse(const char *text)
{
	int number = parse_number(text, SIGRTMAX);

	if (number > 0)
		return number;
	if (!strncmp(text, "SIG", 3))
		text += 3;
	number = parse_real_time(text);
	for (int i = 1; number < 0 && i < SIGRTMIN; i++) {
		const char *name = sigabbrev_np(i);

		if (name && !strcmp(text, name))
			number = i;
	}
	return number;
}

static bool is_free(int number)
{
	return number == SIGUSR1 || number == SIGUSR2 || number == SIGIO ||
	       number == SIGPWR || (number >= SIGRTMIN && number <= SIGRTMAX);
}

int signal_name_parse(const char *text, char *why, size_t why_bytes)
{
	const int number = parse(text);

	if (!strcmp(text, "none"))
		return 0;
	if (number > 0 && is_free(number))
		return number;
	log_format(why, why_bytes,
		   "TRACEPROF_SIGNAL=%.64s %s: it takes USR1, USR2 or RTMIN to "
		   "RTMAX; using none",
		   text,
		   number > 0 ? "has a meaning of its own and can't be used"
			      : "is no signal");
	return -EINVAL;
}
