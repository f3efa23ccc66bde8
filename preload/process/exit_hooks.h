/* SPDX-License-Identifier: MIT */
/* exit_hooks.h - the ends of a process that run no destructors. */
#ifndef PRELOAD_EXIT_HOOKS_H
#define PRELOAD_EXIT_HOOKS_H

/* Registers with quick_exit().  Once, early, so that it runs last. */
void exit_hooks_start(void);

#endif
