/* SPDX-License-Identifier: MIT */
/*
 * cupti_nodes.c - launches that a stream's capture turned into nodes of graphs.
 *
 * Such a launch runs nothing, and its record looks like that of any other.  But
 * CUPTI calls back for each new node, on the thread that makes it, inside of
 * its call: nodes are kept by who made them and when, as records have it
 * (between two clocks a call may seem to be over before its node is made), and
 * looked up by the writer's thread when the record of a launch has come.
 *
 * They lie in the order of time, nearly, in a ring that holds as many as
 * CUPTI's buffers hold launches.  Behind what has been looked up its memory is
 * given back.
 */
#ifdef HAVE_CUPTI

#include "preload/cuda/cupti_source.h"

#include "collector/session/thread.h"
#include "collector/system/clock.h"
#include "preload/cuda/cupti_clock.h"
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A launch of the runtime has two records, of 40 bytes each. */
#define NODES	    (UINT64_C(1) << 22)
#define NODES_KEPT  UINT64_C(65536) /* where records come late */
#define NODES_APART 100u /* of a second: two threads may swap places */
#define NODES_AHEAD 64u

static struct node {
	_Atomic uint64_t number; /* from 1 on, once the rest is there */
	_Atomic uint64_t time;
	_Atomic uint64_t tid;
} * nodes;

static _Atomic uint64_t node_count;
static _Atomic uint64_t nodes_before; /* of a session that is over */

/* The writer's thread. */
static struct {
	uint64_t found; /* behind this one: calls come nearly in order, too */
	uint64_t released; /* those before it are gone */
	uint64_t count;	   /* at this moment: */
	uint64_t ticks;
} seen;

enum node_is { NODE_IS_THERE, NODE_IS_TO_COME, NODE_IS_GONE };

static enum node_is node_at(uint64_t at, uint64_t *time, uint64_t *tid)
{
	struct node *node = &nodes[at % NODES];
	/* ACQUIRE pairs with RELEASE in cupti_nodes_note(): the node. */
	const uint64_t number = load_acquire(&node->number);

	*time = load_relaxed(&node->time);
	*tid = load_relaxed(&node->tid);
	/* Pairs with the fence in cupti_nodes_note(): it isn't another by now.
	 */
	atomic_thread_fence(memory_order_acquire);
	if (load_relaxed(&node->number) != number || number > at + 1)
		return NODE_IS_GONE;
	return number == at + 1 ? NODE_IS_THERE : NODE_IS_TO_COME;
}

/* Whether a launch made one is not known any more: it counts as one without a
 * kernel. */
static void nodes_missed(struct session *session)
{
	if (!session->head->gpu.unknown_captures++)
		session_note(session,
			     "more than %u nodes of graphs were made before "
			     "their calls were known: launches that a capture "
			     "took count as missing kernels",
			     (unsigned int)NODES);
}

/* Behind the one that was found last. */
static bool is_next_node(uint32_t wanted, uint64_t start, uint64_t end,
			 uint64_t count)
{
	uint64_t time, tid;

	for (uint64_t at = max_u64(seen.found, seen.released);
	     at < count && at < seen.found + NODES_AHEAD; at++) {
		if (node_at(at, &time, &tid) == NODE_IS_THERE &&
		    time >= start && time <= end && tid == wanted) {
			seen.found = at + 1;
			return true;
		}
	}
	return false;
}

/* The first of these that was made after that, give or take NODES_APART. */
static uint64_t first_after(uint64_t from, uint64_t to, uint64_t moment)
{
	uint64_t time, tid;

	while (from < to) {
		const uint64_t middle = from + (to - from) / 2;
		uint64_t at = middle;
		enum node_is is = node_at(at, &time, &tid);

		/* Who makes it is not out of its call. */
		while (is == NODE_IS_TO_COME && ++at < to)
			is = node_at(at, &time, &tid);
		if (at == to || (is == NODE_IS_THERE && time > moment))
			to = middle;
		else
			from = at + 1;
	}
	return from;
}

/* The oldest that may be there. */
static uint64_t first_kept(uint64_t count)
{
	const uint64_t before =
		max_u64(load_relaxed(&nodes_before), seen.released);

	return count > NODES ? max_u64(before, count - NODES) : before;
}

bool cupti_nodes_captured(uint32_t wanted, uint64_t start, uint64_t end)
{
	const uint64_t count = load_relaxed(&node_count);
	const uint64_t apart = cupti_clock_second() / NODES_APART;
	const uint64_t first = first_kept(count);
	uint64_t time, tid, oldest = UINT64_MAX;

	if (!nodes || count == load_relaxed(&nodes_before))
		return false;
	if (is_next_node(wanted, start, end, count))
		return true;
	for (uint64_t at = first_after(first, count, end + apart);
	     at-- > first;) {
		const enum node_is is = node_at(at, &time, &tid);

		if (is == NODE_IS_TO_COME)
			continue;
		if (is == NODE_IS_GONE)
			break;
		if (time + apart < start)
			return false;
		oldest = time;
		if (time >= start && time <= end && tid == wanted) {
			seen.found = at + 1;
			return true;
		}
	}
	/* It may have been one of those that are gone. */
	if (first > load_relaxed(&nodes_before) && start < oldest)
		nodes_missed(load_relaxed(&session_here));
	return false;
}

void cupti_nodes_note(void)
{
	struct thread *thread = thread_self;
	uint64_t number;
	struct node *node;

	if (!nodes)
		return;
	number = add_relaxed(&node_count, 1);
	node = &nodes[number % NODES];
	store_relaxed(&node->number, 0);
	/* Pairs with the fence in node_at(): who reads any of this doesn't take
	 * it for the node that was here. */
	atomic_thread_fence(memory_order_release);
	store_relaxed(&node->tid, thread_records(thread)
					  ? thread->tid
					  : (uint64_t)syscall(SYS_gettid));
	store_relaxed(&node->time, cupti_clock_now());
	/* RELEASE pairs with ACQUIRE in node_at(): the node. */
	store_release(&node->number, number + 1);
	if (thread_records(thread) && thread->gpu_call >> 32 == thread->tid)
		thread->gpu_call |= 1;
}

static void give_back(uint64_t from, uint64_t to)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	const uint64_t begin =
		(from % NODES * sizeof(*nodes) + page - 1) & ~(page - 1);
	const uint64_t end = to % NODES * sizeof(*nodes) & ~(page - 1);

	/* Around the ring's end it waits for the next time. */
	if (from % NODES < to % NODES && begin < end)
		madvise((uint8_t *)nodes + begin, end - begin, MADV_DONTNEED);
}

void cupti_nodes_settled(uint64_t ticks)
{
	const uint64_t until =
		seen.count > NODES_KEPT ? seen.count - NODES_KEPT : 0;

	if (!nodes || ticks < seen.ticks)
		return;
	if (until > seen.released) {
		give_back(seen.released, until);
		seen.released = until;
	}
	seen.ticks = clock_ticks();
	seen.count = load_relaxed(&node_count);
}

void cupti_nodes_start(void)
{
	void *region;

	if (nodes)
		return;
	region = mmap(NULL, NODES * sizeof(*nodes), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	/* Without it captured launches count as missing. */
	if (region == MAP_FAILED)
		session_note(load_relaxed(&session_here),
			     "no memory for nodes of graphs: launches that a "
			     "capture took count as missing kernels");
	else
		nodes = region;
}

void cupti_nodes_forget(void)
{
	store_relaxed(&nodes_before, load_relaxed(&node_count));
	seen.ticks = 0;
	seen.count = load_relaxed(&node_count);
}

#endif
