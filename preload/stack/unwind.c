/* SPDX-License-Identifier: MIT */
/* unwind.c - loads libunwind and asks it; see unwind.h. */
#include "preload/stack/unwind.h"

#include "collector/session/modules.h"
#include "collector/system/log.h"
#include "preload/process/hook_hide.h"
#include "preload/process/process.h"
#include "preload/process/own_stack.h"
#include "preload/process/quiet.h"
#include "preload/process/real.h"
#include "preload/stack/unwind_calls.h"
#include "preload/stack/unwind_table.h"
#include "preload/stack/unwind_trial.h"
#include <dlfcn.h>
#include <elf.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <pthread.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What the slowest way of libunwind 1.6 and 1.8 takes of a stack, twice. */
#define ROOM_BYTES     (24u * 1024)
#define MAIN_BYTES_MAX (UINT64_C(1) << 30)

#define TEXT2(text)    #text
#define TEXT(macro)    TEXT2(macro)

START_DATA struct unwind unwind;

/* What the user wants; samples and sums of the heap are nothing without
 * stacks. */
static bool choose(void)
{
	char why[LOG_LINE_BYTES];

	if (stack_choice_parse(process.options.stack, &unwind.choice, why,
			       sizeof(why)))
		return false;
	if ((process.options.malloc == MALLOC_SAMPLED ||
	     process.options.malloc == MALLOC_SITES) &&
	    !options_is_set(&process.options, OPTION_AT_stack))
		unwind.choice.families = STACK_HEAP;
	if (process.options.sample)
		unwind.choice.families |= STACK_SAMPLES;
	return unwind.choice.families;
}

/* As the loader calls it. */
struct tls_index {
	size_t module, offset;
};

#if __GLIBC_PREREQ(2, 35)
bool unwind_find_file(uint64_t code, struct dl_phdr_info *info)
{
	struct dl_find_object found;
	const ElfW(Ehdr) * head;

	if (unwind.find_object((void *)(uintptr_t)code, &found))
		return false;
	head = found.dlfo_map_start;
	if (memcmp(head->e_ident, ELFMAG, SELFMAG) ||
	    head->e_phentsize != sizeof(ElfW(Phdr)))
		return false;
	*info = (struct dl_phdr_info){
		.dlpi_addr = found.dlfo_link_map->l_addr,
		.dlpi_name = found.dlfo_link_map->l_name,
		.dlpi_phdr = (const ElfW(Phdr) *)((const char *)head +
						  head->e_phoff),
		.dlpi_phnum = head->e_phnum,
	};
	return true;
}
#else
bool unwind_find_file(uint64_t code, struct dl_phdr_info *info)
{
	(void)code;
	(void)info;
	return false;
}
#endif

/* Whether memory can be read libunwind asks by writing it into a pipe, whose
 * numbers it never looks at again: where a program closes all descriptors, it
 * would write into the program's next files, close them, or be killed by
 * SIGPIPE.  It gets no pipe, and syscall() has the answer. */
EXPORT int pipe2(int ends[2], int flags)
{
	if (unlikely(unwind_is_its_own(__builtin_return_address(0)))) {
		ends[0] = ends[1] = -1;
		return 0;
	}
	return real.pipe2 ? real.pipe2(ends, flags)
			  : (int)syscall(SYS_pipe2, ends, flags);
}

#if defined(UNWINDS_BY_LIBUNWIND) || defined(__aarch64__)
static void look_for_table(void)
{
	*(void **)&unwind.find_object =
		__GLIBC_PREREQ(2, 35) ? dlsym(RTLD_DEFAULT, "_dl_find_object")
				      : NULL;
}
#endif

/* To its last byte and no further: the next library may follow at once. */
static void find_file(const void *code, uintptr_t *begin, uintptr_t *bytes)
{
	const ElfW(Ehdr) * head;
	const ElfW(Phdr) * part;
	uintptr_t end = 0;
	Dl_info info;

	if (!dladdr(code, &info))
		return;
	head = info.dli_fbase;
	part = (const ElfW(Phdr) *)((const char *)head + head->e_phoff);
	for (int i = 0; i < head->e_phnum; i++)
		if (part[i].p_type == PT_LOAD)
			end = max_u64(end, part[i].p_vaddr + part[i].p_memsz);
	*begin = (uintptr_t)head;
	*bytes = end;
}

#ifdef UNWINDS_BY_LIBUNWIND
/* This thread's memory of libunwind's, once it has it. */
static _Thread_local char *its_memory
	__attribute__((tls_model("initial-exec")));

