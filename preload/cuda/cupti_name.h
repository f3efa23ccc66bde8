/* SPDX-License-Identifier: MIT */
/* cupti_name.h - what a call of the CUDA API is called, by its number. */
#ifndef PRELOAD_CUPTI_NAME_H
#define PRELOAD_CUPTI_NAME_H

#include "preload/cuda/cupti_library.h"

#ifdef HAVE_CUPTI
#include "collector/session/session.h"

/* The interned name, without version and stream suffix; and what the call puts
 * on a GPU.  The writer's thread alone. */
uint32_t cupti_name_of(struct session *session, bool is_driver, uint32_t cbid,
		       enum gpu_launch_kind *launch);
void cupti_name_forget(void);

/* Numbers of calls are below. */
#define CUPTI_CALLS_MAX 2048u

/* By CUPTI's name of the call; any thread. */
enum gpu_launch_kind cupti_name_launch(const char *name);
#endif
#endif
