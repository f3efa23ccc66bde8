/* SPDX-License-Identifier: MIT */
/*
 * sample_room.c - makes stacks for the handler of samples, and knows them.
 *
 * A handler of the program's that asks for a stack of its own (SA_ONSTACK)
 * where the program has given none runs on ours: so it is large.
 */
#include "preload/sample/sample_room.h"

#include "collector/system/stack_switch.h"

#include "collector/system/page_size.h"
#include "preload/process/real.h"
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ROOM_BYTES  (256u << 10)
/* What says that it is ours lies above it, and is no size of anybody's. */
#define MARK_BYTES  64u
#define STACK_BYTES (ROOM_BYTES - MARK_BYTES)

/* The kernel's frame of a signal, where it doesn't say how large it is, and at
 * most where AMX isn't used. */
#if defined(__x86_64__)
#define FRAME_BYTES 2048u
#else
#define FRAME_BYTES 5120u
#endif
#define FRAME_MOST    4096u
#define ASK_PERMITTED 0x1022 /* ARCH_GET_XCOMP_PERM */
#define PERMITS_AMX   (UINT64_C(1) << 18)

static const char mark[MARK_BYTES] = "traceprof: the stack of its samples";

uintptr_t sample_room_make(void)
{
	const size_t guard = page_bytes();
	char *low = mmap(NULL, ROOM_BYTES + guard, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (low == MAP_FAILED)
		return 0;
	mprotect(low, guard, PROT_NONE);
	memcpy(low + guard + STACK_BYTES, mark, MARK_BYTES);
	return (uintptr_t)low + guard;
}

stack_t sample_room_stack(uintptr_t room)
{
	return (stack_t){.ss_sp = (void *)room, .ss_size = STACK_BYTES};
}

bool sample_room_is(const stack_t *stack)
{
	return stack->ss_size == STACK_BYTES &&
	       !(stack->ss_flags & SS_DISABLE) &&
	       !memcmp((const char *)stack->ss_sp + STACK_BYTES, mark,
		       MARK_BYTES);
}

/* AMX's tiles are 8 KiB of what the kernel says, on all machines that have
 * them, but are only saved in a program that was permitted them. */
static size_t frame_bytes(void)
{
	const size_t most = getauxval(AT_MINSIGSTKSZ);
#ifdef __x86_64__
	uint64_t permitted;

	if (most > FRAME_MOST &&
	    !syscall(SYS_arch_prctl, ASK_PERMITTED, &permitted) &&
	    !(permitted & PERMITS_AMX))
		return FRAME_MOST;
#endif
	return most ? most : FRAME_BYTES;
}

bool sample_room_is_small(const stack_t *stack)
{
	return !(stack->ss_flags & SS_DISABLE) &&
	       stack->ss_size < SAMPLE_WALK_BYTES &&
	       stack->ss_size < 2 * frame_bytes();
}

void sample_room_run(uintptr_t room, void (*run)(void *), void *arg)
{
	stack_switch(room + STACK_BYTES, run, arg);
}

int sample_room_set(const stack_t *wanted, stack_t *before)
{
	return real.sigaltstack ? real.sigaltstack(wanted, before)
				: (int)syscall(SYS_sigaltstack, wanted, before);
}

void sample_room_enter(uintptr_t room)
{
	const stack_t ours = sample_room_stack(room);
	stack_t theirs;

	if (room && !sample_room_set(NULL, &theirs) &&
	    theirs.ss_flags & SS_DISABLE)
		sample_room_set(&ours, NULL);
}
