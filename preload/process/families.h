/* SPDX-License-Identifier: MIT */
/*
 * families.h - what a process tells its families of hooks, and asks of them.
 *
 * A family (heap, gomp, ompt, annotate, cuda) is a folder of hooks.  It calls
 * life.h when something happens; life.c calls these.  preload/families.c
 * answers for all of them and is the only file that includes both sides: this
 * folder knows no family by name.
 */
#ifndef PRELOAD_FAMILIES_H
#define PRELOAD_FAMILIES_H

#include "collector/session/thread.h"

/* In our constructor, of a process that may be recorded. */
void families_prepare(void);

/* In our constructor, of any process but a tool's: what isn't to be found of
 * functions that may be nobody's. */
void families_hide(bool is_recorded);

/* The process is watched from now on.  Returns the gate's bits by which the
 * families hear of what would begin a recording. */
uint32_t families_watch(bool is_forked);

/* A recording is being begun: calls wait for it. */
void families_watch_ends(void);

/* Why a process is recorded from its start, NULL: it isn't. */
const char *families_reason_at_start(void);

/* The calling thread was forked, and its recording begins; has begun. */
void families_child_begins(void);
void families_child_begun(void);

/* Of a watched process that works: why it should be recorded at once, NULL
 * nothing says so.  `used_ns`: its processor time. */
const char *families_reason(uint64_t used_ns);

/* Is this code of a library that works for us, and asks what memory it may
 * read? */
bool families_are_asking(const void *code);

/* syscall(SYS_futex, ...) while waits are recorded. */
long families_futex(long word, long operation, long value, long time,
		    long other, long last);

/* A session has been made; no other thread knows it yet.  Returns the gate's
 * bits that are wanted as long as the process lives, and in *record those that
 * follow the windows. */
uint32_t families_begin(struct session *session, uint32_t *record);

/* The calling thread has got a record. */
void families_thread_entered(void);

/* The same where nothing may be asked of the C library. */
void families_thread_seen(void);

/* It was entered while the C library told it where its stack lies, and may ask
 * that now. */
void families_thread_asked(void);

/* It is about to give it back. */
void families_thread_leaves(void);

/* Writer, each pass: what the session is to know of them. */
void families_poll(void *unused);

/* The recording ends.  First, with the gate still open: what the calling thread
 * has begun and not ended.  `thread` records. */
void families_finish(struct thread *thread);

/* Then, with the gate closed: what may come late is waited for. */
void families_end(unsigned int wait_ms);

/* Bits that even a closed gate must have. */
uint32_t families_closed_bits(void);

/* In a forked child: the parent's session is gone. */
void families_forget(void);

/* The program closed a file of code. */
void families_file_closed(void);

/* Allocations that were seen before a recording began. */
uint64_t families_calls_watched(void);

#endif
