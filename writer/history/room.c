/* SPDX-License-Identifier: MIT */
/* room.c - who wants the cores; see room.h. */
#include "writer/history/room.h"

#include "collector/system/clock.h"
#include "collector/system/loader.h"
#include "collector/system/proc.h"
#include <sched.h>
#include <time.h>
#include <unistd.h>

#define LOOK_NS	   UINT64_C(5000000)
/* We waited more than one part in so many of what we ran. */
#define WAIT_PART  4u
/* Shorter than this it says nothing. */
#define WAIT_LEAST UINT64_C(2000000)
/* What we may use of a core that isn't free, and how much at once. */
#define SHARE	   100
#define CREDIT_MAX INT64_C(20000000)

static uint64_t clock_now_ns(clockid_t clock)
{
	struct timespec now = {0, 0};

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* How long this thread has waited for a core in all; 0 not known. */
static uint64_t waited_ns(void)
{
	uint64_t numbers[2];

	return proc_numbers("/proc/thread-self/schedstat", numbers, 2) == 2
		       ? numbers[1]
		       : 0;
}

/* Threads of the whole machine that want to run, us included; "0.1 0.2 0.3
 * 4/567 ..." has it in the seventh place.  0 not known. */
static uint64_t runnable(void)
{
	uint64_t numbers[7];

	return proc_numbers("/proc/loadavg", numbers, 7) == 7 ? numbers[6] : 0;
}

/* The C library opens a file for it. */
static unsigned int online(void)
{
	const bool keeps_forks_out = loader_enter_soon();
	const unsigned int count = (unsigned int)sysconf(_SC_NPROCESSORS_ONLN);

	if (keeps_forks_out)
		loader_leave();
	return count;
}

static unsigned int cores(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set)
		       ? online()
		       : (unsigned int)CPU_COUNT(&set);
}

static bool has_credit(struct room *room, uint64_t now_ns)
{
	const uint64_t own_ns = clock_now_ns(CLOCK_THREAD_CPUTIME_ID);
	const bool is_first = !room->credit_at_ns;
	const int64_t more = (int64_t)(now_ns - room->credit_at_ns) / SHARE -
			     (int64_t)(own_ns - room->credit_own_ns);
	int64_t credit = is_first ? 0 : room->credit_ns + more;

	if (credit > CREDIT_MAX)
		credit = CREDIT_MAX;
	if (credit < -CREDIT_MAX)
		credit = -CREDIT_MAX;
	room->credit_ns = credit;
	room->credit_at_ns = now_ns;
	room->credit_own_ns = own_ns;
	return credit > 0;
}

static bool look(struct room *room, uint64_t now_ns)
{
	const uint64_t past_ns = now_ns - room->looked_ns;
	struct room now = *room;
	uint64_t program_ns, waited;

	if (room->looked_ns && past_ns < LOOK_NS)
		return room->is_there;
	if (!proc_is_aside())
		return room->is_there;
	now.looked_ns = now_ns;
	now.process_ns = clock_now_ns(CLOCK_PROCESS_CPUTIME_ID);
	now.own_ns = clock_now_ns(CLOCK_THREAD_CPUTIME_ID);
	now.waited_ns = waited_ns();
	now.cores = cores();
	now.is_known = room->looked_ns;
	program_ns = (now.process_ns - room->process_ns) -
		     (now.own_ns - room->own_ns);
	waited = now.waited_ns - room->waited_ns;
	now.is_there = now.is_known &&
		       program_ns + past_ns / 2 <= now.cores * past_ns &&
		       (waited < WAIT_LEAST ||
			waited * WAIT_PART < now.own_ns - room->own_ns) &&
		       runnable() <= online();
	*room = now;
	return now.is_there;
}

bool room_look(struct room *room)
{
	const uint64_t now_ns = clock_monotonic_ns();
	const bool is_paid = has_credit(room, now_ns);

	return look(room, now_ns) || is_paid;
}
