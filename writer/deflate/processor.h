/* SPDX-License-Identifier: MIT */
/*
 * processor.h - what this processor can do, and the kernel lets it.
 *
 * Not by __builtin_cpu_supports(): that asks the processor at load time, in
 * every process that we are preloaded into, and under a hypervisor each
 * question takes a microsecond or two.
 */
#ifndef WRITER_PROCESSOR_H
#define WRITER_PROCESSOR_H

#include "collector/system/base.h"

enum processor_skill {
	PROCESSOR_MULTIPLIES = 1,      /* PCLMULQDQ and SSE4.1 */
	PROCESSOR_AVX2 = 2,	       /* with BMI1, BMI2 and LZCNT */
	PROCESSOR_AVX512 = 4,	       /* BW and VL, and all of the above */
	PROCESSOR_MULTIPLIES_WIDE = 8, /* VPCLMULQDQ, and all of the above */
};

/* The sum of enum processor_skill.  Asks each time. */
unsigned int processor_skills(void);

#endif
