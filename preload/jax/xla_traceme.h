/* SPDX-License-Identifier: MIT */
/*
 * xla_traceme.h - XLA's annotations as slices, while a window is open.
 *
 * The recorder is XLA's own (xla_recorder.h), and of one user: as soon as the
 * program begins a profile of JAX's, ours is off for good.  The writer's
 * thread empties it in each pass.
 */
#ifndef PRELOAD_JAX_XLA_TRACEME_H
#define PRELOAD_JAX_XLA_TRACEME_H

#include "collector/session/session.h"

/* On a thread of our own: the library lies there. */
void xla_traceme_find(struct session *session, const char *path, uint64_t bias);

/* Under the GIL, in the main thread, once JAX has been imported. */
void xla_traceme_arrange(struct session *session);

/* Writer, each pass. */
void xla_traceme_poll(struct session *session);

/* A window opens or closes, on whichever thread does it. */
void xla_traceme_follow(bool open);

/* In a forked child. */
void xla_traceme_forget(void);

#endif
