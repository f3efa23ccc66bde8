/* SPDX-License-Identifier: MIT */
/*
 * float_state.h - rounding, traps and flags of the calling thread's arithmetic.
 *
 * A program may have a division by zero or an inexact result trap, round
 * upwards, or look at which of them there was.  Ours are none of its own.  The
 * state is that of SSE, or of aarch64; no long double is used here.
 */
#ifndef COLLECTOR_FLOAT_STATE_H
#define COLLECTOR_FLOAT_STATE_H

#include "collector/system/base.h"

struct float_state {
	uint64_t control;
	uint64_t flags; /* within `control` on x86-64 */
};

#if defined __x86_64__
#define FLOAT_CONTROL_DEFAULT 0x1f80u /* to the nearest, nothing traps */

static inline struct float_state float_state_leave(void)
{
	const struct float_state was = {__builtin_ia32_stmxcsr(), 0};

	__builtin_ia32_ldmxcsr(FLOAT_CONTROL_DEFAULT);
	return was;
}

static inline void float_state_return(const struct float_state *was)
{
	__builtin_ia32_ldmxcsr((unsigned int)was->control);
}
#elif defined __aarch64__
static inline struct float_state float_state_leave(void)
{
	struct float_state was;

	__asm__ volatile("mrs %0, fpcr\n\tmrs %1, fpsr\n\tmsr fpcr, xzr"
			 : "=r"(was.control), "=r"(was.flags));
	return was;
}

static inline void float_state_return(const struct float_state *was)
{
	__asm__ volatile("msr fpcr, %0\n\tmsr fpsr, %1"
			 :
			 : "r"(was->control), "r"(was->flags));
}
#else
static inline struct float_state float_state_leave(void)
{
	return (struct float_state){0, 0};
}

static inline void float_state_return(const struct float_state *was)
{
	(void)was;
}
#endif

/* Returns a result that was computed meanwhile, and not later. */
static inline uint64_t float_state_return_with(const struct float_state *was,
					       uint64_t result)
{
	__asm__ volatile("" : "+r"(result)::"memory");
	float_state_return(was);
	return result;
}

#endif
