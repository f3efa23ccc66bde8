/* SPDX-License-Identifier: MIT */
/*
 * pool_note.h - processor time by the name of threads, where a program has
 * named some: the pools of a program that has no OpenMP.
 */
#ifndef PRELOAD_POOL_NOTE_H
#define PRELOAD_POOL_NOTE_H

#include "collector/session/session.h"

/* Writer, each pass: what threads ran, as of now. */
void pool_note_poll(void);

/* At the end of the recording: one note, if threads with a name of their own
 * ran for a tenth of a second.  Of threads that have ended it is as of the last
 * look. */
void pool_note(struct session *session);
void pool_note_forget(void);

#endif
