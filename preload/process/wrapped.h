/* SPDX-License-Identifier: MIT */
/*
 * wrapped.h - the functions of other libraries that we stand in front of, and
 * those that we only call.
 *
 * One row makes the member of `real`, its look-up (preload/process/real.c) and
 * the check of the exported symbols.  A row is
 *
 *	X(library, need, name, returns, parameters)
 *
 * where need is
 *
 *	BASE	without it nothing can be forwarded; found before all others
 *	REST	every C library of ours has it
 *	NEW	a C library of today, or another allocator, may have it
 *	OTHER	asked of another allocator than the C library's own
 *	NONE	our hook comes down to another row
 *
 * libgomp has a list of its own: its originals depend on who calls.
 */
#ifndef PRELOAD_WRAPPED_H
#define PRELOAD_WRAPPED_H

#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* clang-format off */
#define WRAPPED_FUNCTIONS(X)						\
	X(libc, BASE, malloc,         void *, (size_t size))		\
	X(libc, BASE, free,           void,   (void *ptr))		\
	X(libc, BASE, calloc,         void *, (size_t count, size_t size)) \
	X(libc, BASE, realloc,        void *, (void *ptr, size_t size))	\
	X(libc, REST, posix_memalign, int,    (void **ptr, size_t alignment, \
					       size_t size))		\
	X(libc, REST, aligned_alloc,  void *, (size_t alignment, size_t size)) \
	X(libc, REST, memalign,       void *, (size_t alignment, size_t size)) \
	X(libc, REST, valloc,         void *, (size_t size))		\
	X(libc, REST, pvalloc,        void *, (size_t size))		\
	X(libc, NEW,  free_sized,     void,   (void *ptr, size_t size))	\
	X(libc, NEW,  free_aligned_sized, void, (void *ptr, size_t alignment, \
						 size_t size))		\
	X(libc, REST, mmap,           void *, (void *at, size_t bytes,	\
					       int protection, int flags, \
					       int fd, off_t offset))	\
	X(libc, NONE, mmap64,         void *, (void *at, size_t bytes,	\
					       int protection, int flags, \
					       int fd, off64_t offset))	\
	X(libc, REST, munmap,         int,    (void *at, size_t bytes))	\
	X(libc, REST, mremap,         void *, (void *at, size_t old_bytes, \
					       size_t bytes, int flags, ...)) \
	X(libc, REST, brk,            int,    (void *to))		\
	X(libc, REST, sbrk,           void *, (intptr_t bytes))		\
	X(libc, NONE, execv,          int,    (const char *path,	\
					       char *const argv[]))	\
	X(libc, REST, execve,         int,    (const char *path,	\
					       char *const argv[],	\
					       char *const envp[]))	\
	X(libc, NONE, execvp,         int,    (const char *file,	\
					       char *const argv[]))	\
	X(libc, REST, execvpe,        int,    (const char *file,	\
					       char *const argv[],	\
					       char *const envp[]))	\
	X(libc, NONE, execl,          int,    (const char *path,	\
					       const char *first, ...))	\
	X(libc, NONE, execlp,         int,    (const char *file,	\
					       const char *first, ...))	\
	X(libc, NONE, execle,         int,    (const char *path,	\
					       const char *first, ...))	\
	X(libc, REST, fexecve,        int,    (int fd, char *const argv[], \
					       char *const envp[]))	\
	X(libc, REST, execveat,       int,    (int folder, const char *path, \
					       char *const argv[],	\
					       char *const envp[], int flags)) \
	X(libc, REST, _exit,          void,   (int status))		\
	X(libc, NONE, _Exit,          void,   (int status))		\
	X(libc, REST, _Fork,          pid_t,  (void))			\
	X(libc, REST, clone,          int,    (int (*function)(void *),	\
					       void *stack, int flags,	\
					       void *arg, void *parent,	\
					       void *tls, void *child))	\
	X(libc, REST, prctl,          int,    (int option, unsigned long a, \
					       unsigned long b, unsigned long c, \
					       unsigned long d))	\
	X(libc, REST, syscall,        long,   (long number, long a, long b, \
					       long c, long d, long e, long f))

/* Called, never replaced. */
#define CALLED_FUNCTIONS(X)						\
	X(libc, OTHER, malloc_usable_size, size_t, (void *ptr))		\
	X(libc, REST, mallinfo2,      struct mallinfo2, (void))		\
	X(libc, REST, __libc_malloc,  void *, (size_t size))
/* clang-format on */

#endif
