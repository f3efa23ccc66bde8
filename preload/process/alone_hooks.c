/* SPDX-License-Identifier: MIT */
/*
 * alone_hooks.c - unshare(), setns(), close_range(), capset(), and setuid() and
 * its like by number: what the kernel refuses a process of several threads, or
 * does for one of them alone.
 *
 *	unshare	   of a user namespace, of threads, signals or memory: refused
 *		   (EINVAL).  Of descriptors: the other threads keep what the
 *		   caller then closes, so nobody who reads from a pipe of it
 *		   ever finds the end
 *	setns	   to a user or mount namespace (EINVAL), to one of time
 *		   (EUSERS)
 *	close_range with CLOSE_RANGE_UNSHARE, as unshare of descriptors
 *	capset	   and setuid() and its like by number: of this thread.  The C
 *		   library's own setuid(), setgroups() and so on make all
 *		   threads of a process do the same, and abort it where one is
 *		   refused what the others are not
 *
 * A program of one thread has two with our writer.  So that one is put away for
 * the call: its thread ends, another one goes on afterwards, in the program's
 * new place.  Where only rights change it makes the same call, which takes
 * less.  No signal handler runs meanwhile, and there is nobody else who could
 * record anything.  A program that has threads of its own gets what it would
 * get without us.
 *
 * Behind some of these calls the kernel allows the process no further threads,
 * after unshare(CLONE_NEWUSER | CLONE_NEWPID) for example.  What is recorded
 * then waits in memory for the end of the program, which writes it down itself.
 */
#include "preload/process/alone_hooks.h"

#include "collector/system/loader.h"
#include "preload/process/life.h"
#include "preload/process/life_parts.h"
#include "preload/process/no_thread.h"
#include "preload/process/process.h"
#include "preload/process/quiet.h"
#include "preload/process/real.h"
#include "preload/process/rights.h"
#include "writer/writer.h"
#include <errno.h>
#include <linux/close_range.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

/* In ms: until a thread of ours that left is none to the kernel either, by the
 * number of threads and by what it allows, and until one that begins is
 * counted, which may wait for a processor. */
#define END_LOOKS   200
#define GONE_LOOKS  20
#define START_LOOKS 2000

struct alone {
	struct quiet quiet;
	sigset_t was;
};

static void pause_once(void)
{
	const struct timespec time = {0, 1000000};

	nanosleep(&time, NULL);
}

static bool unshare_needs_it(long flags)
{
	return flags & (CLONE_NEWUSER | CLONE_THREAD | CLONE_SIGHAND |
			CLONE_VM | CLONE_FILES);
}

/* The descriptor says what it is of, if the caller doesn't. */
static bool setns_needs_it(long fd, long kinds)
{
	const int saved = errno;

	if (!kinds)
		kinds = syscall(SYS_ioctl, (int)fd, NS_GET_NSTYPE);
	errno = saved;
	return kinds > 0 &&
	       kinds & (CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWTIME);
}

static bool needs_it(long number, long a, long b, long c)
{
	switch (number) {
	case SYS_unshare: return unshare_needs_it(a);
	case SYS_setns: return setns_needs_it(a, b);
	default: return c & CLOSE_RANGE_UNSHARE;
	}
}

/* The links of the folder: itself twice, and one for each thread.  Where there
 * is none, the kernel says whether there are others. */
static bool has_one_thread(void)
{
	struct stat status;

	for (int look = 0; look < START_LOOKS && !background_is_counted();
	     look++)
		pause_once();
	for (int look = 0; look < END_LOOKS; look++) {
		if (stat("/proc/self/task", &status) ||
		    status.st_nlink == 3 + background_count())
			return true;
		if (!background_is_ending())
			return false;
		pause_once();
	}
	return false;
}

/* Of threads it does nothing, but it is refused where there are others. */
static void wait_alone(uint32_t tid)
{
	if (tid)
		last_thread_wait_gone(tid);
	for (int look = 0;
	     look < GONE_LOOKS &&
	     real.syscall(SYS_unshare, CLONE_THREAD, 0, 0, 0, 0, 0) &&
	     errno == EINVAL;
	     look++)
		pause_once();
}

