/* SPDX-License-Identifier: MIT */
/* sample_stack.c - unwinds from a signal handler; see sample_stack.h. */
#include "preload/sample/sample_stack.h"

#include "collector/system/loader.h"
#include "preload/process/quiet.h"
#include "preload/process/real.h"
#include "preload/sample/sample_room.h"
#include "preload/stack/python_frames.h"
#include "preload/stack/unwind.h"
#include "preload/stack/unwind_table.h"
#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

/* The handler, what calls it, and the frame of the signal. */
#define HANDLER_FRAMES_MAX 8u
/* Of the interrupted stack, where libunwind's own calls would show. */
#define WORDS_LOOKED_AT	   48u
/* Copies of the list; they are never freed, since a handler may read one. */
#define COPIES_MAX	   512u

struct code_range {
	uint64_t low, high;
};

/* Where a lock may be held that the unwinder takes or needs. */
enum { RANGE_LIBC, RANGE_LOADER, RANGE_HEAP, RANGE_UNWIND, RANGE_COUNT };

/* All files that are loaded, as of the last look. */
struct file_list {
	uint32_t count;
	struct dl_phdr_info file[];
};

static struct {
	struct code_range range[RANGE_COUNT];
	struct file_list *_Atomic files;
	uint32_t copies;
	unsigned long long adds, subs; /* of the loader, as of the copy */
	_Atomic uint32_t version;      /* counts changes */
} stacks;

/* `version` as of the thread's last stack, by its record's place; a collision
 * costs a stack or two. */
#define VERSIONS 4096u
static _Atomic uint32_t seen_version[VERSIONS];

static bool is_in(const struct code_range *range, uint64_t address)
{
	return address >= range->low && address < range->high;
}

/* The executable segment that holds an address. */
struct segment_search {
	uint64_t address;
	struct code_range *found;
};

static int look_at_file(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct segment_search *search = arg;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		const struct code_range range = {
			info->dlpi_addr + part->p_vaddr,
			info->dlpi_addr + part->p_vaddr + part->p_memsz};

		if (part->p_type == PT_LOAD && is_in(&range, search->address)) {
			*search->found = range;
			return 1;
		}
	}
	return 0;
}

static void find_range(int which, const void *code)
{
	struct segment_search search = {(uint64_t)(uintptr_t)code,
					&stacks.range[which]};

	if (code)
		real.dl_iterate_phdr(look_at_file, &search);
}

COLD void sample_stack_thread_begins(void)
{
	void *frames[2];
	struct quiet quiet;

	if (!load_relaxed(&unwind.is_loaded) || !unwind.backtrace)
		return;
	quiet = quiet_begin();
	unwind.backtrace(frames, 2);
	quiet_end(&quiet);
}

/* --- the list of files -----------------------------------------------------*/

/* Inside the handler the list is a copy, which needs no lock. */
static int each_copied(int (*visit)(struct dl_phdr_info *, size_t, void *),
		       void *arg)
{
	/* ACQUIRE pairs with RELEASE in sample_stack_poll(): the copy. */
	struct file_list *files = load_acquire(&stacks.files);
	int rc = 0;

	for (uint32_t i = 0; files && i < files->count && !rc; i++)
		rc = visit(&files->file[i], sizeof(files->file[i]), arg);
	return rc;
}

static int each_loaded(int (*visit)(struct dl_phdr_info *, size_t, void *),
		       void *arg)
{
	if (unlikely(thread_self == THREAD_SAMPLING))
		return each_copied(visit, arg);
	if (unlikely(!real.dl_iterate_phdr))
		real_resolve();
	if (unlikely(!real.dl_iterate_phdr))
		return 0;
	return real.dl_iterate_phdr(visit, arg);
}

static __attribute__((noinline)) int
each_checked(int (*visit)(struct dl_phdr_info *, size_t, void *), void *arg)
{
	struct unwind_visit given = {visit, arg};
	int rc;

	return unwind_answer(&given, &rc)
		       ? rc
		       : each_loaded(unwind_visit_checked, &given);
}

