/* SPDX-License-Identifier: MIT */
/* stack_switch.c - a few instructions; see stack_switch.h. */
#include "collector/system/stack_switch.h"

#if defined __x86_64__
void stack_switch(uintptr_t end, void (*run)(void *), void *arg)
{
	uintptr_t top = end & ~(uintptr_t)15;

	/* rbx is ours to keep, and the function's to give back. */
	__asm__ volatile("movq %%rsp, %%rbx\n\t"
			 "movq %[top], %%rsp\n\t"
			 "callq *%[run]\n\t"
			 "movq %%rbx, %%rsp"
			 : [top] "+r"(top), [run] "+r"(run), "+D"(arg)
			 :
			 : "rax", "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10",
			   "r11", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4",
			   "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
			   "xmm11", "xmm12", "xmm13", "xmm14", "xmm15",
			   "memory", "cc");
}
#elif defined __aarch64__
void stack_switch(uintptr_t end, void (*run)(void *), void *arg)
{
	register uintptr_t top __asm__("x20") = end & ~(uintptr_t)15;
	register void *first __asm__("x0") = arg;

	__asm__ volatile("mov x19, sp\n\t"
			 "mov sp, %[top]\n\t"
			 "blr %[run]\n\t"
			 "mov sp, x19"
			 : "+r"(first)
			 : [top] "r"(top), [run] "r"(run)
			 : "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9",
			   "x10", "x11", "x12", "x13", "x14", "x15", "x16",
			   "x17", "x18", "x19", "x30", "v0", "v1", "v2", "v3",
			   "v4", "v5", "v6", "v7", "v16", "v17", "v18", "v19",
			   "v20", "v21", "v22", "v23", "v24", "v25", "v26",
			   "v27", "v28", "v29", "v30", "v31", "memory", "cc");
}
#else
void stack_switch(uintptr_t end, void (*run)(void *), void *arg)
{
	(void)end;
	run(arg);
}
#endif
