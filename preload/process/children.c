/* SPDX-License-Identifier: MIT */
/* children.c - counts forked children; see children.h. */
#include "preload/process/children.h"

#include "collector/system/log.h"
#include "preload/process/life.h"
#include "preload/process/process.h"
#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* Each of them leaves one at most of `traced` and `gone`; `ended`: of the
 * traced ones, those that ended their recording. */
struct children_page {
	_Atomic uint32_t born, traced, gone, ended;
};

/* Of a process that is not recorded from its start they are said if children
 * took so much processor time, and so much of its own. */
#define WORK_SECONDS 1.0
#define WORK_SHARE   0.5

static START_DATA struct children {
	struct children_page *page;
	int root;	 /* who counts */
	int self;	 /* the child that this is; 0 none */
	bool is_settled; /* it is traced or gone */
	bool is_from_start;
} children;

void children_watch(bool is_from_start)
{
	void *page;

	/* It counts already, from another constructor on, or is a child that
	 * its root counts. */
	if (children.page) {
		children.is_from_start |= is_from_start;
		return;
	}
	page = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return;
	children.root = (int)getpid();
	children.is_from_start = is_from_start;
	children.page = page;
}

void children_born(void)
{
	if (children.page)
		add_relaxed(&children.page->born, 1);
}

void children_start(void)
{
	if (!children.page)
		return;
	children.self = (int)getpid();
	children.is_settled = false;
}

/* A child of vfork() shares our memory, and is none of those. */
static bool is_mine(void)
{
	return children.page && children.self == (int)getpid();
}

void children_traced(void)
{
	if (!is_mine() || children.is_settled)
		return;
	children.is_settled = true;
	add_relaxed(&children.page->traced, 1);
}

void children_ended(void)
{
	if (is_mine() && children.is_settled)
		add_relaxed(&children.page->ended, 1);
}

void children_leave(void)
{
	const int saved = errno;

	/* One that ran no handler may not know of itself yet. */
	if (children.page && gate_bits() == GATE_UNDECIDED)
		life_decide();
	errno = saved;
	if (is_mine() && !children.is_settled)
		add_relaxed(&children.page->gone, 1);
}

void children_stay(void)
{
	if (is_mine() && !children.is_settled)
		add_relaxed(&children.page->gone, -1);
}

/* Of children it is known of those that were waited for. */
static double seconds(int whose)
{
	struct rusage used;

	if (getrusage(whose, &used))
		return 0;
	return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
	       (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

static bool worked(void)
{
	const double theirs = seconds(RUSAGE_CHILDREN);

	return theirs >= WORK_SECONDS &&
	       theirs >= WORK_SHARE * seconds(RUSAGE_SELF);
}

/* What would record them. */
static const char *remedy(void)
{
	const bool all = process.options.children == CHILDREN_ALL;

	if (children.is_from_start)
		return all ? ": not by fork(), or before the fork was done"
			   : "; --children=all (TRACEPROF_CHILDREN=all) "
			     "records them, too";
	return all ? "; --sample=499 (TRACEPROF_SAMPLE=499) records them, too"
		   : "; --children=all --sample=499 (TRACEPROF_CHILDREN=all "
		     "TRACEPROF_SAMPLE=499) records them, too";
}

static void say_lost(struct session *session, unsigned int count)
{
	char line[256];

	log_format(line, sizeof(line),
		   "%u forked child%s left no trace (all children that have "
		   "ended took %.2f s processor time)%s",
		   count, count == 1 ? "" : "ren", seconds(RUSAGE_CHILDREN),
		   remedy());
	session_note(session, "%s", line);
	log_say("%s", line);
}

/* One that was killed can't say so itself. */
static void say_traced(uint32_t traced, uint32_t ended)
{
	char rest[200] = "";

	if (traced > ended)
		log_format(rest, sizeof(rest),
			   "; %u %s (traceprof recover %s adds to a killed "
			   "one's file what memory holds)",
			   traced - ended,
			   traced - ended == 1 ? "was killed or goes on"
					       : "were killed or go on",
			   process.options.dir);
	log_say("%u forked child%s, in %s%s", traced,
		traced == 1 ? " has a trace" : "ren have traces",
		process.options.dir, rest);
}

void children_say(struct session *session)
{
	const struct children_page *page = children.page;
	uint32_t born, settled, traced;

	if (!page || children.root != (int)getpid())
		return;
	traced = load_relaxed(&page->traced);
	settled = traced + load_relaxed(&page->gone);
	born = load_relaxed(&page->born);
	if (!children.is_from_start && !worked())
		return;
	if (traced)
		say_traced(traced, load_relaxed(&page->ended));
	if (born > settled && process.options.children != CHILDREN_NONE)
		say_lost(session, born - settled);
}