/*
 * libunwind asks the loader for its thread's memory at each walk.  Where files
 * were loaded since, the loader first makes room for theirs, by malloc() and
 * free(): in the handler of a sample that interrupted one of them it would wait
 * for itself.  That memory stays where it is, so libunwind asks us.
 */
static void *its_memory_at(const struct tls_index *index)
{
	char *found;

	if (index->module != unwind.tls_module)
		return unwind.tls_address((void *)(uintptr_t)index);
	if (unlikely(!its_memory)) {
		found = unwind.tls_address((void *)(uintptr_t)index);
		its_memory = found - index->offset;
	}
	return its_memory + index->offset;
}

static bool find(void *library)
{
	int (*set_policy)(unw_addr_space_t, unw_caching_policy_t);
	void *stack_end = dlsym(RTLD_DEFAULT, "__libc_stack_end");

	*(void **)&unwind.backtrace = dlsym(library, "unw_backtrace");
	*(void **)&unwind.getcontext =
		dlsym(library, TEXT(unw_tdep_getcontext));
	*(void **)&unwind.init = dlsym(library, TEXT(unw_init_local));
	*(void **)&unwind.init_from = dlsym(library, TEXT(unw_init_local2));
	*(void **)&unwind.step = dlsym(library, TEXT(unw_step));
	*(void **)&unwind.get_reg = dlsym(library, TEXT(unw_get_reg));
	*(void **)&unwind.flush = dlsym(library, TEXT(unw_flush_cache));
	unwind.space = dlsym(library, TEXT(unw_local_addr_space));
	*(void **)&set_policy = dlsym(library, TEXT(unw_set_caching_policy));
	if (!unwind.backtrace || !unwind.getcontext || !unwind.init ||
	    !unwind.step || !unwind.get_reg || !unwind.flush || !unwind.space ||
	    !set_policy || !stack_end)
		return false;
	unwind.main_high = *(uint64_t *)stack_end;
	find_file(*(void **)&unwind.backtrace, &unwind.library,
		  &unwind.library_bytes);
	/* No lock that another thread holds. */
	set_policy(*unwind.space, UNW_CACHE_PER_THREAD);
	return true;
}

int unwind_visit_checked(struct dl_phdr_info *info, size_t size, void *arg)
{
	const struct unwind_visit *own = arg;
	const uint64_t asked = *(const uint64_t *)own->arg;

	/* Since 2003 the address comes first in what it gave. */
	if (unlikely(!unwind.knows_asked)) {
		unwind.asked = asked;
		return own->visit(info, size, own->arg);
	}
	unwind_note(info, asked);
	return unwind_table_holds(info, asked)
		       ? own->visit(info, size, own->arg)
		       : 0;
}

bool unwind_answer(const struct unwind_visit *own, int *rc)
{
	const uint64_t asked = *(const uint64_t *)own->arg;
	struct dl_phdr_info info;

	if (!unwind.knows_asked || !unwind.find_object)
		return false;
	*rc = 0;
	if (unwind_find_file(asked, &info))
		*rc = unwind_visit_checked(&info, sizeof(info), (void *)own);
	else
		unwind_note(NULL, asked);
	return true;
}

/* Its first walk: sets up what it needs once, and shows how it asks for files.
 * Where it doesn't, since another library stands before dl_iterate_phdr(), its
 * tables are followed unseen. */
static void walk_first(void)
{
	void *frames[STACK_DEPTH_DEFAULT];
	const int count = unwind.backtrace(frames, STACK_DEPTH_DEFAULT);

	for (int i = 0; i < count; i++) {
		const uint64_t code = (uint64_t)(uintptr_t)frames[i];

		if (unwind.asked - (code - 1) <= 1)
			unwind.knows_asked = true;
	}
}

