/* SPDX-License-Identifier: MIT */
/*
 * made_up_python.c - CPython 3.14 by what it publishes of itself for debuggers:
 * where in its objects things lie, which is nowhere where 3.14.0 has them.
 *
 * Its loop allocates, called by outer() in line 23 and inner() in line 15 of
 * /made/up.py.  FREE_THREADED: it says to be without a GIL.  WILD: where the
 * outermost frame's caller is said to lie.  SPLIT: the compiler takes most of
 * the loop for rare, and puts it elsewhere.  APART: what the loop jumps to
 * allocates.
 *
 * SIGNALS: instead it calls the handler of the samples' signal, as the kernel
 * would (t_instructions.py): so often, below so many functions of Python and of
 * C.
 */
#include "made_up_objects.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef SIGNALS
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#ifdef __x86_64__
#define PROGRAM_COUNTER gregs[REG_RIP]
#define STACK_POINTER	gregs[REG_RSP]
#else
#define PROGRAM_COUNTER pc
#define STACK_POINTER	sp
#endif
#endif

enum { DEEPEST = 30 };
/* NOLINTBEGIN: these are CPython's names. */
char PyCode_Type[8];

const uint64_t _PyRuntime[64] = {
	0x7970677562656478, /* xdebugpy */
	MADE_UP_VERSION,
#ifdef FREE_THREADED
	1,
#else
	0,
#endif
	MADE_UP_OFFSETS,
};

static struct text file = {1, 0, 11, 0, 3, 0x19, 0, "/made/up.py"};
static struct text name[] = {{1, 0, 5, 0, 1, 0x19, 0, "inner"},
			     {1, 0, 5, 0, 1, 0x19, 0, "outer"}};
/* Eight instructions without columns, three lines on. */
static struct bytes lines = {1, 0, 2, 0, {0x80 | 13 << 3 | 7, 6}};
static struct code code[DEEPEST];
static struct frame frames[DEEPEST + 1];
static struct state state = {.frame = &frames[DEEPEST]};

const char *Py_GetVersion(void)
{
	return MADE_UP_NAME;
}

void *PyGILState_GetThisThreadState(void)
{
	return &state;
}

#ifdef SIGNALS
static void (*handler)(int, siginfo_t *, ucontext_t *);
static siginfo_t info = {.si_signo = 33, .si_code = SI_TIMER};
static ucontext_t context;

/* As if the signal had come where it returns to. */
static __attribute__((noinline)) void turn(void)
{
	context.uc_stack.ss_flags = SS_DISABLE;
	context.uc_mcontext.PROGRAM_COUNTER =
		(uintptr_t)__builtin_return_address(0);
	context.uc_mcontext.STACK_POINTER =
		(uintptr_t)__builtin_frame_address(0);
	handler(33, &info, &context);
}

__attribute__((noinline)) void _PyEval_EvalFrameDefault(int times)
{
	for (int i = 0; i < times; i++)
		turn();
}
#else
#ifdef SPLIT
static __attribute__((noinline, cold)) void rare(size_t bytes)
{
	__asm__ volatile("" : : "r"(bytes) : "memory");
}

#endif

#ifdef APART
__attribute__((noinline)) void *an_operation(size_t bytes)
{
	void *block = malloc(bytes);

	__asm__ volatile("" : : "r"(block) : "memory");
	return block;
}
#endif

__attribute__((noinline)) void *_PyEval_EvalFrameDefault(size_t bytes)
{
	void *block;

#ifdef APART
	return an_operation(bytes);
#endif
#ifdef SPLIT
	/* What is rare is entered in two places, so once not at its begin. */
	if (bytes == 1)
		rare(bytes);
	if (bytes == 5000) {
		rare(bytes);
		block = malloc(bytes);
		rare(bytes);
		return block;
	}
#endif
	block = malloc(bytes);
	__asm__ volatile("" : : "r"(block) : "memory");
	return block;
}
#endif
/* NOLINTEND */

/* A caller lies below what it calls. */
static struct frame *frame_at(int depth)
{
	return &frames[DEEPEST - depth];
}

static void make(int deep)
{
	for (int i = 0; i < deep; i++) {
		code[i] =
			(struct code){.type = PyCode_Type,
				      .name = (uint64_t)(uintptr_t)&name[i % 2],
				      .file = (uint64_t)(uintptr_t)&file,
				      .lines = (uint64_t)(uintptr_t)&lines,
				      .first_line = 12 + 8 * i};
		/* The reference is marked, the last one calls C's. */
		*frame_at(i) = (struct frame){
			.previous = (uint64_t)(uintptr_t)frame_at(i + 1),
			.executable = (uint64_t)(uintptr_t)&code[i] | 1,
			.instruction =
				(uint64_t)(uintptr_t)code[i].instructions + 4};
	}
	frame_at(deep)->owner = 3;
}

#ifdef SIGNALS
/* What the kernel hands to the handler: as /proc has it once the timer is
 * there. */
static unsigned long timer_value(void)
{
	unsigned long value = 0;
	char line[128];

	while (!value) {
		FILE *timers = fopen("/proc/self/timers", "r");

		while (timers && fgets(line, sizeof(line), timers)) {
			if (sscanf(line, "signal: 33/%lx", &value) == 1)
				break;
		}
		if (timers)
			fclose(timers);
		usleep(1000);
	}
	return value;
}

static __attribute__((noinline)) void native(int deep, int times)
{
	if (deep)
		native(deep - 1, times);
	else
		_PyEval_EvalFrameDefault(times);
	__asm__ volatile("" : : : "memory"); /* no jump */
}

int main(int argc, char **argv)
{
	void *kernels[8];

	if (argc < 4 || atoi(argv[2]) > DEEPEST)
		return 2;
	make(atoi(argv[2]));
	info.si_value.sival_ptr = (void *)timer_value();
	/* The C library tells nobody of that one: what the kernel has begins
	 * with the handler. */
	syscall(SYS_rt_sigaction, 33, NULL, kernels, 8);
	memcpy(&handler, kernels, sizeof(handler));
	native(atoi(argv[3]), atoi(argv[1]));
	return 0;
}
#else
int main(void)
{
	make(2);
#ifdef WILD
	frame_at(1)->previous = WILD;
#endif
#ifdef APART
	for (int i = 0; i < 100; i++)
		free(_PyEval_EvalFrameDefault(4000));
#endif
	free(_PyEval_EvalFrameDefault(5000));
	puts("done");
	return 0;
}
#endif
