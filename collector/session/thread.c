/* SPDX-License-Identifier: MIT */
/*
 * thread.c - thread records: taken, given back, walked, summed.
 *
 * Entering is a cold path, but it happens inside hooks: no malloc, no lock.  A
 * free record is claimed by compare-and-swap; only when there is none is a new
 * one allocated and pushed.
 */
#include "collector/session/thread.h"

#include "collector/session/gate.h"
#include "collector/session/thin.h"
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

_Thread_local struct thread *thread_self
	__attribute__((tls_model("initial-exec")));

static struct thread *claim_free(struct session *session)
{
	for (struct thread *t = thread_each(session, NULL); t;
	     t = thread_each(session, t)) {
		uint32_t state = THREAD_FREE;

		if (load_relaxed(&t->state) != THREAD_FREE)
			continue;
		/* ACQUIRE pairs with RELEASE of the writer that freed it: its
		 * reads of the old owner's ring are done. */
		if (atomic_compare_exchange_strong_explicit(
			    &t->state, &state, THREAD_LIVE,
			    memory_order_acquire, memory_order_relaxed))
			return t;
	}
	return NULL;
}

static struct thread *make(struct session *session)
{
	struct session_header *head = session->head;
	const uint64_t at = session_alloc(session, sizeof(struct thread));
	struct thread *thread;
	uint64_t newest;

	if (!at)
		return NULL;
	thread = session_at(session, at);
	thread->ring.at = at;
	store_relaxed(&thread->state, THREAD_LIVE);
	/* ACQUIRE, here and on failure, pairs with RELEASE below: the place of
	 * the record that was pushed before. */
	newest = load_acquire(&head->threads);
	do {
		const struct thread *before = session_at(session, newest);

		thread->place = newest ? before->place + 1 : 1;
		thread->region = (thread->place - 1) << 32;
		store_relaxed(&thread->next, newest);
		/* RELEASE pairs with ACQUIRE in thread_each(): who finds the
		 * record sees it initialised. */
	} while (!atomic_compare_exchange_weak_explicit(
		&head->threads, &newest, at, memory_order_acq_rel,
		memory_order_acquire));
	add_relaxed(&head->thread_count, 1);
	return thread;
}

COLD struct thread *thread_enter(struct session *session)
{
	const int saved = errno;
	struct thread *thread;

	if (!session || !session->writable)
		return NULL;
	if (thread_self == THREAD_FILLING || thread_self == THREAD_SAMPLING ||
	    thread_self == THREAD_OVER) {
		/* In a signal handler, or after the thread's end. */
		add_relaxed(&session->head->missed_calls, 1);
		return NULL;
	}
	thread_fill();
	thread = claim_free(session);
	if (!thread)
		thread = make(session);
	if (thread) {
		store_relaxed(&thread->depth, 0);
		thread->is_named = 0;
		thread->trains = 0;
		thread->beside = 0;
		thread->name[0] = '\0';
		thread->tid = (uint32_t)syscall(SYS_gettid);
		thread->started_ticks = clock_ticks();
		thread->generation++;
		thin_start(thread);
	} else
		/* Not even room for a record: at least that is counted. */
		add_relaxed(&session->head->unrecorded_calls, 1);
	thread_unbusy(thread);
	errno = saved;
	return thread;
}

void thread_record(struct thread *thread, const struct event *event)
{
	struct thread *was = thread_fill();
	struct event *slot = ring_reserve(&thread->ring, 1);

	if (likely(slot)) {
		*slot = *event;
		ring_commit(&thread->ring, 1, 1);
	} else {
		ring_refuse(&thread->ring, (enum event_kind)event->kind,
			    event->end_ticks);
	}
	thread_unbusy(was);
}

/* Frames that are further apart are thought to lie on two stacks. */
#define STACK_BYTES_MAX (UINT64_C(8) << 20)

/* The slices that are open inside a live one lie deeper on its stack. */
static bool is_gone(const struct thread *thread, uint32_t at, uint32_t frame)
{
	const struct open_frame *opened = &thread->frame[at];

	return (thread->open[at].kind == EVENT_OMP_REGION ||
		thread->open[at].kind == EVENT_BLAS) &&
	       opened->at &&
	       opened->start == (uint32_t)thread->open[at].start_ticks &&
	       frame - opened->at <= STACK_BYTES_MAX / 16;
}

/* Where it was left isn't known: a slice ends now, and says so.  But of a share
 * the end is known, if there is one. */
static void record_left(struct thread *thread, uint32_t at, uint64_t share_end)
{
	const struct open_slice *left = &thread->open[at];
	struct event event = {
		.kind = left->kind,
		.flags = share_end ? 0 : EVENT_UNFINISHED,
		.name = left->name,
		.start_ticks = left->start_ticks,
		.end_ticks = share_end ? share_end : clock_ticks(),
	};

	if (left->kind == EVENT_NONE)
		return;
	if (left->kind == EVENT_SCOPE && left->code == OPEN_OPERATOR)
		event.flags |= EVENT_OPERATOR;
	if (left->kind != EVENT_SCOPE && left->kind != EVENT_CALL &&
	    left->kind != EVENT_BLAS) {
		event.name = 0;
		event.extra = left->name;
		event.omp.region = left->region;
		event.omp.code = left->code;
		event.omp.sync = left->sync;
	}
	thread_record(thread, &event);
}

