/* SPDX-License-Identifier: MIT */
/*
 * cuda_calls.c - in front of a shared CUDA runtime's functions.
 *
 * Each hook looks at the gate, calls the real function and describes the call
 * where CUPTI can't; see cuda_calls.h.  A static runtime, which is nvcc's
 * default, is called without us.
 *
 * A process may hold two runtimes, of CUDA 12 and 13 say, which know nothing of
 * each other's kernels.  So the real functions are those of the calling file,
 * looked up once for each, as preload/gomp/gomp_original.c does it.
 */
#include "preload/cuda/cuda_calls.h"

#include "collector/session/gate.h"
#include "collector/session/names.h"
#include "collector/session/thread.h"
#include "collector/steps/steps.h"
#include "collector/system/loader.h"
#include "preload/cuda/caching_allocator.h"
#include "preload/cuda/cuda_wrapped.h"
#include "preload/cuda/cupti_source.h"
#include "preload/process/hook.h"
#include "preload/process/life.h"
#include "preload/process/process.h"
#include "preload/process/quiet.h"
#include "preload/stack/unwind.h"
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>

/* cudaErrorInsufficientDriver: there is no CUDA here. */
#define NO_CUDA	    35
#define CALLERS_MAX 256u

#define NOINLINE    __attribute__((noinline))

struct cuda_call {
	struct thread *thread; /* NULL: not recorded */
	uint64_t start_ticks;
	uint32_t number; /* enum cuda_function */
	bool is_first;	 /* nobody has attached yet */
};

/* A loaded file that calls CUDA, and the functions of the runtime that it was
 * linked with; those that it lacks answer with an error. */
static struct caller {
	uintptr_t start, end;
	struct cuda_functions real;
	bool is_linked; /* with a runtime */
	_Atomic bool is_known;
} callers[CALLERS_MAX];
/* The first place is for the first that is linked with one. */
static _Atomic uint32_t caller_count = 1;
static _Atomic bool has_first;

/* Files past those; the newest first. */
struct more_callers {
	struct caller caller;
	struct more_callers *older;
};
static struct more_callers *_Atomic more_callers;

/* Code outside all files, looked up each time. */
static struct caller unknown_caller;

static _Atomic uint32_t names[CUDA_FUNCTION_COUNT];

/* No pointers, which would be relocated in each process. */
static const char words[][48] = {
#define X(name, bytes, entry, parameters, arguments) #name,
	CUDA_WRAPPED_FUNCTIONS(X)
#undef X
};

_Static_assert(sizeof(struct cuda_functions) ==
		       CUDA_FUNCTION_COUNT * sizeof(void *),
	       "it is one pointer for each row");

static int no_cuda(void)
{
	return NO_CUDA;
}

static int find_runtime(struct dl_phdr_info *info, size_t bytes, void *arg)
{
	const char *slash = strrchr(info->dlpi_name, '/');

	(void)bytes;
	if (strncmp(slash ? slash + 1 : info->dlpi_name, "libcudart.so.", 13))
		return 0;
	*(const char **)arg = info->dlpi_name;
	return 1;
}

/* One entry of the loader's list. */
struct file {
	uintptr_t address; /* wanted */
	uintptr_t start, end;
	const char *path;
	bool is_linked;
};

/* The program itself, whose names have no scope of their own: it asks for a
 * runtime by name. */
