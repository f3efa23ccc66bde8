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
 *	NEW	another allocator than glibc's may have it
 *	LATE	not looked up in a process that is none of our business
 *	NONE	our hook comes down to another row
 *
 * libgomp has a list of its own: its originals depend on who calls.
 */
#ifndef PRELOAD_WRAPPED_H
#define PRELOAD_WRAPPED_H

#include <link.h>
#include <malloc.h>
#include <poll.h>
#include <pty.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <stdio.h>
#include <threads.h>
#include <time.h>

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
	X(libc, REST, exit,           void,   (int status))		\
	X(libc, REST, _exit,          void,   (int status))		\
	X(libc, REST, abort,          void,   (void))			\
	X(libc, NONE, _Exit,          void,   (int status))		\
	X(libc, REST, kill,           int,    (pid_t pid, int signal))	\
	X(libc, LATE, raise,          int,    (int signal))		\
	X(libc, REST, fork,           pid_t,  (void))			\
	X(libc, REST, _Fork,          pid_t,  (void))			\
	X(libc, NONE, daemon,         int,    (int keep_folder, int keep_output)) \
	X(libc, LATE, forkpty,        pid_t,  (int *master, char *name, \
					       const struct termios *modes, \
					       const struct winsize *size)) \
	X(libc, REST, clone,          int,    (int (*function)(void *),	\
					       void *stack, int flags,	\
					       void *arg, void *parent,	\
					       void *tls, void *child))	\
	X(libc, LATE, poll,           int,    (struct pollfd *fds, nfds_t count, \
					       int milliseconds))	\
	X(libc, LATE, ppoll,          int,    (struct pollfd *fds, nfds_t count, \
					       const struct timespec *time, \
					       const sigset_t *mask))	\
	X(libc, LATE, select,         int,    (int count, fd_set *read,	\
					       fd_set *write, fd_set *other, \
					       struct timeval *time))	\
	X(libc, LATE, epoll_wait,     int,    (int fd, struct epoll_event *events, \
					       int count, int milliseconds)) \
	X(libc, LATE, read,           ssize_t, (int fd, void *data, size_t bytes)) \
	X(libc, LATE, pread,          ssize_t, (int fd, void *data, size_t bytes, \
						off_t at))		\
	X(libc, LATE, write,          ssize_t, (int fd, const void *data, \
						size_t bytes))		\
	X(libc, LATE, readv,          ssize_t, (int fd, const struct iovec *parts, \
						int count))		\
	X(libc, LATE, pwrite,         ssize_t, (int fd, const void *data, \
						size_t bytes, off_t at)) \
	X(libc, LATE, writev,         ssize_t, (int fd, const struct iovec *parts, \
						int count))		\
	X(libc, LATE, preadv,         ssize_t, (int fd, const struct iovec *parts, \
						int count, off_t at))	\
	X(libc, LATE, preadv2,        ssize_t, (int fd, const struct iovec *parts, \
						int count, off_t at, int flags)) \
	X(libc, LATE, pwritev,        ssize_t, (int fd, const struct iovec *parts, \
						int count, off_t at))	\
	X(libc, LATE, pwritev2,       ssize_t, (int fd, const struct iovec *parts, \
						int count, off_t at, int flags)) \
	X(libc, LATE, sendfile,       ssize_t, (int to, int from, off_t *at, \
						size_t bytes))		\
	X(libc, LATE, copy_file_range, ssize_t, (int from, off64_t *from_at, \
						 int to, off64_t *to_at, \
						 size_t bytes,		\
						 unsigned int flags))	\
	X(libc, LATE, fread,          size_t, (void *data, size_t size,	\
					       size_t count, FILE *stream)) \
	X(libc, LATE, fopen,          FILE *, (const char *path,	\
					       const char *mode))	\
	X(libc, NONE, fopen64,        FILE *, (const char *path,	\
					       const char *mode))	\
	X(libc, LATE, pipe2,          int,    (int ends[2], int flags))	\
	X(libc, LATE, recv,           ssize_t, (int fd, void *data, size_t bytes, \
						int flags))		\
	X(libc, LATE, send,           ssize_t, (int fd, const void *data, \
						size_t bytes, int flags)) \
	X(libc, LATE, nanosleep,      int,    (const struct timespec *time, \
					       struct timespec *left))	\
	X(libc, LATE, clock_nanosleep, int,   (clockid_t clock, int flags, \
					       const struct timespec *time, \
					       struct timespec *left))	\
	X(libc, LATE, usleep,         int,    (useconds_t microseconds)) \
	X(libc, LATE, fsync,          int,    (int fd))			\
	X(libc, LATE, fdatasync,      int,    (int fd))			\
	X(libc, LATE, sem_wait,       int,    (sem_t *semaphore))	\
	X(libc, LATE, sem_timedwait,  int,    (sem_t *semaphore,	\
					       const struct timespec *until)) \
	X(libc, LATE, pthread_join,   int,    (pthread_t thread, void **result)) \
	X(libc, LATE, pthread_cond_wait, int, (pthread_cond_t *condition, \
					       pthread_mutex_t *mutex))	\
	X(libc, LATE, pthread_cond_timedwait, int, (pthread_cond_t *condition, \
						    pthread_mutex_t *mutex, \
						    const struct timespec *until)) \
	X(libc, LATE, pthread_cond_clockwait, int, (pthread_cond_t *condition, \
						    pthread_mutex_t *mutex, \
						    clockid_t clock,	\
						    const struct timespec *until)) \
	X(libc, LATE, sem_clockwait,  int,    (sem_t *semaphore, clockid_t clock, \
					       const struct timespec *until)) \
	X(libc, LATE, epoll_pwait,    int,    (int fd, struct epoll_event *events, \
					       int count, int milliseconds, \
					       const sigset_t *mask))	\
	X(libc, LATE, accept,         int,    (int fd, struct sockaddr *from, \
					       socklen_t *bytes))	\
	X(libc, LATE, accept4,        int,    (int fd, struct sockaddr *from, \
					       socklen_t *bytes, int flags)) \
	X(libc, LATE, recvfrom,       ssize_t, (int fd, void *data, size_t bytes, \
						int flags, struct sockaddr *from, \
						socklen_t *from_bytes))	\
	X(libc, LATE, recvmsg,        ssize_t, (int fd, struct msghdr *message, \
						int flags))		\
	X(libc, LATE, waitpid,        pid_t,  (pid_t pid, int *status,	\
					       int options))		\
	X(libc, LATE, system,         int,    (const char *command))	\
	X(libc, LATE, wait4,          pid_t,  (pid_t pid, int *status,	\
					       int options, struct rusage *used)) \
	X(libc, LATE, waitid,         int,    (idtype_t kind, id_t id,	\
					       siginfo_t *info, int options)) \
	X(libc, LATE, pselect,        int,    (int count, fd_set *read,	\
					       fd_set *write, fd_set *other, \
					       const struct timespec *time, \
					       const sigset_t *mask))	\
	X(libc, LATE, sendmsg,        ssize_t, (int fd, const struct msghdr *message, \
						int flags))		\
	X(libc, LATE, sleep,          unsigned int, (unsigned int seconds)) \
	X(libc, LATE, pthread_barrier_wait, int, (pthread_barrier_t *barrier)) \
	X(libc, REST, pthread_mutex_lock, int, (pthread_mutex_t *mutex)) \
	X(libc, REST, pthread_rwlock_rdlock, int, (pthread_rwlock_t *lock)) \
	X(libc, REST, pthread_rwlock_wrlock, int, (pthread_rwlock_t *lock)) \
	X(libc, REST, pthread_cond_signal, int, (pthread_cond_t *condition)) \
	X(libc, REST, pthread_cond_broadcast, int, (pthread_cond_t *condition)) \
	X(libc, REST, sem_post,       int,    (sem_t *semaphore))	\
	X(libc, REST, pthread_getattr_np, int, (pthread_t thread,	\
						pthread_attr_t *attributes)) \
	X(libc, REST, pthread_create, int,    (pthread_t *thread,	\
					       const pthread_attr_t *attributes, \
					       void *(*run)(void *), void *arg)) \
	X(libc, LATE, thrd_create,    int,    (thrd_t *thread, thrd_start_t run, \
					       void *arg))		\
	X(libc, LATE, mtx_lock,       int,    (mtx_t *mutex))		\
	X(libc, LATE, cnd_wait,       int,    (cnd_t *condition, mtx_t *mutex)) \
	X(libc, LATE, cnd_timedwait,  int,    (cnd_t *condition, mtx_t *mutex, \
					       const struct timespec *until)) \
	X(libc, LATE, cnd_signal,     int,    (cnd_t *condition))	\
	X(libc, LATE, cnd_broadcast,  int,    (cnd_t *condition))	\
	X(libc, LATE, thrd_sleep,     int,    (const struct timespec *time, \
					       struct timespec *left))	\
	X(libc, LATE, thrd_join,      int,    (thrd_t thread, int *result)) \
	X(libc, LATE, timer_create,   int,    (clockid_t clock,		\
					       struct sigevent *event,	\
					       timer_t *timer))		\
	X(libc, LATE, sigaltstack,    int,    (const stack_t *wanted,	\
					       stack_t *before))	\
	X(libc, REST, dl_iterate_phdr, int,   (int (*visit)(struct dl_phdr_info *, \
							    size_t, void *), \
					       void *arg))		\
	X(libc, REST, prctl,          int,    (int option, unsigned long a, \
					       unsigned long b, unsigned long c, \
					       unsigned long d))	\
	X(libc, REST, capset,         int,    (void *header, const void *sets)) \
	X(libc, LATE, unshare,        int,    (int flags))		\
	X(libc, LATE, setns,          int,    (int fd, int kinds))	\
	X(libc, LATE, close_range,    int,    (unsigned int first,	\
					       unsigned int last, int flags)) \
	X(libc, REST, syscall,        long,   (long number, long a, long b, \
					       long c, long d, long e, long f))

/* Called, never replaced. */
#define CALLED_FUNCTIONS(X)						\
	X(libc, LATE, malloc_usable_size, size_t, (void *ptr))		\
	X(libc, LATE, pthread_mutex_trylock, int, (pthread_mutex_t *mutex)) \
	X(libc, LATE, pthread_rwlock_tryrdlock, int, (pthread_rwlock_t *lock)) \
	X(libc, LATE, pthread_rwlock_trywrlock, int, (pthread_rwlock_t *lock)) \
	X(libc, LATE, mtx_trylock,    int,    (mtx_t *mutex))		\
	X(libc, LATE, pthread_timedjoin_np, int, (pthread_t thread,	\
						  void **result,	\
						  const struct timespec *until)) \
	X(libc, REST, mallinfo2,      struct mallinfo2, (void))		\
	X(libc, REST, __libc_malloc,  void *, (size_t size))
/* clang-format on */

#endif