/* Innermost first, as they would have ended, but a share before the wait at
 * its end. */
static void record_all_left(struct thread *thread, uint32_t first,
			    uint32_t depth, enum event_kind but)
{
	while (depth-- > first) {
		const struct open_slice *left = &thread->open[depth];

		if (depth > first && open_slice_ends_share(left)) {
			record_left(thread, depth - 1, left->start_ticks);
			record_left(thread, depth--, 0);
		} else if (left->kind != but) {
			record_left(thread, depth, 0);
		}
	}
}

void thread_leave(void)
{
	struct thread *thread = thread_self;
	uint32_t depth;

	thread_self = THREAD_BUSY;
	if (!thread_records(thread))
		return;
	thread_self = THREAD_OVER;
	depth = min_u32(load_relaxed(&thread->depth), OPEN_SLICES_MAX);
	/* An explicit task's slice may be what is left of one that went on
	 * elsewhere. */
	if (gate_bits() & GATE_RECORD_BITS)
		record_all_left(thread, 0, depth, EVENT_OMP_EXPLICIT);
	store_relaxed(&thread->depth, 0);
	thin_flush(thread);
	/* RELEASE pairs with ACQUIRE in the writer's look at `state`: it sees
	 * all that the thread ever committed. */
	store_release(&thread->state, THREAD_RETIRED);
}

COLD void thread_drop_gone(struct thread *thread, const void *frame)
{
	const uint32_t here = (uint32_t)((uintptr_t)frame >> 4);
	const uint32_t depth = (uint32_t)min_u64(load_relaxed(&thread->depth),
						 OPEN_SLICES_MAX);
	uint32_t first = 0;

	while (first < depth && !is_gone(thread, first, here))
		first++;
	if (first == depth)
		return;
	/* What was opened inside the region is gone with it; NONE is a scope
	 * that is not recorded. */
	record_all_left(thread, first, depth, EVENT_NONE);
	/* RELEASE pairs with ACQUIRE in the writer's look at open slices. */
	store_release(&thread->depth, first);
}

struct thread *thread_each(const struct session *session, struct thread *last)
{
	/* ACQUIRE pairs with RELEASE in make(). */
	const uint64_t at = last ? load_relaxed(&last->next)
				 : load_acquire(&session->head->threads);
	struct thread *thread;

	/* The compiler may rely on a record's alignment. */
	if (at % _Alignof(struct thread))
		return NULL;
	thread = session_at_checked(session, at, sizeof(struct thread));
	/* Places go strictly down: a hostile list can't go in circles.  (Not
	 * so offsets: who takes space first may be pushed last.) */
	if (thread && last && thread->place >= last->place)
		return NULL;
	return thread;
}

/* Two records may have had one tid, and each number comes once. */
static unsigned int add_loss(struct thread_loss *losses, unsigned int count,
			     unsigned int room, struct thread_loss loss)
{
	unsigned int i = 0;

	while (i < count && losses[i].tid != loss.tid)
		i++;
	if (i == room)
		return count;
	if (i == count)
		losses[count++] = (struct thread_loss){.tid = loss.tid};
	losses[i].dropped += loss.dropped;
	return count;
}

unsigned int thread_sum_losses(const struct session *session,
			       struct thread_sums *sums,
			       struct thread_loss *losses, unsigned int room)
{
	unsigned int count = 0;

	*sums = (struct thread_sums){0};
	for (struct thread *t = thread_each(session, NULL); t;
	     t = thread_each(session, t)) {
		struct thread_loss loss = {.tid = t->tid};

		sums->committed += t->ring.committed;
		sums->thinned += t->thin.marked + t->thin.heap_skipped[0] +
				 t->thin.heap_skipped[1];
		sums->marked_ps += t->thin.marked_ps;
		sums->heap_allocs += t->ring.heap_allocs;
		sums->heap_frees += t->ring.heap_frees;
		sums->heap_alloc_bytes += t->ring.heap_alloc_bytes;
		sums->heap_asked_bytes += t->asked_bytes;
		sums->heap_free_bytes += t->ring.heap_free_bytes;
		for (int i = 0; i < EVENT_KIND_COUNT; i++) {
			/* Its owner goes on: one look for all three. */
			const uint64_t dropped =
				*(volatile const uint64_t *)&t->ring.dropped[i];

			sums->dropped_by_kind[i] += dropped;
			loss.dropped += dropped;
		}
		sums->dropped += loss.dropped;
		if (loss.dropped)
			count = add_loss(losses, count, room, loss);
	}
	return count;
}

void thread_sum(const struct session *session, struct thread_sums *sums)
{
	thread_sum_losses(session, sums, NULL, 0);
}

struct window_counts thread_counts(const struct session *session)
{
	struct window_counts counts = {.is_known = true};

	for (struct thread *t = thread_each(session, NULL); t;
	     t = thread_each(session, t)) {
		counts.calls += t->ring.heap_allocs;
		counts.frees += t->ring.heap_frees;
		counts.bytes += t->ring.heap_alloc_bytes;
		counts.marked_ps += t->thin.marked_ps;
	}
	return counts;
}
