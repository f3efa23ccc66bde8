/* SPDX-License-Identifier: MIT */
/*
 * sample_room.c - makes stacks for the handler of samples, and knows them.
 *
 * A handler of the program's that asks for a stack of its own (SA_ONSTACK)
 * where the program has given none runs on ours: so it is large.
 */
#include "preload/sample/sample_room.h"

#include "preload/process/real.h"
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ROOM_BYTES  (256u << 10)
#define GUARD_BYTES 4096u
/* What says that it is ours lies above it, and is no size of anybody's. */
#define MARK_BYTES  64u
#define STACK_BYTES (ROOM_BYTES - MARK_BYTES)

static const char mark[MARK_BYTES] = "traceprof: the stack of its samples";

uintptr_t sample_room_make(void)
{
	char *low = mmap(NULL, ROOM_BYTES + GUARD_BYTES, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (low == MAP_FAILED)
		return 0;
	mprotect(low, GUARD_BYTES, PROT_NONE);
	memcpy(low + GUARD_BYTES + STACK_BYTES, mark, MARK_BYTES);
	return (uintptr_t)low + GUARD_BYTES;
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
