/* SPDX-License-Identifier: MIT */
/* killed_runs.c - finishes the traces of others; see killed_runs.h. */
#include "writer/killed_runs.h"

#include "collector/system/log.h"
#include "writer/recovery.h"
#include <errno.h>
#include <string.h>

static void count(const char *path, int rc,
		  const struct recovery_result *result, void *arg)
{
	struct killed_runs *runs = arg;

	(void)path;
	if (rc) {
		runs->failed += rc != -ENOLCK && rc != -ECANCELED;
		runs->left += rc == -ECANCELED;
		runs->unknown += rc == -ENOLCK;
	} else if (result->path[0]) {
		runs->finished++;
		runs->events += result->events;
		memcpy(runs->path, result->path, sizeof(runs->path));
	}
	runs->pass();
}

void killed_runs_finish(struct killed_runs *runs,
			const struct session_header *head, void (*pass)(void))
{
	runs->pass = pass;
	runs->failed = runs->left = runs->unknown = 0;
	if (head->options.recover)
		recovery_run_folder(head->folder, count, runs);
	else
		runs->left = recovery_count_folder(head->folder);
}

void killed_runs_say(const struct killed_runs *runs,
		     const struct session_header *head)
{
	const char *folder = head->folder;

	if (!head->options.recover) {
		if (runs->left)
			log_say("%u killed run%s left data for %s: traceprof "
				"recover %s",
				runs->left, runs->left == 1 ? "" : "s", folder,
				folder);
		return;
	}
	if (runs->finished == 1)
		log_say("finished the trace of a run that ended without it: "
			"%s, %lu {event|events}",
			runs->path, (unsigned long)runs->events);
	else if (runs->finished)
		log_say("finished the traces of %u runs that were killed, in "
			"%s: %lu {event|events}",
			runs->finished, folder, (unsigned long)runs->events);
	if (runs->left)
		log_say("a run that ended without it left data for %s: "
			"traceprof recover %s",
			folder, folder);
	if (runs->failed)
		log_say("%u trace%s of killed runs can't be finished: "
			"traceprof recover %s says why",
			runs->failed, runs->failed == 1 ? "" : "s", folder);
	if (runs->unknown)
		log_say("%u session%s for %s may be of programs that still "
			"run: left alone, see traceprof recover --list",
			runs->unknown, runs->unknown == 1 ? "" : "s", folder);
}