EXPORT int dl_iterate_phdr(int (*visit)(struct dl_phdr_info *, size_t, void *),
			   void *arg)
{
	if (unlikely(unwind_asks(__builtin_return_address(0))))
		return each_checked(visit, arg);
	/* A jump: the loader asks where its caller lies. */
	return each_loaded(visit, arg);
}

struct copying {
	struct file_list *into;
	uint32_t room, count;
	unsigned long long adds, subs;
	bool is_same;
};

static int copy_one(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct copying *copying = arg;

	copying->adds = info->dlpi_adds;
	copying->subs = info->dlpi_subs;
	if (info->dlpi_adds == stacks.adds && info->dlpi_subs == stacks.subs) {
		copying->is_same = true;
		return 1;
	}
	if (copying->into && copying->count < copying->room)
		memcpy(&copying->into->file[copying->count], info,
		       min_u64(size, sizeof(*info)));
	copying->count++;
	return 0;
}

/* False: nothing came or went. */
static bool copy_files(void)
{
	struct copying copying = {.room = 0};
	uint64_t bytes;
	void *made;

	real.dl_iterate_phdr(copy_one, &copying);
	if (copying.is_same || stacks.copies == COPIES_MAX)
		return false;
	/* With a little room: another may be loaded meanwhile. */
	copying.room = copying.count + 8;
	bytes = sizeof(*copying.into) +
		copying.room * sizeof(copying.into->file[0]);
	made = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (made == MAP_FAILED)
		return false;
	copying.into = made;
	copying.count = 0;
	real.dl_iterate_phdr(copy_one, &copying);
	copying.into->count = min_u32(copying.count, copying.room);
	/* RELEASE pairs with ACQUIRE in each_copied(): the copy. */
	store_release(&stacks.files, copying.into);
	stacks.copies++;
	stacks.adds = copying.adds;
	stacks.subs = copying.subs;
	return true;
}

COLD void sample_stack_prepare(void)
{
	if (!real.dl_iterate_phdr || !load_relaxed(&unwind.is_loaded))
		return;
	find_range(RANGE_LIBC, dlsym(RTLD_DEFAULT, "strlen"));
	find_range(RANGE_LIBC, *(void **)(void *)&real.dl_iterate_phdr);
	find_range(RANGE_LOADER, dlsym(RTLD_DEFAULT, "__tls_get_addr"));
	find_range(RANGE_HEAP, *(void **)(void *)&real.malloc);
	find_range(RANGE_UNWIND, *(void **)(void *)&unwind.backtrace);
	/* What is there now is no change: a thread that is in the C library
	 * all the time would wait for its first stack for as long. */
	if (loader_enter()) {
		copy_files();
		loader_leave();
	}
}

void sample_stack_poll(struct session *session)
{
	(void)session;
	if (!load_relaxed(&unwind.is_loaded) || !loader_enter())
		return;
	if (copy_files())
		add_relaxed(&stacks.version, 1);
	loader_leave();
}

/* --- in the handler --------------------------------------------------------*/

static uint64_t interrupted(const ucontext_t *context, uint64_t *stack)
{
#if defined(__x86_64__)
	*stack = (uint64_t)context->uc_mcontext.gregs[REG_RSP];
	return (uint64_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
	*stack = context->uc_mcontext.sp;
	return context->uc_mcontext.pc;
#else
	*stack = 0;
	return 0;
#endif
}

/* The thread may be in libunwind by a call of the program's own. */
static bool is_unwinding(const struct thread *thread, uint64_t code,
			 uint64_t stack)
{
	const struct code_range *range = &stacks.range[RANGE_UNWIND];

	if (is_in(range, code))
		return true;
	for (uint32_t i = 0; i < WORDS_LOOKED_AT; i++) {
		const uint64_t at = (stack & ~UINT64_C(7)) + i * 8;

		if (at < thread->stack_low || at + 8 > thread->stack_high)
			return false;
		if (is_in(range, *(const uint64_t *)(uintptr_t)at))
			return true;
	}
	return false;
}

/* Files came or went since this thread's last stack, and it may hold a lock
 * that the loader needs to make room for them. */
static bool may_need_room(const struct thread *thread, uint64_t code)
{
	const uint32_t version = load_relaxed(&stacks.version);
	_Atomic uint32_t *seen = &seen_version[thread->place % VERSIONS];

	if (load_relaxed(seen) == version)
		return false;
	for (int i = 0; i <= RANGE_HEAP; i++) {
		if (is_in(&stacks.range[i], code))
			return true;
	}
	store_relaxed(seen, version);
	return false;
}

/* Our own frames lie between the program's where a hook calls the real
 * function, and at the end. */
static uint32_t leave_out_ours(uint64_t *frames, uint32_t count)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (!unwind_is_ours(frames[i]) || (!kept && i + 1 == count))
			frames[kept++] = frames[i];
	}
	return kept;
}

