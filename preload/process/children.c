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

/* Each of them leaves one at most of `traced` and `gone`. */
struct children_page {
	_Atomic uint32_t born, traced, gone;
};

static START_DATA struct children {
	struct children_page *page;
	int root;	 /* who counts */
	int self;	 /* the child that this is; 0 none */
	bool is_settled; /* it is traced or gone */
} children;

void children_watch(void)
{
	void *page = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return;
	children.root = (int)getpid();
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

/* What of theirs is known: of those that were waited for. */
static double seconds(void)
{
	struct rusage used;

	if (getrusage(RUSAGE_CHILDREN, &used))
		return 0;
	return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
	       (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

static void say_lost(struct session *session, unsigned int count)
{
	const char *s = count == 1 ? "" : "ren";
	const bool all = process.options.children == CHILDREN_ALL;
	char line[256];

	log_format(line, sizeof(line),
		   "%u forked child%s left no trace (all children that have "
		   "ended took %.2f s processor time)%s",
		   count, s, seconds(),
		   all ? ": not by fork(), or before the fork was done"
		       : "; --children=all (TRACEPROF_CHILDREN=all) records "
			 "them, too");
	session_note(session, "%s", line);
	log_say("%s", line);
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
	if (traced)
		log_say("%u forked child%s, in %s", traced,
			traced == 1 ? " has a trace" : "ren have traces",
			process.options.dir);
	if (born > settled && process.options.children != CHILDREN_NONE)
		say_lost(session, born - settled);
}