/* False: nothing is recorded, or others stay anyway. */
static bool enter(struct alone *alone)
{
	sigset_t all;

	if (!life_is_running() || thread_self == THREAD_BUSY)
		return false;
	alone->quiet = quiet_begin();
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &alone->was);
	if (has_one_thread())
		return true;
	pthread_sigmask(SIG_SETMASK, &alone->was, NULL);
	quiet_end(&alone->quiet);
	return false;
}

static void leave(const struct alone *alone)
{
	pthread_sigmask(SIG_SETMASK, &alone->was, NULL);
	quiet_end(&alone->quiet);
}

static void put_away(void)
{
	wait_alone(writer_put_away((unsigned int)process.options.exit_ms));
}

static void call_back(const char *name)
{
	const int rc = writer_call_back();

	if (rc)
		no_thread_say(name, -rc);
}

static const char *name_of(long number)
{
	switch (number) {
	case SYS_unshare: return "unshare";
	case SYS_setns: return "setns";
	case SYS_close_range: return "close_range";
	case SYS_capset: return "capset";
	case SYS_prctl: return "prctl";
	default: return "setuid or its like";
	}
}

/* To whom stands behind us; a bare call of another library's hook stays one. */
static long forward(bool is_bare, long number, long a, long b, long c)
{
	if (!is_bare && number == SYS_unshare && real.unshare)
		return real.unshare((int)a);
	if (!is_bare && number == SYS_setns && real.setns)
		return real.setns((int)a, (int)b);
	if (!is_bare && number == SYS_close_range && real.close_range)
		return real.close_range((unsigned int)a, (unsigned int)b,
					(int)c);
	if (!is_bare && number == SYS_capset && real.capset)
		return real.capset((void *)a, (const void *)b);
	if (real_resolve() == REAL_READY && real.syscall)
		return real.syscall(number, a, b, c, 0, 0, 0);
	errno = ENOSYS;
	return -1;
}

static long call_alone(bool is_bare, long number, long a, long b, long c)
{
	struct alone alone;
	int error;
	long rc;

	if (!enter(&alone))
		return forward(is_bare, number, a, b, c);
	put_away();
	errno = alone.quiet.saved;
	rc = forward(is_bare, number, a, b, c);
	error = errno;
	call_back(name_of(number));
	leave(&alone);
	errno = error;
	return rc;
}

/* The writer's thread does the same, or else another one does its work, which
 * begins with what this one may do. */
static long call_with_writer(bool is_bare, long number, long a, long b, long c)
{
	struct alone alone;
	int error;
	long rc;

	if (!enter(&alone)) {
		/* Its own threads may be gone by the time of setgroups() or its
		 * like, and ours isn't. */
		if ((number == SYS_capset || number == SYS_prctl) &&
		    life_is_running())
			life_confine(name_of(number));
		return forward(is_bare, number, a, b, c);
	}
	errno = alone.quiet.saved;
	rc = forward(is_bare, number, a, b, c);
	error = errno;
	if (rc >= 0 && !rights_mirror(number, a, b, c)) {
		put_away();
		call_back(name_of(number));
	}
	leave(&alone);
	errno = error;
	return rc;
}

static long call(bool is_bare, long number, long a, long b, long c)
{
	switch (number) {
	case SYS_unshare:
	case SYS_setns:
	case SYS_close_range:
		return needs_it(number, a, b, c)
			       ? call_alone(is_bare, number, a, b, c)
			       : forward(is_bare, number, a, b, c);
	default: return call_with_writer(is_bare, number, a, b, c);
	}
}

long alone_syscall(long number, long a, long b, long c)
{
	return call(true, number, a, b, c);
}

/* The C library has no header for it. */
EXPORT int capset(void *header, const void *sets);

int capset(void *header, const void *sets)
{
	return (int)call(false, SYS_capset, (long)header, (long)sets, 0);
}

EXPORT int unshare(int flags)
{
	return (int)call(false, SYS_unshare, flags, 0, 0);
}

EXPORT int setns(int fd, int kinds)
{
	return (int)call(false, SYS_setns, fd, kinds, 0);
}

EXPORT int close_range(unsigned int first, unsigned int last, int flags)
{
	return (int)call(false, SYS_close_range, first, last, flags);
}
