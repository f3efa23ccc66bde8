/* SPDX-License-Identifier: MIT */
/*
 * cost.h - what one hook of a kind costs on this machine.
 *
 * The writer's first pass runs the hooks' own code on a record that nobody
 * drains, off the program's threads, and leaves the times in the session; the
 * writer multiplies them by what was counted (writer/account.h).  What they
 * stand in front of are functions of our own that do nothing: no allocator and
 * no libgomp is called.
 *
 *	a counted call	the way from the call through the hook and back, once
 *			apart from the call and once as far at once with it as
 *			the processor can: the middle of the two
 *	a recorded one	what its hook does
 *	a slice		its two ends
 *	a region	its two ends and all between them that is ours, and two
 *			locks of glibc's malloc that a process of one thread
 *			would be spared: our thread is its second
 *
 * They are the times in caches that are warm: an estimate from below.
 */
#ifndef PRELOAD_COST_H
#define PRELOAD_COST_H

/* A source of the writer's (writer_add_source()): measures once for each
 * session, some 0.3 ms. */
void cost_poll(void *unused);

#endif
