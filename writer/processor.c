/* SPDX-License-Identifier: MIT */
/* processor.c - asks the processor; see processor.h. */
#include "writer/processor.h"

#if defined(__x86_64__)

#include <cpuid.h>

/* Registers that the system saves: bits of XCR0. */
#define SAVES_AVX    0x06u
#define SAVES_AVX512 0xe6u

static bool saves(uint32_t registers)
{
	unsigned int eax, ebx, ecx, edx, low, high;

	if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx & bit_OSXSAVE))
		return false;
	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	return (low & registers) == registers;
}

static bool has_extended(uint32_t bits)
{
	unsigned int eax, ebx, ecx, edx;

	return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) &&
	       (ebx & bits) == bits;
}

bool processor_multiplies(void)
{
	const uint32_t bits = bit_PCLMUL | bit_SSE4_1;
	unsigned int eax, ebx, ecx, edx;

	return __get_cpuid(1, &eax, &ebx, &ecx, &edx) && (ecx & bits) == bits;
}

bool processor_has_avx2(void)
{
	return saves(SAVES_AVX) && has_extended(bit_AVX2 | bit_BMI2);
}

bool processor_has_avx512(void)
{
	return saves(SAVES_AVX512) && has_extended(bit_AVX512BW | bit_AVX512VL);
}

#else

bool processor_multiplies(void)
{
	return false;
}

bool processor_has_avx2(void)
{
	return false;
}

bool processor_has_avx512(void)
{
	return false;
}

#endif
