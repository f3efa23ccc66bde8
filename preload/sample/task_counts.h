/* SPDX-License-Identifier: MIT */
/*
 * task_counts.h - what the kernel counts of each thread: time on a core and
 * ready for one, page faults, switches, migrations.
 *
 * The writer's thread reads /proc/self/task in rounds while a window is open,
 * and leaves one event for each thread that ran since the round before.  A
 * round may take a hundredth of a processor until the next, however many
 * threads there are.  What threads did that ended between two rounds is in the
 * process's own event alone.
 */
#ifndef PRELOAD_TASK_COUNTS_H
#define PRELOAD_TASK_COUNTS_H

#include "collector/session/session.h"

#define TASK_COUNTS_MAX 4096u

/* Writer: true begins a round, in which each thread is looked at. */
bool task_counts_begin(struct session *session, bool is_open);
void task_counts_look(uint32_t place, uint32_t tid);
void task_counts_end(void);

/* The whole round, of all threads that there are but the calling one, with
 * their names as the kernel has them. */
void task_counts_round(struct session *session, bool is_open);

/* In a forked child. */
void task_counts_forget(void);

#endif
