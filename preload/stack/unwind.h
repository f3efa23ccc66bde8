/* SPDX-License-Identifier: MIT */
/*
 * unwind.h - the call stack of an event, taken by libunwind; on aarch64 by a
 * walk of our own (unwind_walk.c).
 *
 * libunwind is loaded in our constructor, where the user asks for stacks, and
 * never linked: it brings functions of its own for exceptions, which must not
 * come before the program's.  Its fast trace keeps a table for each thread of
 * how each return address is left; what isn't in it yet costs some
 * microseconds and a walk over the loader's list.
 *
 * A stack is taken on the thread's own stack alone, with room to spare: a
 * signal handler's small one, and those that a program switches by itself, give
 * none.  Whatever can't be taken is counted (session_header.stacks.untaken).
 */
#ifndef PRELOAD_UNWIND_H
#define PRELOAD_UNWIND_H

#include "collector/control/stack_choice.h"
#include "collector/session/stacks.h"
#include "collector/session/thread.h"
#include "preload/stack/python_frames.h"
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <ucontext.h>
#if defined(HAVE_LIBUNWIND) && !defined(__aarch64__)
#define UNWINDS_BY_LIBUNWIND
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#endif

/* Each so manieth taking is timed, for what we cost. */
#define UNWIND_TIMED_EACH 64u
/* Frames of ours that may lie on top. */
#define UNWIND_OURS_MAX	  4u
/* The same with CUPTI's, the driver's and the CUDA runtime's below them. */
#define UNWIND_CUDA_MAX	  24u
#define UNWIND_SKIPS	  8u

struct unwind {
	struct stack_choice choice;
	_Atomic bool is_loaded; /* before our constructor it isn't, nor where
				     a fork may have left it locked */
	_Atomic bool was_looked_for; /* by our constructor */
	bool has_python;	     /* whose frames can be read */
	bool had_threads;	  /* in the parent, which forked: see below */
	_Atomic uint32_t threads; /* that may be taking a stack */
	_Atomic bool
		goes_slowly; /* code was unmapped: see unwind_code_goes() */
	bool knows_asked;    /* it shows us what it looks for */
	uint64_t asked;	     /* the last address, until then */
	int (*find_object)(void *code, void *found); /* glibc 2.35 */
	int (*backtrace)(void **frames, int count);  /* NULL on aarch64 */
#ifdef UNWINDS_BY_LIBUNWIND
	int (*getcontext)(unw_context_t *context);
	int (*init)(unw_cursor_t *cursor, unw_context_t *context);
	/* Of a context that a signal interrupted; NULL: it can't. */
	int (*init_from)(unw_cursor_t *cursor, unw_context_t *context,
			 int flag);
	int (*step)(unw_cursor_t *cursor);
	int (*get_reg)(unw_cursor_t *cursor, unw_regnum_t number,
		       unw_word_t *value);
	void (*flush)(unw_addr_space_t space, unw_word_t low, unw_word_t high);
	unw_addr_space_t *space;
#endif
	uintptr_t library, library_bytes; /* where libunwind lies */
	uintptr_t libc, libc_bytes;
	uintptr_t start;	/* the program's first code */
	bool fails_before_main; /* libunwind: see unwind_trial.h */
	bool has_points;	/* a walk may be a point of cancellation */
	bool lets_signals;	/* ... and unblock that of samples */
	size_t tls_module;	/* of its memory for each thread */
	void *(*tls_address)(void *index); /* NULL: it has none */
	/* Files of CUDA: of its calls a stack begins outside of these. */
	struct {
		_Atomic uintptr_t low, high;
	} skips[UNWIND_SKIPS];
	uint64_t main_high; /* of the main thread's stack */
};

extern struct unwind unwind __attribute__((visibility("hidden")));

/* In our constructor: loads libunwind if the user wants stacks. */
void unwind_prepare(void);

/* A recording begins: the families (enum stack_family) that take stacks. */
uint32_t unwind_start(struct session *session);

/* The calling thread has got its record. */
void unwind_thread_entered(struct thread *thread);

/* The same where nothing may be asked of the C library: but for the main thread
 * the rest is done before its first stack. */
void unwind_thread_seen(struct thread *thread);

/* It is about to give it back. */
void unwind_thread_leaves(struct thread *thread);

/* Code is about to be unmapped. */
void unwind_code_goes(void);

/* In a forked child. */
void unwind_forget(void);

/* This file is one of CUDA's; one thread at a time. */
void unwind_skip(uintptr_t low, uintptr_t high);

/* The same as unwind.backtrace, without a table that may be out of date; `high`
 * is the end of the stack that the caller is on. */
uint32_t unwind_slowly(uint64_t high, uint64_t *frames, uint32_t count);

/* The same of what a signal interrupted, from its code on, on whatever stack
 * the caller is. */
uint32_t unwind_from(uint64_t high, const ucontext_t *context, uint64_t *frames,
		     uint32_t count);

/*
 * Code of which no file says how it is left.  libunwind tries the frame pointer
 * there, which may be the caller's, so that a function is missing, or any
 * number.  Each address is noted as libunwind asks for it: the file that holds
 * it, or NULL.
 */