static bool load(void)
{
	void *library;

	look_for_table();
	unwind.fails_before_main = !unwind_can_be_loaded();
	if (unwind.fails_before_main)
		return false;
	library = dlopen(UNWIND_FILE, RTLD_NOW | RTLD_LOCAL);
	if (!library || !find(library)) {
		log_trouble("no call stacks: libunwind.so.8 can't be loaded; "
			    "install libunwind8 (Debian, Ubuntu) or libunwind "
			    "(Fedora)");
		return false;
	}
	unwind.has_points = !unwind_calls_redirect(unwind.library);
	unwind.lets_signals = !unwind_calls_keep_blocked(unwind.library);
	unwind_calls_keep_maps(unwind.library);
	walk_first();
	if (!dlinfo(library, RTLD_DI_TLS_MODID, &unwind.tls_module) &&
	    unwind.tls_module)
		*(void **)&unwind.tls_address =
			dlsym(RTLD_DEFAULT, "__tls_get_addr");
	if (unwind.tls_address)
		hook_redirect(unwind.library, "__tls_get_addr",
			      *(void **)&(struct {
				      void *(*at)(const struct tls_index *);
			      }){its_memory_at});
	return true;
}

/* Each step asks for how its frame is left, by tables that are no longer those
 * of code that has gone. */
COLD uint32_t unwind_slowly(uint64_t high, uint64_t *frames, uint32_t count)
{
	unw_context_t context;
	unw_cursor_t cursor;
	uint32_t found = 0;

	(void)high;
	if (unwind.getcontext(&context) || unwind.init(&cursor, &context) < 0)
		return 0;
	while (found < count && unwind.step(&cursor) > 0 &&
	       !unwind.get_reg(&cursor, UNW_REG_IP, &frames[found]))
		found++;
	return found;
}

COLD uint32_t unwind_from(uint64_t high, const ucontext_t *context,
			  uint64_t *frames, uint32_t count)
{
	unw_cursor_t cursor;
	uint32_t found = 0;

	(void)high;
	if (!unwind.init_from ||
	    unwind.init_from(&cursor, (unw_context_t *)context,
			     UNW_INIT_SIGNAL_FRAME) < 0)
		return 0;
	do {
		if (unwind.get_reg(&cursor, UNW_REG_IP, &frames[found]))
			break;
	} while (++found < count && unwind.step(&cursor) > 0);
	return found;
}

static void flush(void)
{
	unwind.flush(*unwind.space, 0, 0);
}
#else
/* Whether there are any: our own walk needs the loader's table alone. */
static bool load(void)
{
#if defined(__aarch64__)
	const void *stack_end = dlsym(RTLD_DEFAULT, "__libc_stack_end");

	look_for_table();
	if (stack_end) {
		unwind.main_high = *(const uint64_t *)stack_end;
		store_relaxed(&unwind.goes_slowly, true);
		return true;
	}
#endif
	log_trouble("no call stacks: this build is without libunwind");
	return false;
}

static void flush(void)
{
}

int unwind_visit_checked(struct dl_phdr_info *info, size_t size, void *arg)
{
	const struct unwind_visit *own = arg;

	return own->visit(info, size, own->arg);
}

bool unwind_answer(const struct unwind_visit *own, int *rc)
{
	(void)own;
	(void)rc;
	return false;
}

#if !defined(__aarch64__)
uint32_t unwind_slowly(uint64_t high, uint64_t *frames, uint32_t count)
{
	(void)high;
	(void)frames;
	(void)count;
	return 0;
}

uint32_t unwind_from(uint64_t high, const ucontext_t *context, uint64_t *frames,
		     uint32_t count)
{
	(void)high;
	(void)context;
	(void)frames;
	(void)count;
	return 0;
}
#endif
#endif

COLD void unwind_prepare(void)
{
	struct session *session;
	struct quiet quiet;

	if (!choose())
		return;
	if (process.is_checked) {
		log_trouble("no call stacks: valgrind's memcheck would take "
			    "what finds them for errors");
		store_relaxed(&unwind.was_looked_for, true);
		return;
	}
	quiet = quiet_begin();
	if (load()) {
		find_file((const void *)(uintptr_t)gnu_get_libc_version,
			  &unwind.libc, &unwind.libc_bytes);
		unwind.start = getauxval(AT_ENTRY);
		unwind.has_python = python_frames_find();
		/* RELEASE pairs with ACQUIRE in unwind_is_ready(): what
		 * was found. */
		store_release(&unwind.is_loaded, true);
	}
	quiet_end(&quiet);
	store_relaxed(&unwind.was_looked_for, true);
	/* Another library's constructor allocated, or the loader for us, and
	 * began the recording. */
	session = load_relaxed(&session_here);
	if (session)
		python_frames_start(session);
	if (thread_records(quiet.was))
		unwind_thread_entered(quiet.was);
}

/* The fast trace never looks again at what it knows of an address.  Other code
 * may come to lie there, so from now on nobody goes by it.  What is there now
 * is noted, or nobody could name it later. */
