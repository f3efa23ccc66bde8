/* SPDX-License-Identifier: MIT */
/*
 * lock_hooks.c - locks that are held by another, and who wakes a waiter.
 *
 * A lock that is free costs a call of trylock instead of lock.  One that isn't
 * is locked by the library's function, whose answer it is, and timed.  Locks
 * with a protocol of their own (robust, or with priorities) are only timed:
 * trying them first could change what they do.
 *
 * A program may lock before anybody has looked up anything, and in the
 * allocator that looking up needs: the C library's own names serve then.
 */
#include "preload/wait/waits.h"

#include "preload/process/hook.h"
#include "preload/process/real.h"
#include "preload/wait/wakers.h"
#include <errno.h>

#if defined(__x86_64__)
#define FIRST_VERSION "GLIBC_2.2.5"
#else
#define FIRST_VERSION "GLIBC_2.17"
#endif

/* Robust, inheriting, protecting: as <pthread.h> of glibc has them. */
#define KIND_PROTOCOLS 0x70

_Atomic uint64_t wakers[WAKERS_SLOTS];

#define EARLY(name, type)                                                      \
	extern int early_##name(type *lock) __attribute__((weak));             \
	__asm__(".symver early_" #name ",__pthread_" #name "@" FIRST_VERSION)

EARLY(mutex_lock, pthread_mutex_t);
EARLY(rwlock_rdlock, pthread_rwlock_t);
EARLY(rwlock_wrlock, pthread_rwlock_t);

/* While the gate is decided all is looked up; one test for the rest. */
static inline bool is_watched(void)
{
	const uint32_t bits = gate_bits();

	return unlikely(!bits || bits & GATE_WAIT);
}

static COLD int lock_mutex(pthread_mutex_t *mutex)
{
	struct wait_other other = {.object = mutex, .how = WAIT_HELD_BY};
	uint64_t start;
	int rc;

	if (!real.pthread_mutex_lock)
		return early_mutex_lock ? early_mutex_lock(mutex) : EAGAIN;
	if (!waits_are_wanted())
		return real.pthread_mutex_lock(mutex);
	if (!(mutex->__data.__kind & KIND_PROTOCOLS) &&
	    !real.pthread_mutex_trylock(mutex))
		return 0;
	other.tid = *(volatile uint32_t *)&mutex->__data.__owner;
	start = clock_ticks();
	rc = real.pthread_mutex_lock(mutex);
	waits_lock_ends(WAIT_LOCK_mutex, start, &other);
	return rc;
}

WAIT_HOOK int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	return is_watched() ? lock_mutex(mutex)
			    : real.pthread_mutex_lock(mutex);
}

/* C11's is the same lock by another name. */
static COLD int lock_c11(mtx_t *mutex)
{
	pthread_mutex_t *same = (pthread_mutex_t *)(void *)mutex;
	struct wait_other other = {.object = mutex, .how = WAIT_HELD_BY};
	uint64_t start;
	int rc;

	if (!real.mtx_lock && !real_look_late())
		return early_mutex_lock && !early_mutex_lock(same)
			       ? thrd_success
			       : thrd_error;
	if (!real.mtx_lock || !real.mtx_trylock)
		return thrd_error;
	if (!waits_are_wanted())
		return real.mtx_lock(mutex);
	if (real.mtx_trylock(mutex) == thrd_success)
		return thrd_success;
	other.tid = *(volatile uint32_t *)&same->__data.__owner;
	start = clock_ticks();
	rc = real.mtx_lock(mutex);
	waits_lock_ends(WAIT_LOCK_mtx, start, &other);
	return rc;
}

WAIT_HOOK int mtx_lock(mtx_t *mutex)
{
	return is_watched() || unlikely(!real.mtx_lock) ? lock_c11(mutex)
							: real.mtx_lock(mutex);
}

static COLD int lock_to_read(pthread_rwlock_t *lock)
{
	struct wait_other other = {.object = lock, .how = WAIT_HELD_BY};
	uint64_t start;
	int rc;

	if (!real.pthread_rwlock_rdlock)
		return early_rwlock_rdlock ? early_rwlock_rdlock(lock) : EAGAIN;
	if (!waits_are_wanted())
		return real.pthread_rwlock_rdlock(lock);
	if (!real.pthread_rwlock_tryrdlock(lock))
		return 0;
	other.tid = *(volatile uint32_t *)&lock->__data.__cur_writer;
	start = clock_ticks();
	rc = real.pthread_rwlock_rdlock(lock);
	waits_lock_ends(WAIT_LOCK_rdlock, start, &other);
	return rc;
}

WAIT_HOOK int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
	return is_watched() ? lock_to_read(lock)
			    : real.pthread_rwlock_rdlock(lock);
}

static COLD int lock_to_write(pthread_rwlock_t *lock)
{
	struct wait_other other = {.object = lock, .how = WAIT_HELD_BY};
	uint64_t start;
	int rc;

	if (!real.pthread_rwlock_wrlock)
		return early_rwlock_wrlock ? early_rwlock_wrlock(lock) : EAGAIN;
	if (!waits_are_wanted())
		return real.pthread_rwlock_wrlock(lock);
	if (!real.pthread_rwlock_trywrlock(lock))
		return 0;
	/* Readers are not known by name. */
	other.tid = *(volatile uint32_t *)&lock->__data.__cur_writer;
	start = clock_ticks();
	rc = real.pthread_rwlock_wrlock(lock);
	waits_lock_ends(WAIT_LOCK_wrlock, start, &other);
	return rc;
}

WAIT_HOOK int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
	return is_watched() ? lock_to_write(lock)
			    : real.pthread_rwlock_wrlock(lock);
}

/* --- who wakes -------------------------------------------------------------*/

static COLD void note(const void *object)
{
	const int saved = errno;
	const struct thread *thread;

	if (waits_are_wanted()) {
		thread = hook_thread_of_any_lightly();
		if (thread)
			wakers_note(object, thread->tid);
	} else {
		/* Nobody has looked anything up yet. */
		real_resolve();
	}
	errno = saved;
}

WAIT_HOOK int pthread_cond_signal(pthread_cond_t *condition)
{
	if (is_watched()) {
		note(condition);
		if (!real.pthread_cond_signal)
			return EAGAIN;
	}
	return real.pthread_cond_signal(condition);
}

WAIT_HOOK int pthread_cond_broadcast(pthread_cond_t *condition)
{
	if (is_watched()) {
		note(condition);
		if (!real.pthread_cond_broadcast)
			return EAGAIN;
	}
	return real.pthread_cond_broadcast(condition);
}

WAIT_HOOK int cnd_signal(cnd_t *condition)
{
	if (is_watched() || unlikely(!real.cnd_signal)) {
		note(condition);
		if (!real.cnd_signal && !real_look_late())
			return thrd_error;
	}
	return real.cnd_signal ? real.cnd_signal(condition) : thrd_error;
}

WAIT_HOOK int cnd_broadcast(cnd_t *condition)
{
	if (is_watched() || unlikely(!real.cnd_broadcast)) {
		note(condition);
		if (!real.cnd_broadcast && !real_look_late())
			return thrd_error;
	}
	return real.cnd_broadcast ? real.cnd_broadcast(condition) : thrd_error;
}

WAIT_HOOK int sem_post(sem_t *semaphore)
{
	if (is_watched()) {
		note(semaphore);
		if (!real.sem_post) {
			errno = EAGAIN;
			return -1;
		}
	}
	return real.sem_post(semaphore);
}
