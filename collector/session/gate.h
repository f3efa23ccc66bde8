/* SPDX-License-Identifier: MIT */
/*
 * gate.h - the one word that every hook reads first.
 *
 * It lies in a page of its own, marked MADV_WIPEONFORK, so a forked child reads
 * 0 and decides for itself:
 *
 *	0		undecided: the cold path looks at pid and options
 *	GATE_CLOSED	decided, nothing to do: call the real function
 *	else		GATE_CLOSED | one bit per thing that is wanted
 *
 * A family has a record bit, which follows the recording window, and a mark bit
 * where it may carry the step marker, which does not.  Children of vfork,
 * posix_spawn and clone(CLONE_VM) share our memory and read our gate.
 */
#ifndef COLLECTOR_GATE_H
#define COLLECTOR_GATE_H

#include "collector/system/base.h"

enum gate_bit {
	GATE_CLOSED = 1 << 0,	    /* decided; alone: nothing wanted */
	GATE_HEAP_WATCH = 1 << 1,   /* count calls until the process is recorded
				     for its CPU time */
	GATE_HEAP = 1 << 2,	    /* heap counters run */
	GATE_HEAP_LARGE = 1 << 3,   /* record: large blocks */
	GATE_HEAP_ALL = 1 << 4,	    /* record: every call */
	GATE_OMP = 1 << 5,	    /* record: OpenMP */
	GATE_OMP_MARK = 1 << 6,	    /* regions may begin a step */
	GATE_OMP_WATCH = 1 << 7,    /* a region begins the recording */
	GATE_SCOPE = 1 << 8,	    /* record: annotations, NVTX */
	GATE_SCOPE_MARK = 1 << 9,   /* ranges may begin a step */
	GATE_SCOPE_WATCH = 1 << 10, /* an annotation begins it */
	GATE_CUDA = 1 << 11,	    /* record: CUDA host side */
	GATE_CUDA_WATCH = 1 << 12,  /* a CUDA call begins it */
	GATE_OMP_STACK = 1 << 13,   /* regions get their call stacks */
	GATE_BLAS = 1 << 14,	    /* record: BLAS and LAPACK */
	GATE_BLAS_WATCH = 1 << 15,  /* a call of theirs begins it */
	GATE_SAMPLE = 1 << 16,	    /* record: what threads do */
	GATE_WAIT = 1 << 17,	    /* record: calls that wait */
	GATE_MAP = 1 << 18,	    /* record: mmap() and its family */
	GATE_HEAP_THIN = 1 << 19,   /* record: one call in so many */
	GATE_PYTHON = 1 << 20,	    /* record: calls of Python */
	GATE_IO = 1 << 21,	    /* record: reads and writes of files */
	GATE_ALLOCATOR = 1 << 22,   /* record: PyTorch's allocator */
	GATE_OMP_CALLER = 1 << 23,  /* regions are told apart by who called */
	GATE_THREAD_WATCH = 1 << 24, /* the work of threads begins it */
};

#define GATE_UNDECIDED 0u
#define GATE_RECORD_BITS                                                       \
	(GATE_HEAP_LARGE | GATE_HEAP_ALL | GATE_HEAP_THIN | GATE_OMP |         \
	 GATE_SCOPE | GATE_CUDA | GATE_BLAS | GATE_SAMPLE | GATE_WAIT |        \
	 GATE_MAP | GATE_PYTHON | GATE_IO | GATE_ALLOCATOR)

struct gate_page {
	_Atomic uint32_t bits;
	_Atomic uint32_t openings; /* how often another window may be open */
	char rest[PAGE_BYTES_MOST - 2 * sizeof(uint32_t)];
};

extern struct gate_page gate_page __attribute__((visibility("hidden")));

static inline uint32_t gate_bits(void)
{
	return load_relaxed(&gate_page.bits);
}

/* Another number means that another window may be open. */
static inline uint32_t gate_openings(void)
{
	return load_relaxed(&gate_page.openings);
}

/* The gate was opened before its window was known, which is now. */
static inline void gate_turn(void)
{
	/* RELEASE pairs with ACQUIRE in turn(): the window's start. */
	add_release(&gate_page.openings, 1);
}

/* Marks the page.  0, or -errno where the kernel can't (then an atfork child
 * handler must clear the word, and the cold path compares pids). */
int gate_protect(void);

void gate_set(uint32_t bits);

/* gate_set_record() says which record bits are wanted, gate_add_record() adds
 * some, gate_add_open() those that no window that is open is to lack;
 * gate_record() sets all of them, or none.  The rest of the word stays. */
void gate_set_record(uint32_t record_bits);
void gate_add_record(uint32_t record_bits, bool is_open);
void gate_add_open(uint32_t record_bits);
void gate_record(bool open);

/* There is a session, and this bit is set in its windows. */
bool gate_may_record(uint32_t bit);

/* The flight recorder: what is open stays open between windows. */
void gate_keep(bool keep);

/* From now on GATE_HEAP_THIN is what GATE_HEAP_ALL was. */
void gate_thin_heap(void);

/* Turns a mark bit, unless recording has ended. */
void gate_mark(uint32_t bit, bool on);

/* Hooks read the gate relaxed, so what they read after it must have reached
 * all threads before it opens. */
void gate_publish(void);

/* Called by gate_record(), on the thread that opens or closes: what records
 * without looking at the gate follows it so.  One of each; NULL none. */
enum gate_follower {
	GATE_CUPTI,
	GATE_TORCH,
	GATE_SAMPLER,
	GATE_INTERPRETER,
	GATE_FOLLOWERS
};
void gate_on_change(enum gate_follower which, void (*opened)(bool open));

#endif
