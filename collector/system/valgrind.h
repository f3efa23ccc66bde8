/* SPDX-License-Identifier: MIT */
/*
 * valgrind.h - are we run by valgrind's memcheck?
 *
 * It takes what a call stack is found by (words that may not be written yet,
 * questions to the kernel whether an address can be read) for errors of the
 * program's, and ends that with another status if it was told to.
 */
#ifndef COLLECTOR_VALGRIND_H
#define COLLECTOR_VALGRIND_H

#include "collector/system/base.h"

/* Memcheck's request GET_VBITS, and its answer "done". */
#define VALGRIND_GET_BITS 0x4d430008ul
#define VALGRIND_GOT_BITS 1ul

/* The processor turns a register once around, and that is all; valgrind knows
 * these instructions by their numbers. */
static inline unsigned long valgrind_ask(const unsigned long question[6])
{
	unsigned long answer = 0;

#if defined(__x86_64__)
	__asm__ volatile("rolq $3, %%rdi\n\trolq $13, %%rdi\n\t"
			 "rolq $61, %%rdi\n\trolq $51, %%rdi\n\t"
			 "xchgq %%rbx, %%rbx"
			 : "+d"(answer)
			 : "a"(question)
			 : "cc", "memory");
#else
	(void)question;
#endif
	return answer;
}

static inline bool valgrind_checks_memory(void)
{
	static const char byte = 0;
	unsigned char bits = 0;
	const unsigned long question[6] = {VALGRIND_GET_BITS,
					   (unsigned long)(uintptr_t)&byte,
					   (unsigned long)(uintptr_t)&bits, 1};

	return valgrind_ask(question) == VALGRIND_GOT_BITS;
}

#endif
