/* SPDX-License-Identifier: MIT */
/*
 * c_library.h - lets a library that was built on a newer glibc run on an older.
 *
 * Since 2.38 who asks for glibc's extensions gets C23's strtol() and sscanf(),
 * by names that no older one has.  They differ in "0b" before a number, which
 * nothing of ours reads.  The Makefile has this come before all else.
 */
#ifndef COLLECTOR_C_LIBRARY_H
#define COLLECTOR_C_LIBRARY_H

#include <features.h>

#ifdef __GLIBC_USE_C23_STRTOL
#undef __GLIBC_USE_C23_STRTOL
#define __GLIBC_USE_C23_STRTOL 0
#endif

/* As it was called until 2.40. */
#ifdef __GLIBC_USE_C2X_STRTOL
#undef __GLIBC_USE_C2X_STRTOL
#define __GLIBC_USE_C2X_STRTOL 0
#endif

#endif