COLD void unwind_code_goes(void)
{
	struct session *session = load_relaxed(&session_here);
	struct quiet quiet;

	if (!load_relaxed(&unwind.is_loaded))
		return;
	quiet = quiet_begin();
	store_relaxed(&unwind.goes_slowly, true);
	flush();
	if (session && session->writable)
		modules_refresh(session);
	quiet_end(&quiet);
}

/*
 * libunwind has locks, which it takes where it meets new code.  What another
 * thread held there when this process was forked is held for ever: a child of a
 * process with several threads takes none.  Python's frames are read without
 * it.
 */
COLD void unwind_skip(uintptr_t low, uintptr_t high)
{
	for (uint32_t i = 0; i < UNWIND_SKIPS; i++) {
		if (load_relaxed(&unwind.skips[i].low) == low)
			return;
		if (load_relaxed(&unwind.skips[i].low))
			continue;
		store_relaxed(&unwind.skips[i].low, low);
		store_relaxed(&unwind.skips[i].high, high);
		return;
	}
}

void unwind_forget(void)
{
	python_frames_forget();
	unwind.had_threads |= load_relaxed(&unwind.threads) > 1;
	store_relaxed(&unwind.threads, 0);
	if (unwind.had_threads)
		store_relaxed(&unwind.is_loaded, false);
}

/* It holds none of those locks any more. */
void unwind_thread_leaves(struct thread *thread)
{
	if (thread_records(thread) && thread->stack_high)
		add_relaxed(&unwind.threads, -1);
}

COLD uint32_t unwind_start(struct session *session)
{
	if (!choose())
		return 0;
	if (unwind.had_threads) {
		session_note(session,
			     "no call stacks%s: forked by a process with "
			     "several threads",
			     unwind.has_python ? " but Python's" : "");
		if (unwind.choice.families & STACK_SAMPLES &&
		    unwind.has_python) {
			stacks_start(session);
			python_frames_start(session);
		}
		return 0;
	}
	if (unwind.fails_before_main)
		session_note(
			session,
			"no call stacks: the program's own allocator fails "
			"where libunwind is loaded before main(), or that "
			"couldn't be tried");
	stacks_start(session);
	python_frames_start(session);
	return unwind.choice.families;
}

/* The loader gives a thread its libunwind's memory at the first use, and frees
 * it after the thread's end, which is counted as any free is: so that it comes
 * is counted, too.  Without a stack, which would need what isn't there yet. */
static void count_tls(struct thread *thread)
{
	struct tls_index first = {unwind.tls_module, 0};

	if (!unwind.tls_address || thread_self != thread ||
	    !load_relaxed(&unwind.is_loaded) ||
	    thread->tid == (uint32_t)getpid())
		return;
	thread->stack_low = thread->stack_high = UINT64_MAX;
	unwind.tls_address(&first);
}

/* By the C library's own figures; the main thread's stack grows to its limit.
 */
COLD void unwind_thread_entered(struct thread *thread)
{
	struct rlimit limit;
	struct thread *was;
	void *first[1];
	void *low = NULL;
	size_t bytes = 0;

	thread->stack_low = thread->stack_high = 0;
	if (!unwind.choice.families || process.is_checked)
		return;
	was = thread_busy();
	if (thread->tid == (uint32_t)getpid()) {
		if (!getrlimit(RLIMIT_STACK, &limit))
			bytes = min_u64(limit.rlim_cur, MAIN_BYTES_MAX);
		low = (void *)(unwind.main_high - bytes);
	} else if (!own_stack_find(&low, &bytes)) {
		/* At its first stack it is asked again. */
		thread_unbusy(was);
		return;
	}
	thread_unbusy(was);
	add_relaxed(&unwind.threads, 1);
	count_tls(thread);
	was = thread_busy();
	thread->stack_low = (uint64_t)(uintptr_t)low + ROOM_BYTES;
	thread->stack_high = (uint64_t)(uintptr_t)low + bytes;
	/* What libunwind allocates for a thread it does at its first stack:
	 * now, where a call of ours is known as one. */
	if (unwind.backtrace &&
	    unwind_is_ready(thread, (uint64_t)(uintptr_t)first))
		unwind.backtrace(first, 1);
	thread_unbusy(was);
}

COLD void unwind_thread_seen(struct thread *thread)
{
	thread->stack_low = thread->stack_high = 0;
	if (thread->tid == (uint32_t)getpid())
		unwind_thread_entered(thread);
}