static __attribute__((noinline)) uint32_t walk(uint64_t high, uint64_t code,
					       uint64_t *frames)
{
	uint64_t all[STACK_DEPTH_MAX + HANDLER_FRAMES_MAX];
	uint32_t first = 0;
	uint32_t count;

	if (unlikely(load_relaxed(&unwind.goes_slowly)))
		count = unwind_slowly(high, all,
				      STACK_DEPTH_MAX + HANDLER_FRAMES_MAX);
	else
		count = (uint32_t)unwind.backtrace(
			(void **)all, STACK_DEPTH_MAX + HANDLER_FRAMES_MAX);
	while (first < count && all[first] != code)
		first++;
	count = min_u32(count - first, STACK_DEPTH_MAX);
	memcpy(frames, &all[first], count * sizeof(all[0]));
	return count;
}

/* There is room for the walk, on the thread's stack or beside it. */
static bool has_room(const struct thread *thread, const ucontext_t *context,
		     uint64_t here)
{
	const uint64_t left = sample_room_left(&context->uc_stack, here);

	if (left != UINT64_MAX)
		return left >= SAMPLE_WALK_BYTES;
	return !thread->stack_high ||
	       (here >= thread->stack_low && here < thread->stack_high);
}

struct sample_place sample_stack_take(struct session *session,
				      struct thread *thread,
				      const ucontext_t *context, bool is_beside)
{
	struct sampling *sums = &session->head->sampling;
	struct sample_place place = {0};
	uint64_t frames[STACK_DEPTH_MAX];
	uint64_t stack;
	const uint64_t code = interrupted(context, &stack);
	const bool can_walk = is_beside ? !unwind.lets_signals
					: has_room(thread, context,
						   (uint64_t)(uintptr_t)frames);
	uint32_t count = 0;

	/* Where the register points elsewhere, there is no stack to walk. */
	if (can_walk && unwind_is_ready(thread, stack) &&
	    !is_unwinding(thread, code, stack) && !may_need_room(thread, code))
		count = is_beside || !unwind.backtrace
				? unwind_from(thread->stack_high, context,
					      frames, STACK_DEPTH_MAX)
				: walk(thread->stack_high, code, frames);
	if (count && unlikely(unwind_guessed(frames, count)))
		count = unwind_by_code(thread->stack_high, context, frames,
				       STACK_DEPTH_MAX);
	if (count < 2) {
		add_relaxed(&sums->unrooted, 1);
		count = 1;
	}
	if (count == STACK_DEPTH_MAX)
		add_relaxed(&sums->cut, 1);
	/* All others are return addresses, one past what runs. */
	frames[0] = code + 1;
	count = leave_out_ours(frames, count);
	if (can_walk && unwind.has_python && !load_relaxed(&unwind.is_loaded))
		count = python_frames_append(session, frames, STACK_DEPTH_MAX);
	else if (can_walk && unwind.has_python)
		count = python_frames_splice(session, frames, count,
					     STACK_DEPTH_MAX,
					     unwind_is_whole(frames, count));
	place.code = frames[0];
	if (count > 1)
		place.stack = stacks_put(session, &frames[1], count - 1);
	return place;
}
