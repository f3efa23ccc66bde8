/* SPDX-License-Identifier: MIT */
/*
 * python_profile.h - the profile function of each thread, before 3.12; and what
 * python_hook.c does with what is told.
 */
#ifndef PRELOAD_PYTHON_PROFILE_H
#define PRELOAD_PYTHON_PROFILE_H

#include <stdbool.h>

void python_profile_turn(bool on);

/* Python's own calls, by their code; `frame` NULL: the thread's present one. */
void python_hook_begins(void *code, void *frame);
void python_hook_ends(void *code, void *frame);

/* Calls of functions in C, that `frame` makes. */
void python_hook_function_begins(void *function, void *frame);
void python_hook_function_ends(void *function, void *frame);

/* This thread's profile function was replaced by the program. */
void python_hook_left(void);

/* Takes it all back where no window is open. */
void python_hook_rest(void);

/* One line, once. */
void python_hook_say(const char *text);

#endif
