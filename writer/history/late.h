/* SPDX-License-Identifier: MIT */
/*
 * late.h - may events be written down later?
 *
 * They may while a window is open and no core is free (TRACEPROF_ENCODE),
 * unless somebody waits for them, they couldn't be kept, or a GPU's records are
 * to be joined with them.
 */
#ifndef WRITER_LATE_H
#define WRITER_LATE_H

#include "writer/state/writer_state.h"

/* Of the live process, with TRACEPROF_ENCODE=auto or late.  0 or -ENOMEM. */
int late_start(struct writer_state *state);

bool late_is_now(struct writer_state *state);

/* The program ends: what waits goes on waiting, closed window or not, until
 * writer_stop() decides who writes it. */
bool late_waits_for_end(struct writer_state *state);

/* Events wait from now on; all were written down. */
void late_begin(struct writer_state *state);
void late_is_over(struct writer_state *state);

#endif
