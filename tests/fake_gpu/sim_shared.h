/* SPDX-License-Identifier: MIT */
/*
 * sim_shared.h - clients beside the first one, where CUPTI lets several
 * subscribe at once: each has kinds and buffers of its own.
 *
 * Whether that is so the first one says, for good (CUPTI calls it a state).
 */
#ifndef FAKE_GPU_SIM_SHARED_H
#define FAKE_GPU_SIM_SHARED_H

#include <cupti.h>
#include <stddef.h>
#include <stdint.h>

/* Those of CUPTI 13.3's that 13.0's headers lack. */
typedef void (*shared_request)(uint8_t **buffer, size_t *size, size_t *most,
			       void *info);
typedef void (*shared_complete)(uint8_t *buffer, size_t size, size_t valid,
				void *info);

enum sharing { SHARING_UNSAID, SHARING_NO, SHARING_YES };

enum sharing shared_state(void);
void shared_decide(int is_shared);

/* One more client, NULL there are too many; who it is, by its handle. */
void *shared_join(CUpti_CallbackFunc callback, void *argument);
int shared_is(const void *client);
void shared_leave(void *client);

/* Callbacks: which it wants, and one that is due. */
int shared_enable_callback(void *client, CUpti_CallbackDomain domain,
			   uint32_t cbid, int on);
void shared_call_back(CUpti_CallbackDomain domain, uint32_t cbid,
		      const void *data);

void shared_register(void *client, shared_request request,
		     shared_complete complete);
void shared_enable(void *client, CUpti_ActivityKind kind, int on);

/* Which of them want it, a bit each.  A finished record, for these. */
unsigned int shared_wants(CUpti_ActivityKind kind);
void shared_put(const void *record, size_t size, unsigned int clients);
void shared_flush(void);

#endif
