/* SPDX-License-Identifier: MIT */
/*
 * processor.h - which instructions the processor has, asked when a coder
 * starts.
 *
 * Not __builtin_cpu_supports(): that brings a constructor along which asks in
 * each process that the library is loaded into, and a virtual machine's host
 * answers each question, some 40 microseconds in all.
 */
#ifndef WRITER_PROCESSOR_H
#define WRITER_PROCESSOR_H

#include "collector/base.h"

/* Carry-less multiplication, and SSE 4.1. */
bool processor_multiplies(void);

/* AVX2 and BMI2; AVX-512 on bytes and short vectors; and a system that keeps
 * their registers. */
bool processor_has_avx2(void);
bool processor_has_avx512(void);

#endif
