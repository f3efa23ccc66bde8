/* SPDX-License-Identifier: MIT */
/* no_thread.c - one line; see no_thread.h. */
#include "preload/process/no_thread.h"

#include "collector/session/session.h"
#include "collector/system/log.h"
#include <string.h>
#include <unistd.h>

void no_thread_say(const char *name, int error)
{
	static const char text[] =
		"%sthe kernel allows no thread for the writer (%s): what is "
		"recorded waits in memory until the program ends";
	static int said_by; /* a forked child says it again */
	const int self = (int)getpid();
	char after[64] = "";

	if (said_by == self)
		return;
	said_by = self;
	if (name)
		log_format(after, sizeof(after), "after %s ", name);
	session_note(load_relaxed(&session_here), text, after,
		     strerrordesc_np(error));
	log_trouble(text, after, strerrordesc_np(error));
}
