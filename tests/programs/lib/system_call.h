/* SPDX-License-Identifier: MIT */
/*
 * system_call.h - stands in the place of the C library's syscall(), by which
 * the library makes its own calls.  Who includes it decides what comes of each.
 */
#ifndef PROGRAMS_SYSTEM_CALL_H
#define PROGRAMS_SYSTEM_CALL_H

#include <errno.h>
#include <stdarg.h>

#define SYSTEM_CALL_WORDS 6

/* Whoever includes this: what comes of a call; an error as of the kernel. */
static long answer_call(long number, const long *words);

/* What the kernel answers. */
#if defined(__x86_64__)
static inline long system_call(long number, const long *args)
{
	register long fourth __asm__("r10") = args[3];
	register long fifth __asm__("r8") = args[4];
	register long sixth __asm__("r9") = args[5];
	long answer;

	__asm__ volatile("syscall"
			 : "=a"(answer)
			 : "a"(number), "D"(args[0]), "S"(args[1]),
			   "d"(args[2]), "r"(fourth), "r"(fifth), "r"(sixth)
			 : "rcx", "r11", "memory");
	return answer;
}
#else
static inline long system_call(long number, const long *args)
{
	register long answer __asm__("x0") = args[0];
	register long second __asm__("x1") = args[1];
	register long third __asm__("x2") = args[2];
	register long fourth __asm__("x3") = args[3];
	register long fifth __asm__("x4") = args[4];
	register long sixth __asm__("x5") = args[5];
	register long which __asm__("x8") = number;

	__asm__ volatile("svc 0"
			 : "+r"(answer)
			 : "r"(second), "r"(third), "r"(fourth), "r"(fifth),
			   "r"(sixth), "r"(which)
			 : "memory");
	return answer;
}
#endif

long syscall(long number, ...);
long syscall(long number, ...)
{
	long words[SYSTEM_CALL_WORDS], answer;
	va_list list;

	va_start(list, number);
	for (int i = 0; i < SYSTEM_CALL_WORDS; i++)
		words[i] = va_arg(list, long);
	va_end(list);
	answer = answer_call(number, words);
	if (answer >= 0 || answer < -4095)
		return answer;
	errno = (int)-answer;
	return -1;
}

#endif
