/* SPDX-License-Identifier: MIT */
/*
 * futex_waits.h - waits of runtimes that ask the kernel themselves.
 *
 * Rust's standard library, Abseil in JAX and std::barrier of C++ call
 * syscall(SYS_futex) where the C library's locks would do it inside.
 */
#ifndef PRELOAD_FUTEX_WAITS_H
#define PRELOAD_FUTEX_WAITS_H

#include "collector/system/base.h"

/* syscall(SYS_futex, ...), timed or noted where waits are recorded.  Result
 * and errno are the kernel's. */
long futex_waits_call(long word, long operation, long value, long time,
		      long other, long last);

#endif
