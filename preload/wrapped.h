/* SPDX-License-Identifier: MIT */
/*
 * wrapped.h - the functions of other libraries that we stand in front of, and
 * those that we only call.
 *
 * One row makes the member of `real`, its look-up (preload/real.c) and the
 * check of the exported symbols.  A row is
 *
 *	X(library, need, name, returns, parameters)
 *
 * where need is
 *
 *	BASE	without it nothing can be forwarded; found before all others
 *	MAY	absent on some systems; the hook copes, or isn't reached
 *
 * libgomp has a list of its own: its originals depend on who calls.
 */
#ifndef PRELOAD_WRAPPED_H
#define PRELOAD_WRAPPED_H

#include <malloc.h>
#include <stddef.h>

/* clang-format off */
#define WRAPPED_FUNCTIONS(X)						\
	X(libc, BASE, malloc,         void *, (size_t size))		\
	X(libc, BASE, free,           void,   (void *ptr))		\
	X(libc, BASE, calloc,         void *, (size_t count, size_t size)) \
	X(libc, BASE, realloc,        void *, (void *ptr, size_t size))	\
	X(libc, MAY,  posix_memalign, int,    (void **ptr, size_t alignment, \
					       size_t size))		\
	X(libc, MAY,  aligned_alloc,  void *, (size_t alignment, size_t size)) \
	X(libc, MAY,  memalign,       void *, (size_t alignment, size_t size)) \
	X(libc, MAY,  valloc,         void *, (size_t size))		\
	X(libc, MAY,  pvalloc,        void *, (size_t size))		\
	X(libc, MAY,  free_sized,     void,   (void *ptr, size_t size))	\
	X(libc, MAY,  free_aligned_sized, void, (void *ptr, size_t alignment, \
						 size_t size))		\
	X(libc, MAY,  execv,          int,    (const char *path,	\
					       char *const argv[]))	\
	X(libc, MAY,  execve,         int,    (const char *path,	\
					       char *const argv[],	\
					       char *const envp[]))	\
	X(libc, MAY,  execvp,         int,    (const char *file,	\
					       char *const argv[]))	\
	X(libc, MAY,  execvpe,        int,    (const char *file,	\
					       char *const argv[],	\
					       char *const envp[]))	\
	X(libc, MAY,  execl,          int,    (const char *path,	\
					       const char *first, ...))	\
	X(libc, MAY,  execlp,         int,    (const char *file,	\
					       const char *first, ...))	\
	X(libc, MAY,  execle,         int,    (const char *path,	\
					       const char *first, ...))	\
	X(libc, MAY,  fexecve,        int,    (int fd, char *const argv[], \
					       char *const envp[]))	\
	X(libc, MAY,  execveat,       int,    (int folder, const char *path, \
					       char *const argv[],	\
					       char *const envp[], int flags)) \
	X(libc, MAY,  _exit,          void,   (int status))		\
	X(libc, MAY,  _Exit,          void,   (int status))

/* Called, never replaced. */
#define CALLED_FUNCTIONS(X)						\
	X(libc, MAY,  malloc_usable_size, size_t, (void *ptr))		\
	X(libc, MAY,  mallinfo2,      struct mallinfo2, (void))		\
	X(libc, MAY,  __libc_malloc,  void *, (size_t size))
/* clang-format on */

#endif