void unwind_note(const struct dl_phdr_info *info, uint64_t code);

/* Is one of these such code?  The first frame is what runs, all others return
 * addresses. */
bool unwind_guessed(const uint64_t *frames, uint32_t count);

/* As unwind_from(), where that guessed: each frame is left by its file's word
 * or by what its code does (unwind_code.h), and where neither tells there are
 * no callers. */
uint32_t unwind_by_code(uint64_t high, const ucontext_t *context,
			uint64_t *frames, uint32_t count);

/* The file that holds an address, by a table of the loader's that needs no
 * lock; unwind.find_object is there. */
bool unwind_find_file(uint64_t code, struct dl_phdr_info *info);

/* The code at which the kernel starts a program. */
#define UNWIND_START_BYTES 64u

/* Up to where a thread begins: in the C library, or in the program's first
 * code.  Else nothing says how the last frame is left. */
static inline bool unwind_is_whole(const uint64_t *frames, uint32_t count)
{
	const uint64_t last = count > 1 ? frames[count - 1] : 0;

	return last - unwind.libc < unwind.libc_bytes ||
	       last - unwind.start < UNWIND_START_BYTES;
}

/* Our own code lies in between. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

static inline bool unwind_wants(enum stack_family family)
{
	return unlikely(unwind.choice.families & family);
}

/* Of libunwind's own code. */
static inline bool unwind_is_its_own(const void *code)
{
	return (uintptr_t)code - unwind.library < unwind.library_bytes;
}

/* Does libunwind ask on our account? */
static inline bool unwind_asks(const void *caller)
{
	return !thread_records(thread_self) && unwind_is_its_own(caller);
}

static inline bool unwind_is_ours(uint64_t code)
{
	return code - (uint64_t)(uintptr_t)__ehdr_start <
	       (uint64_t)(_end - __ehdr_start);
}

static inline bool unwind_is_cudas(uint64_t code)
{
	for (uint32_t i = 0; i < UNWIND_SKIPS; i++) {
		const uintptr_t low = load_relaxed(&unwind.skips[i].low);

		if (code - low < load_relaxed(&unwind.skips[i].high) - low)
			return true;
	}
	return false;
}

/* Our constructor is still to run, or this thread has no memory of its. */
static inline bool unwind_is_early(const struct thread *thread)
{
	return !load_relaxed(&unwind.was_looked_for) ||
	       thread->stack_low == UINT64_MAX;
}

/* libunwind is there, and the stack is the thread's own, with room on it. */
static inline bool unwind_is_ready(const struct thread *thread, uint64_t here)
{
	/* ACQUIRE pairs with RELEASE in unwind_prepare(): what was found. */
	return load_acquire(&unwind.is_loaded) && here >= thread->stack_low &&
	       here < thread->stack_high;
}

/* The id of the present stack without our own frames, of which there are `ours`
 * at most; 0 none.  The thread is THREAD_FILLING.  Keeps errno.  Inline, since
 * each frame of ours is one more to walk. */
static inline __attribute__((always_inline)) uint32_t
unwind_take(struct thread *thread, uint32_t ours)
{
	struct session *session = load_relaxed(&session_here);
	uint64_t frames[STACK_DEPTH_MAX + UNWIND_CUDA_MAX];
	const uint64_t here = (uint64_t)(uintptr_t)frames;
	const bool is_timed = !(thread->ring.committed % UNWIND_TIMED_EACH);
	const uint64_t start = is_timed ? clock_ticks() : 0;
	const uint32_t wanted = unwind.choice.depth;
	const int saved = errno;
	uint32_t count = 0;
	uint32_t first = 0;
	uint32_t id;
	int cancels = 0;

	if (unlikely(unwind.has_points))
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancels);
	if (unlikely(!thread->stack_low))
		unwind_thread_entered(thread);
	if (unlikely(!unwind_is_ready(thread, here)))
		count = 0;
	else if (unlikely(load_relaxed(&unwind.goes_slowly)))
		count = unwind_slowly(thread->stack_high, frames,
				      wanted + ours);
	else
		count = (uint32_t)unwind.backtrace((void **)frames,
						   (int)(wanted + ours));
	for (uint32_t i = 0; ours > UNWIND_OURS_MAX && i < min_u32(count, ours);
	     i++) {
		if (unwind_is_cudas(frames[i]))
			first = i + 1;
	}
	while (first < count && unwind_is_ours(frames[first]))
		first++;
	count -= first;
	if (unlikely(unwind.has_python))
		count = python_frames_splice(
			session, &frames[first], count, wanted,
			unwind_is_whole(&frames[first], count));
	if (unlikely(unwind.has_points))
		pthread_setcancelstate(cancels, &cancels);
	errno = saved;
	if (unlikely(!count)) {
		add_relaxed(&session->head->stacks.untaken, 1);
		return 0;
	}
	id = stacks_put(session, &frames[first], min_u32(count, wanted));
	if (unlikely(is_timed))
		stacks_timed(session, clock_ticks() - start);
	return id;
}

#endif
