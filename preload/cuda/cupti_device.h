/* SPDX-License-Identifier: MIT */
/*
 * cupti_device.h - the GPUs as CUPTI describes them, and which of them a
 * context lies on.
 *
 * The writer's thread alone.
 */
#ifndef PRELOAD_CUPTI_DEVICE_H
#define PRELOAD_CUPTI_DEVICE_H

#include "preload/cuda/cupti_library.h"

#ifdef HAVE_CUPTI
#include "collector/session/session.h"

/* Takes a record of a device into the session; its name is an interned id. */
void cupti_device_take(struct session *session,
		       const CUpti_ActivityDevice5 *record);

void cupti_device_note(uint32_t context, uint32_t device);

/* 0 for a context that was never noted. */
uint32_t cupti_device_of(uint32_t context);

void cupti_device_forget(void);

#endif
#endif
