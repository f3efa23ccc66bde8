/* SPDX-License-Identifier: MIT */
/* map_hooks.c - in front of mmap() and its family; see maps.h. */
#include "collector/session/gate.h"
#include "collector/system/page_size.h"
#include "preload/heap/maps.h"
#include "preload/process/hook.h"
#include "preload/process/own_stack.h"
#include "preload/process/real.h"
#include "preload/stack/unwind.h"
#include "preload/wait/file_io.h"
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of the hook: who called. */
#define FROM __builtin_return_address(0)

static struct event *fill(struct event *event, uint64_t address, uint64_t bytes,
			  enum map_kind kind, uint64_t ticks)
{
	*event = (struct event){
		.kind = EVENT_MAP,
		.start_ticks = ticks,
		.end_ticks = ticks,
		.map = {.address = address, .size_bytes = bytes, .kind = kind},
	};
	return event;
}

/* libunwind maps memory while it takes a stack for us. */
static bool is_for_us(const void *from)
{
	return thread_self == THREAD_FILLING && unwind_is_its_own(from);
}

static __attribute__((noinline)) void
record(const void *at, size_t bytes, enum map_kind kind, const void *from)
{
	const int saved = errno;
	struct thread *thread;
	struct event event;

	if (!bytes || is_for_us(from))
		return;
	thread = hook_thread_of_any();
	if (!thread)
		return;
	fill(&event, (uint64_t)(uintptr_t)at, bytes, kind, clock_ticks());
	if (unwind_wants(STACK_HEAP)) {
		thread_fill();
		event.stack = unwind_take(thread, UNWIND_OURS_MAX);
		thread_unbusy(thread);
	}
	thread_record(thread, &event);
	errno = saved;
}

/* It went at `ticks`, before anybody else could get the place. */
static __attribute__((noinline)) void
record_gone(const void *at, size_t bytes, uint64_t ticks, const void *from)
{
	const int saved = errno;
	struct thread *thread;
	struct event event;

	if (!bytes || is_for_us(from))
		return;
	thread = hook_thread_of_any();
	if (!thread)
		return;
	thread_record(thread, fill(&event, (uint64_t)(uintptr_t)at, bytes,
				   MAP_KIND_GONE, ticks));
	errno = saved;
}

static inline bool is_wanted(void)
{
	return unlikely(gate_bits() & GATE_MAP);
}

static inline size_t whole_pages(size_t bytes)
{
	return align_up(bytes, page_bytes());
}

static enum map_kind kind_of(int protection, int flags)
{
	if (flags & MAP_STACK)
		return MAP_KIND_STACK;
	if (!(flags & MAP_ANONYMOUS))
		return MAP_KIND_FILE;
	return protection == PROT_NONE ? MAP_KIND_RESERVED : MAP_KIND_ANONYMOUS;
}

/* Before the C library's own is known, in the loader. */
static void *map(void *at, size_t bytes, int protection, int flags, int fd,
		 off_t offset)
{
	if (likely(real.mmap))
		return real.mmap(at, bytes, protection, flags, fd, offset);
	return (void *)syscall(SYS_mmap, at, bytes, protection, flags, fd,
			       offset);
}

EXPORT void *mmap(void *at, size_t bytes, int protection, int flags, int fd,
		  off_t offset)
{
	void *made = map(at, bytes, protection, flags, fd, offset);

	if (is_wanted() && made != MAP_FAILED)
		record(made, whole_pages(bytes), kind_of(protection, flags),
		       FROM);
	if (file_io_is_wanted() && made != MAP_FAILED &&
	    !(flags & MAP_ANONYMOUS))
		file_io_took(FILE_VERB_MAP, fd, bytes, clock_ticks());
	return made;
}

/* One function, as in the C library, where memray compares the two. */
EXPORT void *mmap64(void *at, size_t bytes, int protection, int flags, int fd,
		    off64_t offset) __attribute__((alias("mmap")));

