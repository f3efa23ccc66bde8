/* SPDX-License-Identifier: MIT */
/*
 * life_parts.h - what life.c starts and asks in the other files of its folder.
 *
 * Nobody else needs any of it.
 */
#ifndef PRELOAD_LIFE_PARTS_H
#define PRELOAD_LIFE_PARTS_H

#include "collector/session/session.h"
#include "writer/writer.h"
#include <signal.h>

/* --- exit_hooks.c --------------------------------------------------------- */

/* Registers with quick_exit().  Once, early, so that it runs last. */
void exit_hooks_start(void);

/* A recording has begun, on the thread on which it did; not inside an
 * allocation, which atexit() itself may make for somebody else, with its lock
 * held: then the writer's thread does it. */
void exit_hooks_begin(void);
void exit_hooks_poll(void *unused);

/* --- fork_hooks.c --------------------------------------------------------- */

void fork_hooks_start(void);

/* --- thread_ends.c -------------------------------------------------------- */

/* Makes the key by which the ends of threads are noticed, if that has not been
 * done. */
void thread_ends_start(void);

/* The calling thread has got a record. */
void thread_ends_arm(void);

/* Looks whether the writer is alone, and if so ends the process.  For
 * writer_add_source(). */
void last_thread_poll(void *unused);

/* The signals that the program has blocked, when a recording begins: those of
 * the thread that calls its exit handlers then. */
void last_thread_blocks(const sigset_t *blocked);

/* Waits until a thread of ours that ends is gone from the kernel too, a second
 * at most: what kills only a thread then ends a program that has no other. */
void last_thread_wait_gone(uint32_t tid);

/* --- user_signal.c -------------------------------------------------------- */

/* Once, in the constructor of a process that may be recorded. */
void user_signal_start(void);

/* Writer, each pass: has the program put its own handler in our place? */
void user_signal_poll(void *unused);

/* --- closing.c ------------------------------------------------------------ */

/* With the recording the program ends, or it goes on, or it becomes another one
 * by exec, which decides for itself. */
enum program_then { PROGRAM_ENDS, PROGRAM_GOES_ON, PROGRAM_BECOMES_ANOTHER };

/* The last lines on stderr.  `rc` is writer_stop()'s; `missed` calls came while
 * the start was held up, which has been said. */
void closing_report(const struct session *session,
		    const struct writer_summary *done, int rc, uint64_t missed,
		    enum program_then then);

/* This is a shell, or another known tool, that took less than a second of
 * processor time, its children's included: what it was before it becomes
 * another program by exec is nobody's concern.  Wrappers of interpreters are
 * such. */
bool closing_is_launcher(void);

/* Nothing was recorded: what was seen of the process, and why there is no file,
 * if `traceprof record` started it, or somebody else put the library before it
 * and it worked for a second. */
void closing_explain(const struct options *options, uint64_t heap_calls);

/* The path as the user would write it: relative if that is shorter. */
const char *closing_short_path(const struct session *session, const char *path);

/* --- closing_verdict.c ---------------------------------------------------- */

/* How a shell starts the command: by its name where PATH has one, else the one
 * beside the library, from the working folder where it lies below that. */
const char *closing_command(char *text, size_t bytes);

/* Prints what is slow in the file with the most steps and what to do, in the
 * time that there is.  False: nothing was printed.  *hints: that samples would
 * tell more. */
bool closing_verdict(const struct session *session,
		     const struct writer_summary *done, bool *hints);

#endif
