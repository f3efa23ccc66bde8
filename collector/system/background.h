/* SPDX-License-Identifier: MIT */
/*
 * background.h - threads of our own beside the program's.
 */
#ifndef COLLECTOR_BACKGROUND_H
#define COLLECTOR_BACKGROUND_H

#include <stddef.h>

/* Starts one that nobody joins, with a stack of so many bytes.  No signal sent
 * to the process is ever delivered to it.  0 or -errno of pthread_create(). */
int background_start(void *(*run)(void *), size_t stack_bytes);

#endif