EXPORT int munmap(void *at, size_t bytes)
{
	const uint64_t ticks = is_wanted() ? clock_ticks() : 0;
	const int result = likely(real.munmap)
				   ? real.munmap(at, bytes)
				   : (int)syscall(SYS_munmap, at, bytes);

	if (unlikely(ticks) && !result)
		record_gone(at, whole_pages(bytes), ticks, FROM);
	return result;
}

EXPORT void *mremap(void *at, size_t old_bytes, size_t bytes, int flags, ...)
{
	const uint64_t ticks = is_wanted() ? clock_ticks() : 0;
	void *place = NULL;
	void *made;
	va_list list;

	va_start(list, flags);
	if (flags & (MREMAP_FIXED | MREMAP_DONTUNMAP))
		place = va_arg(list, void *);
	va_end(list);
	made = likely(real.mremap)
		       ? real.mremap(at, old_bytes, bytes, flags, place)
		       : (void *)syscall(SYS_mremap, at, old_bytes, bytes,
					 flags, place);
	if (likely(!ticks) || made == MAP_FAILED)
		return made;
	if (!(flags & MREMAP_DONTUNMAP))
		record_gone(at, whole_pages(old_bytes), ticks, FROM);
	record(made, whole_pages(bytes), MAP_KIND_ANONYMOUS, FROM);
	return made;
}

static void record_break(char *from, char *to)
{
	if (to > from)
		record(from, (size_t)(to - from), MAP_KIND_BREAK, NULL);
	else if (to < from)
		record_gone(to, (size_t)(from - to), clock_ticks(), NULL);
}

/* A constructor that runs before ours may need memory of an allocator of the
 * program's own. */
static bool knows_break(void)
{
	return likely(real.brk && real.sbrk) ||
	       (real_resolve() == REAL_READY && real.brk && real.sbrk);
}

/* For dlsym(), while the C library's are looked for; it is to know of that. */
static _Atomic bool is_moved;

static bool move_break(char *to)
{
	if ((char *)syscall(SYS_brk, to) != to) {
		errno = ENOMEM;
		return false;
	}
	store_relaxed(&is_moved, true);
	return true;
}

static void tell_break(void)
{
	store_relaxed(&is_moved, false);
	real.brk((void *)syscall(SYS_brk, NULL));
}

EXPORT int brk(void *to)
{
	char *was = NULL;
	int result;

	if (!knows_break())
		return move_break(to) ? 0 : -1;
	if (is_wanted())
		was = real.sbrk(0);
	result = real.brk(to);
	if (unlikely(was) && !result)
		record_break(was, to);
	return result;
}

EXPORT void *sbrk(intptr_t bytes)
{
	char *was;

	if (!knows_break()) {
		was = (char *)syscall(SYS_brk, NULL);
		return !bytes || move_break(was + bytes) ? was : (void *)-1;
	}
	if (unlikely(load_relaxed(&is_moved)))
		tell_break();
	was = real.sbrk(bytes);
	if (is_wanted() && was != (void *)-1)
		record_break(was, was + bytes);
	return was;
}

/* False: of the main thread, whose stack the kernel made. */
static bool find_stack(const struct thread *thread, void **low, size_t *bytes)
{
	struct thread *was;
	bool is_found;

	if (thread->tid == (uint32_t)getpid())
		return false;
	was = thread_busy();
	is_found = own_stack_find(low, bytes);
	thread_unbusy(was);
	return is_found;
}

COLD void maps_thread_entered(struct thread *thread)
{
	size_t bytes;
	void *low;

	thread->has_stack = is_wanted() && find_stack(thread, &low, &bytes);
	if (thread->has_stack)
		record(low, bytes, MAP_KIND_STACK, NULL);
}

COLD void maps_thread_leaves(struct thread *thread)
{
	size_t bytes;
	void *low;

	if (is_wanted() && thread_records(thread) && thread->has_stack &&
	    find_stack(thread, &low, &bytes))
		record_gone(low, bytes, clock_ticks(), NULL);
}
