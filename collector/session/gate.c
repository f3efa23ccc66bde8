/* SPDX-License-Identifier: MIT */
/*
 * gate.c - the gate's page, and the few that turn it.
 *
 * The remembered record bits lie outside the page: a forked child decides from
 * scratch and sets its own.
 */
#include "collector/session/gate.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct gate_page gate_page __attribute__((aligned(PAGE_BYTES_MOST)));

static START_DATA _Atomic uint32_t record_bits;

static START_DATA _Atomic bool is_kept;

static void (*_Atomic followers[GATE_FOLLOWERS])(bool open);

_Static_assert(sizeof(struct gate_page) == PAGE_BYTES_MOST,
	       "a page of its own");

COLD int gate_protect(void)
{
	if (madvise(&gate_page, sizeof(gate_page), MADV_WIPEONFORK))
		return -errno;
	return 0;
}

COLD void gate_set(uint32_t bits)
{
	store_relaxed(&gate_page.bits, bits);
}

COLD void gate_set_record(uint32_t bits)
{
	store_relaxed(&record_bits, bits & GATE_RECORD_BITS);
}

void gate_add_record(uint32_t bits, bool is_open)
{
	atomic_fetch_or_explicit(&record_bits, bits & GATE_RECORD_BITS,
				 memory_order_relaxed);
	if (is_open)
		atomic_fetch_or_explicit(&gate_page.bits,
					 bits & GATE_RECORD_BITS,
					 memory_order_relaxed);
}

void gate_add_open(uint32_t bits)
{
	uint32_t now;

	gate_add_record(bits, false);
	/* Either we see that it is open, or who opens it and calls this too
	 * sees why. */
	atomic_thread_fence(memory_order_seq_cst);
	now = load_relaxed(&gate_page.bits);
	while (now & GATE_RECORD_BITS &&
	       !atomic_compare_exchange_weak_explicit(
		       &gate_page.bits, &now, now | (bits & GATE_RECORD_BITS),
		       memory_order_relaxed, memory_order_relaxed))
		;
}

static void thin(_Atomic uint32_t *word)
{
	uint32_t bits = load_relaxed(word);

	while (bits & GATE_HEAP_ALL &&
	       !atomic_compare_exchange_weak_explicit(
		       word, &bits,
		       (bits & ~(uint32_t)GATE_HEAP_ALL) | GATE_HEAP_THIN,
		       memory_order_relaxed, memory_order_relaxed))
		;
}

void gate_thin_heap(void)
{
	thin(&record_bits);
	thin(&gate_page.bits);
}

void gate_on_change(enum gate_follower which, void (*opened)(bool open))
{
	/* RELEASE pairs with ACQUIRE in gate_record(): what was set up. */
	store_release(&followers[which], opened);
}

void gate_record(bool open)
{
	const uint32_t bits = load_relaxed(&record_bits);

	if (!open && load_relaxed(&is_kept))
		return;
	/* The window has begun, or goes on till the end: what follows the gate
	 * may take milliseconds, in which other threads' events belong to it.
	 */
	if (open) {
		/* RELEASE pairs with ACQUIRE in turn(), as in gate_turn(). */
		add_release(&gate_page.openings, 1);
		atomic_fetch_or_explicit(&gate_page.bits, bits,
					 memory_order_relaxed);
	}
	for (int i = 0; i < GATE_FOLLOWERS; i++) {
		/* ACQUIRE pairs with RELEASE in gate_on_change(). */
		void (*const opened)(bool) = load_acquire(&followers[i]);

		if (opened)
			opened(open);
	}
	if (!open)
		atomic_fetch_and_explicit(&gate_page.bits,
					  ~(uint32_t)GATE_RECORD_BITS,
					  memory_order_relaxed);
}

bool gate_may_record(uint32_t bit)
{
	return (load_relaxed(&gate_page.bits) & GATE_SCOPE_MARK) &&
	       (load_relaxed(&record_bits) & bit);
}

void gate_keep(bool keep)
{
	store_relaxed(&is_kept, keep);
}

void gate_mark(uint32_t bit, bool on)
{
	uint32_t bits = load_relaxed(&gate_page.bits);

	/* Ranges may always begin a step while there is a session. */
	while (bits & GATE_SCOPE_MARK &&
	       !atomic_compare_exchange_weak_explicit(
		       &gate_page.bits, &bits, on ? bits | bit : bits & ~bit,
		       memory_order_relaxed, memory_order_relaxed))
		;
}

void gate_publish(void)
{
	atomic_thread_fence(memory_order_seq_cst);
#if !defined(__x86_64__)
	/* Loads are ordered on x86; elsewhere each running thread is made to
	 * pass a barrier. */
	syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0);
	syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0);
#endif
}
