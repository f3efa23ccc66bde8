/* SPDX-License-Identifier: MIT */
/*
 * cupti_state.h - may CUPTI be called now?
 */
#ifndef FAKE_GPU_CUPTI_STATE_H
#define FAKE_GPU_CUPTI_STATE_H

#include <cupti.h>

/* At the start of each call that needs a driver: 0, the error that a real
 * CUPTI answers (999 without a driver, 15 after its end), an injected one, or
 * no return at all after a refused subscription. */
CUptiResult state_enter(const char *function);

/* A call of one of several subscribers, with its handle. */
int state_is_through_v2(void);

#endif
