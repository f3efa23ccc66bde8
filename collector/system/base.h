/* SPDX-License-Identifier: MIT */
/*
 * base.h - the few spellings that every folder shares: branch hints, named
 * memory orders, alignment.  It holds no behaviour.
 *
 * The memory order stands in the name of the operation, on purpose: a plain
 * assignment to an _Atomic is an error in review, and the comment beside each
 * acquire and release names its partner.
 */
#ifndef COLLECTOR_BASE_H
#define COLLECTOR_BASE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if !defined(__linux__) || !(defined(__x86_64__) || defined(__aarch64__))
#error "traceprof runs on Linux, x86-64 and aarch64: its clock and hooks know no other"
#endif

#define CACHE_LINE 64
#define PAGE_BYTES 4096 /* at least; see page_size.h */
#if defined(__x86_64__)
#define PAGE_BYTES_MOST 4096
#else
#define PAGE_BYTES_MOST 65536
#endif

/* clang-format off */
#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)
#define EXPORT		__attribute__((visibility("default")))
#define COLD		__attribute__((noinline, cold))
/* What the kernel enters for a signal.  An emulator may not align its stack
 * (qemu-x86_64 7.2). */
#if defined(__x86_64__)
#define SIGNAL_HANDLER __attribute__((force_align_arg_pointer))
#else
#define SIGNAL_HANDLER
#endif
#define ALWAYS_INLINE	inline __attribute__((always_inline))
/* What each process writes at its start, whatever it becomes, lies on one page:
 * a page's first touch is the dearest part of a short program. */
#define START_DATA	__attribute__((section(".data.start")))

#define load_relaxed(p)		atomic_load_explicit(p, memory_order_relaxed)
#define load_acquire(p)		atomic_load_explicit(p, memory_order_acquire)
#define store_relaxed(p, v)	atomic_store_explicit(p, v, memory_order_relaxed)
#define store_release(p, v)	atomic_store_explicit(p, v, memory_order_release)
#define add_relaxed(p, v)	atomic_fetch_add_explicit(p, v, memory_order_relaxed)
#define add_release(p, v)	atomic_fetch_add_explicit(p, v, memory_order_release)
/* clang-format on */

/* The line is to be this core's alone: gcc's own way asks for a copy. */
static inline void prefetch_to_write(const void *line)
{
#if defined(__x86_64__)
	__asm__ volatile("prefetchw %0" : : "m"(*(const char *)line));
#else
	__builtin_prefetch(line, 1);
#endif
}

/* Rounds up to a power of two. */
static inline uint64_t align_up(uint64_t value, uint64_t power)
{
	return (value + power - 1) & ~(power - 1);
}

static inline uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static inline uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

#endif
