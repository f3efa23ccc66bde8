/* SPDX-License-Identifier: MIT */
/*
 * cost.h - what one hook of a kind costs on this machine.
 *
 * The writer's first pass runs the hooks' own code on a record that nobody
 * drains, off the program's threads, and leaves the times in the session; the
 * writer multiplies them by what was counted (writer/account.h).  They are the
 * times in caches that are warm: an estimate from below.
 */
#ifndef PRELOAD_COST_H
#define PRELOAD_COST_H

/* A source of the writer's (writer_add_source()): measures once for each
 * session, some 0.2 ms. */
void cost_look(void *unused);

#endif
