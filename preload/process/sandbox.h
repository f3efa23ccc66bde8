/* SPDX-License-Identifier: MIT */
/*
 * sandbox.h - whether a seccomp filter leaves us what finishing a trace takes.
 */
#ifndef PRELOAD_SANDBOX_H
#define PRELOAD_SANDBOX_H

#include "collector/system/base.h"

struct sock_filter;

/* True if this filter lets through each system call of ours, whatever its
 * arguments are.  False also where that can't be told. */
bool sandbox_lets_us(const struct sock_filter *filter, unsigned int count);

/* The same for the program's own `struct sock_fprog`, which may lead anywhere:
 * it is read by the kernel.  -EFAULT: it can't be read, and so can't be
 * installed either; 1 it lets us, 0 it doesn't, or nobody knows. */
int sandbox_judge(const void *program);

#endif