static bool needs_runtime(const struct dl_phdr_info *info)
{
	const ElfW(Dyn) *table = NULL;
	const char *texts = NULL;

	for (size_t i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			table = (const ElfW(Dyn) *)(info->dlpi_addr +
						    info->dlpi_phdr[i].p_vaddr);
	for (const ElfW(Dyn) *one = table; one && one->d_tag != DT_NULL; one++)
		if (one->d_tag == DT_STRTAB)
			texts = (const char *)one->d_un.d_ptr;
	for (; texts && table->d_tag != DT_NULL; table++)
		if (table->d_tag == DT_NEEDED &&
		    !strncmp(texts + table->d_un.d_val, "libcudart.so.", 13))
			return true;
	return false;
}

static int file_holds(struct dl_phdr_info *info, size_t bytes, void *arg)
{
	struct file *file = arg;

	(void)bytes;
	if (!loader_file_holds(info, file->address, &file->start, &file->end))
		return 0;
	file->path = info->dlpi_name;
	file->is_linked = !info->dlpi_name[0] && needs_runtime(info);
	return 1;
}

/* As the loader would have bound the file: by its own libraries, whose versions
 * are those that it asks for, else by the next in the global scope.  Who found
 * our name by dlsym() has neither: Python loads the runtime where it isn't
 * seen.  False: there is no runtime. */
static bool find_functions(struct file *file, struct cuda_functions *real)
{
	void *own = NULL, *runtime = NULL;
	const char *path = NULL;
	bool any = false;

	/* It stays loaded, so that its addresses remain its own. */
	if (file->path && file->path[0])
		own = dlopen(file->path,
			     RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
	dl_iterate_phdr(find_runtime, &path);
	if (path)
		runtime = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
	for (size_t i = 0; i < CUDA_FUNCTION_COUNT; i++) {
		void *found = own ? dlsym(own, words[i]) : NULL;

		file->is_linked |= found != NULL;
		if (!found)
			found = dlsym(RTLD_NEXT, words[i]);
		if (!found && runtime)
			found = dlsym(runtime, words[i]);
		any |= found != NULL;
		((void **)(void *)real)[i] = found ? found : (void *)no_cuda;
	}
	return any;
}

/* Where a file's functions are kept; NULL: there is no memory. */
static struct caller *new_caller(bool is_linked)
{
	const bool is_first =
		is_linked && !atomic_exchange_explicit(&has_first, true,
						       memory_order_relaxed);
	const uint32_t index = is_first ? 0
			       : load_relaxed(&caller_count) < CALLERS_MAX
				       ? add_relaxed(&caller_count, 1)
				       : CALLERS_MAX;
	struct more_callers *more;

	if (index < CALLERS_MAX)
		return &callers[index];
	more = mmap(NULL, sizeof(*more), PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (more == MAP_FAILED)
		return NULL;
	more->older = load_relaxed(&more_callers);
	/* RELEASE pairs with ACQUIRE in find_more(): those before it. */
	while (!atomic_compare_exchange_weak_explicit(
		&more_callers, &more->older, more, memory_order_release,
		memory_order_relaxed))
		;
	return &more->caller;
}

/* Two threads may both find the same file: one entry stays unused. */
static struct caller *make_caller(uintptr_t address)
{
	static struct caller without;
	struct file file = {.address = address};
	struct caller *caller;
	struct cuda_functions real;
	bool is_file;

	is_file = dl_iterate_phdr(file_holds, &file);
	if (!find_functions(&file, &real)) {
		/* One may still be loaded: all are errors until then. */
		without.real = real;
		return &without;
	}
	caller = is_file ? new_caller(file.is_linked) : NULL;
	if (!caller)
		caller = &unknown_caller;
	caller->start = file.start;
	caller->end = file.end;
	caller->real = real;
	caller->is_linked = file.is_linked;
	/* RELEASE pairs with ACQUIRE in caller_of(). */
	store_release(&caller->is_known, true);
	return caller;
}

static COLD const struct caller *find_caller(uintptr_t address)
{
	const struct quiet quiet = quiet_begin();
	const bool keeps_forks_out = loader_enter();
	const struct caller *caller = make_caller(address);

	if (keeps_forks_out)
		loader_leave();
	quiet_end(&quiet);
	return caller;
}

static inline bool is_of(struct caller *caller, uintptr_t address)
{
	/* ACQUIRE pairs with RELEASE in make_caller(): functions. */
	return load_acquire(&caller->is_known) &&
	       address - caller->start < caller->end - caller->start;
}

static COLD const struct caller *find_more(uintptr_t address)
{
	/* ACQUIRE pairs with RELEASE in new_caller(). */
	struct more_callers *more = load_acquire(&more_callers);

	for (; more; more = more->older) {
		if (is_of(&more->caller, address))
			return &more->caller;
	}
	return find_caller(address);
}

static inline const struct caller *caller_of(uintptr_t address)
{
	const uint32_t count =
		(uint32_t)min_u64(load_relaxed(&caller_count), CALLERS_MAX);

	for (uint32_t i = 0; i < count; i++) {
		if (is_of(&callers[i], address))
			return &callers[i];
	}
	return find_more(address);
}

/* A function whose last act is the call is not seen: it returns to whoever
 * called that.  Where that file has no runtime, a kernel is its own file's; all
 * else that there is, memory and streams, runtimes have in common. */
static const struct caller *launches_for(uintptr_t address, const void *entry)
{
	const struct caller *caller = caller_of(address);
	const struct caller *owner;

	if (caller->is_linked || !entry)
		return caller;
	owner = caller_of((uintptr_t)entry);
	return owner->is_linked ? owner : caller;
}

/* Nothing is to be done, for the file that called first, as a rule the only
 * one: then a hook is these looks and a jump. */
static inline bool is_idle(uintptr_t address)
{
	const uint32_t open = gate_bits();

	return open && !(open & (GATE_CUDA | GATE_CUDA_WATCH)) &&
	       is_of(&callers[0], address);
}

/* First call of the process.  Where libcuda calls us by itself, it does so
 * within the first call that needs a GPU. */
static COLD void open_first(struct cuda_call *call)
{
	uint32_t open = gate_bits();

	if (open == GATE_UNDECIDED)
		open = life_decide();
	if (!(open & GATE_CUDA_WATCH))
		return;
	call->is_first = true;
}

static COLD void attach_late(int result)
{
	/* Nobody called us, and yet there is a GPU. */
	if (result || cupti_is_attached())
		return;
	if (!life_is_running())
		life_begin("CUDA");
	if (life_is_running() && !cupti_attach(true))
		cuda_calls_record(load_relaxed(&session_here));
}

static void begin(struct cuda_call *call)
{
	struct session *session = load_relaxed(&session_here);
	struct thread *thread = hook_thread_of_any();
	uint32_t name = load_relaxed(&names[call->number]);
	const int saved = errno;

	if (!thread)
		return;
	if (!name) {
		const char *word = words[call->number];

		while (*word == '_')
			word++;
		name = names_intern(session, word, strcspn(word, "_"));
		store_relaxed(&names[call->number], name);
	}
	call->thread = thread;
	call->start_ticks = clock_ticks();
	thread_open(thread, EVENT_CALL, call->start_ticks, name, 0, 0, 0);
	errno = saved;
}

static void end(const struct cuda_call *call, int result, uint64_t bytes)
{
	struct thread *thread = call->thread;
	const int saved = errno;
	uint32_t stack = 0;

	/* A fork inside the call would have taken the record away. */
	if (thread != thread_self)
		return;
	thread_shut(thread);
	if (unwind_wants(STACK_CUDA)) {
		thread_fill();
		stack = unwind_take(thread, UNWIND_OURS_MAX);
		thread_unbusy(thread);
	}
	thread_record(
		thread,
		&(struct event){
			.kind = EVENT_CALL,
			.name = load_relaxed(&names[call->number]),
			.stack = stack,
			.start_ticks = call->start_ticks,
			.end_ticks = clock_ticks(),
			.call = {.bytes = bytes, .result = (uint64_t)result},
		});
	errno = saved;
}

/* --- the hooks ------------------------------------------------------------ */

static inline struct cuda_call call_begin(enum cuda_function number)
{
	struct cuda_call call = {.number = number};
	const uint32_t open = gate_bits();

	if (unlikely(open == GATE_UNDECIDED || open & GATE_CUDA_WATCH))
		open_first(&call);
	if (gate_bits() & GATE_CUDA)
		begin(&call);
	return call;
}

static inline int call_end(const struct cuda_call *call, int result,
			   uint64_t bytes)
{
	if (unlikely(call->thread))
		end(call, result, bytes);
	if (unlikely(call->is_first))
		attach_late(result);
	return result;
}

/* Whose call it is, from a hook to its second half: that one has the same
 * parameters, so that neither touches the registers that they come in. */
static _Thread_local uintptr_t called_from;

/* clang-format off */
#define X(name, bytes, entry, parameters, arguments)			\
	static NOINLINE int name##_slowly parameters			\
	{								\
		const struct caller *const caller =			\
			launches_for(called_from, entry);		\
		const struct cuda_call call = call_begin(CUDA_AT_##name); \
									\
		return call_end(&call, caller->real.name arguments, bytes); \
	}								\
									\
	EXPORT int name parameters;					\
	EXPORT int name parameters					\
	{								\
		const uintptr_t address =				\
			(uintptr_t)__builtin_return_address(0);		\
									\
		if (likely(is_idle(address)))				\
			return callers[0].real.name arguments;		\
		called_from = address;					\
		return name##_slowly arguments;				\
	}
CUDA_WRAPPED_FUNCTIONS(X)
#undef X
/* clang-format on */

/* -------------------------------------------------------------------------- */

static int count_runtime(struct dl_phdr_info *info, size_t bytes, void *count)
{
	static const char name[] = "libcudart.so";
	const char *slash = strrchr(info->dlpi_name, '/');

	(void)bytes;
	*(unsigned int *)count += !strncmp(slash ? slash + 1 : info->dlpi_name,
					   name, sizeof(name) - 1);
	return 0;
}

/* Names that the loader need not look up. */
#define X(name, ...)                                                           \
	extern __typeof__(name) own_##name                                     \
		__attribute__((alias(#name), visibility("hidden")));
CUDA_WRAPPED_FUNCTIONS(X)
#undef X

/* Else what comes behind us isn't what each file would have been bound to. */
static bool is_one_runtime(void)
{
	unsigned int count = 0;

	dl_iterate_phdr(count_runtime, &count);
	return count < 2;
}

void cuda_calls_ranges(bool is_off, struct hook_range ranges[CUDA_RANGES])
{
	const bool keeps_bound = is_off && !is_one_runtime();
	uintptr_t low = UINTPTR_MAX, high = 0;

#define X(name, ...)                                                           \
	low = min_u64(low, (uintptr_t)own_##name);                             \
	high = max_u64(high, (uintptr_t)own_##name);
	CUDA_WRAPPED_FUNCTIONS(X)
#undef X
	ranges[0].low = (const char *)low;
	ranges[0].high = (const char *)high + 1;
	cupti_hooks_range(&ranges[1]);
	caching_allocator_range(&ranges[2]);
	for (uint32_t i = 0; i < CUDA_RANGES; i++) {
		ranges[i].is_hidden = is_off;
		ranges[i].keeps_bound = keeps_bound;
	}
}

void cuda_calls_record(struct session *session)
{
	uint32_t none = GPU_SOURCE_NONE;

	if (process.options.cuda != CUDA_OFF &&
	    atomic_compare_exchange_strong_explicit(
		    &session->head->gpu.source, &none, GPU_SOURCE_CALLS,
		    memory_order_relaxed, memory_order_relaxed))
		gate_add_record(GATE_CUDA, steps_are_recorded(session));
}

void cuda_calls_record_instead(struct session *session)
{
	uint32_t cupti = GPU_SOURCE_CUPTI;

	if (atomic_compare_exchange_strong_explicit(
		    &session->head->gpu.source, &cupti, GPU_SOURCE_CALLS,
		    memory_order_relaxed, memory_order_relaxed))
		gate_add_open(GATE_CUDA);
}

void cuda_calls_follow(struct session *session)
{
	/* Either who gives CUPTI up sees the gate open, or we see it. */
	atomic_thread_fence(memory_order_seq_cst);
	if (load_relaxed(&session->head->gpu.source) == GPU_SOURCE_CALLS)
		gate_add_open(GATE_CUDA);
}

void cuda_calls_forget(void)
{
	for (size_t i = 0; i < CUDA_FUNCTION_COUNT; i++)
		store_relaxed(&names[i], 0);
}
