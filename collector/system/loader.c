/* SPDX-License-Identifier: MIT */
/* loader.c - starts our threads, and counts those inside the dynamic loader and
 * the forks under way; see loader.h. */
#include "collector/system/loader.h"

#include "collector/system/float_state.h"

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PAUSE_NS     1000000
#define PAUSES	     200
#define SOON_PAUSES  20
/* Forks that are waited for longer all the same, in a process's life: one that
 * found no processor. */
#define LATE_FORKS   16
#define START_ROUNDS 10
/* From a thread's last words to where the kernel counts it no more. */
#define END_NS	     UINT64_C(200000000)

static _Atomic int inside; /* our threads in the loader */
static _Atomic int forks;  /* forks under way */
static _Atomic uint32_t late_forks;
static _Atomic unsigned int background;
static _Atomic uint64_t left_ns; /* when the last of them left */
static _Atomic int starting;	 /* of those, not counted yet */

/* Each side first says what it does and then looks at the other: sequentially
 * consistent, so at least one of two that meet sees the other. */
static bool wait_for(_Atomic int *count, int pauses)
{
	const struct timespec pause = {0, PAUSE_NS};

	/* The function would be a point of cancellation, inside of fork(). */
	for (int i = 0; i < pauses && atomic_load(count) > 0; i++)
		syscall(SYS_nanosleep, &pause, NULL);
	return atomic_load(count) <= 0;
}

bool loader_enter_now(void)
{
	atomic_fetch_add(&inside, 1);
	if (!atomic_load(&forks))
		return true;
	atomic_fetch_sub(&inside, 1);
	return false;
}

static bool enter(int pauses)
{
	for (int i = 0; i < pauses; i++) {
		if (loader_enter_now())
			return true;
		if (!wait_for(&forks, pauses))
			return false;
	}
	return false;
}

bool loader_enter(void)
{
	return enter(PAUSES);
}

bool loader_enter_soon(void)
{
	return enter(SOON_PAUSES) ||
	       (load_relaxed(&late_forks) < LATE_FORKS &&
		add_relaxed(&late_forks, 1) < LATE_FORKS && enter(PAUSES));
}

void loader_leave(void)
{
	atomic_fetch_sub(&inside, 1);
}

void loader_before_fork(void)
{
	atomic_fetch_add(&forks, 1);
	wait_for(&inside, PAUSES);
	/* It only has to get a processor. */
	for (int i = 0; i < START_ROUNDS && !wait_for(&starting, PAUSES); i++)
		;
}

void loader_after_fork(void)
{
	atomic_fetch_sub(&forks, 1);
}

void loader_forget(void)
{
	atomic_store(&inside, 0);
	atomic_store(&forks, 0);
	atomic_store(&background, 0);
	atomic_store(&starting, 0);
	store_relaxed(&late_forks, 0);
}

unsigned int background_count(void)
{
	return atomic_load(&background);
}

static uint64_t clock_now(void)
{
	struct timespec now = {0};

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

bool background_is_ending(void)
{
	return clock_now() - load_relaxed(&left_ns) < END_NS;
}

bool background_is_counted(void)
{
	return !atomic_load(&starting);
}

void background_enter(void)
{
	atomic_fetch_add(&background, 1);
}

void background_leave(void)
{
	store_relaxed(&left_ns, clock_now());
	atomic_fetch_sub(&background, 1);
}

static void *run_counted(void *run)
{
	void *result;

	/* Whoever made us has the program's. */
	float_state_leave();
	background_enter();
	atomic_fetch_sub(&starting, 1);
	result = ((void *(*)(void *))(uintptr_t)run)(NULL);
	background_leave();
	return result;
}

int background_start(void *(*run)(void *), size_t stack_bytes)
{
	pthread_attr_t attributes;
	pthread_t thread;
	sigset_t all;
	sigset_t before;
	int rc;

	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, stack_bytes);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	atomic_fetch_add(&starting, 1);
	rc = -pthread_create(&thread, &attributes, run_counted,
			     (void *)(uintptr_t)run);
	if (rc)
		atomic_fetch_sub(&starting, 1);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return rc;
}

bool loader_file_holds(const struct dl_phdr_info *info, uintptr_t address,
		       uintptr_t *start, uintptr_t *end)
{
	*start = UINTPTR_MAX;
	*end = 0;
	for (unsigned int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		const uintptr_t at = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type != PT_LOAD)
			continue;
		*start = at < *start ? at : *start;
		*end = at + segment->p_memsz > *end ? at + segment->p_memsz
						    : *end;
	}
	return address >= *start && address < *end;
}
