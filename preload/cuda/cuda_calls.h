/* SPDX-License-Identifier: MIT */
/*
 * cuda_calls.h - the calls of a shared CUDA runtime, where CUPTI can't be had.
 *
 * Hooks in front of the runtime's own functions (cuda_hooks.c) see who calls
 * what, for how long and with how many bytes; they don't see the GPU.  They
 * stay closed while CUPTI records, which sees all that they do and more.
 */
#ifndef PRELOAD_CUDA_CALLS_H
#define PRELOAD_CUDA_CALLS_H

#include "collector/session/gate.h"
#include "collector/session/thread.h"
#include "preload/cuda/cuda_wrapped.h"

struct cuda_call {
	struct thread *thread; /* NULL: not recorded */
	uint64_t start_ticks;
	uint32_t number; /* enum cuda_function */
	bool is_first;	 /* nobody has attached yet */
};

/* The runtime's own; those that it lacks answer with an error. */
extern struct cuda_functions cuda_real __attribute__((visibility("hidden")));
extern _Atomic uint32_t cuda_calls_are_known
	__attribute__((visibility("hidden")));

COLD void cuda_calls_open(struct cuda_call *call);
COLD void cuda_calls_attach(int result);
COLD void cuda_calls_resolve(void);
void cuda_calls_begin(struct cuda_call *call);
void cuda_calls_end(const struct cuda_call *call, int result, uint64_t bytes);

static inline struct cuda_call cuda_call(enum cuda_function number)
{
	struct cuda_call call = {.number = number};
	const uint32_t open = gate_bits();

	/* ACQUIRE pairs with RELEASE in cuda_calls_resolve(): the table. */
	if (unlikely(!load_acquire(&cuda_calls_are_known)))
		cuda_calls_resolve();
	if (unlikely(open == GATE_UNDECIDED || open & GATE_CUDA_WATCH))
		cuda_calls_open(&call);
	if (gate_bits() & GATE_CUDA)
		cuda_calls_begin(&call);
	return call;
}

static inline int cuda_done(const struct cuda_call *call, int result,
			    uint64_t bytes)
{
	if (unlikely(call->thread))
		cuda_calls_end(call, result, bytes);
	if (unlikely(call->is_first))
		cuda_calls_attach(result);
	return result;
}

/* CUPTI can't be had: from now on they record. */
void cuda_calls_record(struct session *session);

/* In a forked child. */
void cuda_calls_forget(void);

#endif
