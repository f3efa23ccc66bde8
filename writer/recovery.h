/* SPDX-License-Identifier: MIT */
/*
 * recovery.h - finishes the trace of a process that is gone.
 *
 * The same drain, time line and encoder as in the running writer, over a
 * private copy of the dead process's session: the file's data up to the last
 * checkpoint is copied, everything committed since is added, open slices are
 * closed at the last known time and marked, and the result replaces the file by
 * rename.  Then the session is unlinked.
 */
#ifndef WRITER_RECOVERY_H
#define WRITER_RECOVERY_H

#include "collector/session/session.h"

struct recovery_result {
	char path[SESSION_TEXT_BYTES]; /* the finished trace */
	uint64_t events;	       /* in it */
	uint64_t recovered;	       /* of those, found in the rings */
	uint64_t dropped;
};

/* One session file.  0; -EBUSY its process still runs, or somebody else is at
 * it; -ENOLCK nobody can tell whether it runs (session_claim()); -EBADMSG
 * damaged or foreign; -EPERM someone else's; other -errno (nothing is unlinked
 * then). */
int recovery_run(const char *session_path, struct recovery_result *result);

/* The same for a session that has no name, by its open file; -EBUSY also where
 * nobody can tell. */
int recovery_run_held(int fd, struct recovery_result *result);

/* All dead sessions of this user whose output folder is `folder` (NULL: any).
 * It need not be there, nor be named as the program named it.
 * Calls done(path, rc, result) for each, with -ENOLCK for those that may still
 * run.  Returns how many were found. */
int recovery_run_folder(const char *folder,
			void (*done)(const char *path, int rc,
				     const struct recovery_result *result,
				     void *arg),
			void *arg);

/* What processes of their own still write down of programs that have ended,
 * which `traceprof record` of that process id began and whose traces go to
 * `folder`: how many files, events of them that are written and events in all,
 * and the processor time of those who write. */
struct recovery_left {
	unsigned int files;
	uint64_t written, events, cpu_ns;
};
void recovery_look_left(const char *folder, int record_pid,
			struct recovery_left *left);

/* Makes recovery_run_folder() stop at the next session, in any thread: the
 * process is about to end.  False lets later calls work again. */
void recovery_stop(bool stop);

/* How many there are, without touching them. */
unsigned int recovery_count_folder(const char *folder);

#endif
