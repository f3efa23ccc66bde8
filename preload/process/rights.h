/* SPDX-License-Identifier: MIT */
/*
 * rights.h - what one thread of the program may do, the writer's may.
 */
#ifndef PRELOAD_RIGHTS_H
#define PRELOAD_RIGHTS_H

#include "collector/system/base.h"

/* The writer's thread, if there is one, makes the call that the only thread of
 * the program has made, which changed what it may do.  False: it didn't come to
 * it, or it was refused: then it isn't as the program's. */
bool rights_mirror(long number, long a, long b, long c);

/* For writer_add_source(). */
void rights_poll(void *unused);

#endif
