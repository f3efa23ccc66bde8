/* SPDX-License-Identifier: MIT */
/* fork_hooks.h - a forked child is no longer its parent. */
#ifndef PRELOAD_FORK_HOOKS_H
#define PRELOAD_FORK_HOOKS_H

void fork_hooks_start(void);

#endif
