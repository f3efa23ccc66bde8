/* SPDX-License-Identifier: MIT */
/*
 * by_hand.h - the end of a process that no library sees: exit_group in
 * assembly, as the runtime of Go does it.
 */
#ifndef BY_HAND_H
#define BY_HAND_H

#include <sys/syscall.h>

static inline void by_hand_exit(long status)
{
#if defined(__x86_64__)
	__asm__ volatile("syscall"
			 :
			 : "a"(SYS_exit_group), "D"(status)
			 : "rcx", "r11", "memory");
#else
	register long x8 __asm__("x8") = SYS_exit_group;
	register long x0 __asm__("x0") = status;

	__asm__ volatile("svc 0" : : "r"(x8), "r"(x0) : "memory");
#endif
}

#endif
