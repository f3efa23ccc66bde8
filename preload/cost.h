/* SPDX-License-Identifier: MIT */
/*
 * cost.h - what one hook of a kind costs on this machine.
 */
#ifndef PRELOAD_COST_H
#define PRELOAD_COST_H

#include "collector/session/session.h"

/* Measures once for each session, some 1 ms.  On the writer's thread. */
void cost_measure(struct session *session);

#endif
