/* SPDX-License-Identifier: MIT */
/*
 * gomp_name.h - the readable part of a function's symbol.
 *
 * A step marker (`omp:Trainer::epoch*`) is matched against this, on the cold
 * path of a call's first use.  The demangler proper is the writer's, allocates,
 * and gives parameters too, which nobody wants to type.
 */
#ifndef PRELOAD_GOMP_NAME_H
#define PRELOAD_GOMP_NAME_H

#include "collector/system/base.h"

#define GOMP_NAME_BYTES 512

/* `train_epoch` of itself and of `train_epoch._omp_fn.0`, `Trainer::epoch` of
 * `_ZN7Trainer5epochEi`.  What can't be read so is copied. */
void gomp_name_read(const char *symbol, size_t len,
		    char readable[GOMP_NAME_BYTES]);

#endif
