/* SPDX-License-Identifier: MIT */
/*
 * stack_switch.h - runs a function on another stack, where the program's may be
 * too small for it, or not to be touched.
 */
#ifndef COLLECTOR_STACK_SWITCH_H
#define COLLECTOR_STACK_SWITCH_H

#include "collector/system/base.h"

/* `end` is where the stack begins, at its highest address.  On processors that
 * aren't known here it runs where it is. */
void stack_switch(uintptr_t end, void (*run)(void *), void *arg);

#endif
