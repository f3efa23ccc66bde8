/* SPDX-License-Identifier: MIT */
/* processor.c - what this processor can do; see processor.h. */
#include "writer/deflate/processor.h"

#ifdef __x86_64__

#include <cpuid.h>

#define HAS_SSE_4_1 (1u << 19)
#define HAS_CLMUL   (1u << 1)
#define HAS_XGETBV  (1u << 27)
#define HAS_LZCNT   (1u << 5)
#define HAS_AVX2    (1u << 5 | 1u << 3 | 1u << 8) /* and BMI1, BMI2 */
#define HAS_WIDE    (1u << 10)
#define HAS_AVX512  (1u << 16 | 1u << 30 | 1u << 31) /* F, BW, VL */
/* Registers that the kernel saves. */
#define SAVES_AVX   0x06u
#define SAVES_ZMM   0xe6u

static unsigned int saved_registers(void)
{
	unsigned int low, high;

	__asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	return low;
}

static bool has(unsigned int bits, unsigned int wanted)
{
	return (bits & wanted) == wanted;
}

unsigned int processor_skills(void)
{
	unsigned int a, b, c, d, seven, more, wide, saved = 0, skills = 0;

	if (!__get_cpuid(1, &a, &b, &c, &d))
		return 0;
	if (has(c, HAS_SSE_4_1 | HAS_CLMUL))
		skills |= PROCESSOR_MULTIPLIES;
	if (c & HAS_XGETBV)
		saved = saved_registers();
	if (!__get_cpuid_count(7, 0, &a, &seven, &wide, &d) ||
	    !__get_cpuid(0x80000001, &a, &b, &more, &d))
		return skills;
	if (!has(saved, SAVES_AVX) || !has(seven, HAS_AVX2) ||
	    !has(more, HAS_LZCNT))
		return skills;
	skills |= PROCESSOR_AVX2;
	if (has(saved, SAVES_ZMM) && has(seven, HAS_AVX512))
		skills |= PROCESSOR_AVX512;
	if (skills & PROCESSOR_AVX512 && skills & PROCESSOR_MULTIPLIES &&
	    has(wide, HAS_WIDE))
		skills |= PROCESSOR_MULTIPLIES_WIDE;
	return skills;
}

#else

unsigned int processor_skills(void)
{
	return 0;
}

#endif
