/* SPDX-License-Identifier: MIT */
/* blas_real.c - finds the real functions; see blas_real.h. */
#include "preload/blas/blas_real.h"
#include "preload/blas/cublas.h"
#include "preload/blas/onednn.h"

#include "collector/session/thread.h"
#include "collector/system/loader.h"
#include "collector/system/log.h"
#include "preload/process/quiet.h"
#include <dlfcn.h>
#include <link.h>
#include <string.h>

struct blas_caller blas_callers[BLAS_CALLERS_MAX];

const char blas_words[][BLAS_WORD_BYTES] = {
#define X(name, how, op, type, words) #name,
	BLAS_WRAPPED_FUNCTIONS(X)
#undef X
};

/* Where the linker put this library. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

/* One entry of the loader's list. */
struct file {
	uintptr_t address; /* wanted */
	uintptr_t start, end;
	const char *path;
};

static int file_holds(struct dl_phdr_info *info, size_t bytes, void *arg)
{
	struct file *file = arg;
	uintptr_t start = UINTPTR_MAX, end = 0;

	(void)bytes;
	for (unsigned int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		const uintptr_t at = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type != PT_LOAD)
			continue;
		start = at < start ? at : start;
		end = at + segment->p_memsz > end ? at + segment->p_memsz : end;
	}
	if (file->address < start || file->address >= end)
		return 0;
	file->start = start;
	file->end = end;
	file->path = info->dlpi_name;
	return 1;
}

/* A program may ask for a weak function's address before it calls it, and find
 * ours though nobody has it. */
static uint64_t nobodys(void)
{
	static _Atomic bool is_said;

	if (!atomic_exchange_explicit(&is_said, true, memory_order_relaxed))
		log_trouble("a BLAS function was called that no library has; "
			    "nothing was computed");
	return 0;
}

static bool is_ours(const void *found)
{
	return (uintptr_t)found - (uintptr_t)__ehdr_start <
	       (uintptr_t)(_end - __ehdr_start);
}

/* As the loader would have bound the name: by the global scope, then by the
 * calling file's own libraries. */
static void *look_up(enum blas_function function, const struct file *file)
{
	void *found = dlsym(RTLD_NEXT, blas_words[function]);
	void *own;

	if (found && !is_ours(found))
		return found;
	own = dlopen(file->path, RTLD_LAZY | RTLD_NOLOAD);
	if (!own)
		return NULL;
	found = dlsym(own, blas_words[function]);
	dlclose(own);
	return found && !is_ours(found) ? found : NULL;
}

/* The place of a file that calls for the first time; NULL there is none. */
static struct blas_caller *make(const struct file *file)
{
	for (uint32_t i = 0; i < BLAS_CALLERS_MAX; i++) {
		struct blas_caller *caller = &blas_callers[i];
		uintptr_t nobody = 0;

		if (!atomic_compare_exchange_strong_explicit(
			    &caller->start, &nobody, 1, memory_order_relaxed,
			    memory_order_relaxed))
			continue;
		for (size_t at = 0; at < BLAS_FUNCTION_COUNT; at++)
			store_relaxed(&caller->real[at], NULL);
		store_relaxed(&caller->bytes, file->end - file->start);
		/* RELEASE pairs with ACQUIRE in blas_real(), caller_of(). */
		store_release(&caller->start, file->start);
		return caller;
	}
	return NULL;
}

static struct blas_caller *caller_of(uintptr_t address)
{
	for (uint32_t i = 0; i < BLAS_CALLERS_MAX; i++) {
		struct blas_caller *caller = &blas_callers[i];
		/* ACQUIRE pairs with RELEASE in make(): how long it is. */
		const uintptr_t start = load_acquire(&caller->start);

		if (start > 1 && address - start < load_relaxed(&caller->bytes))
			return caller;
	}
	return NULL;
}

static COLD void *find_new(enum blas_function function, uintptr_t address,
			   struct blas_caller *caller)
{
	const struct quiet quiet = quiet_begin();
	const bool keeps_forks_out = loader_enter();
	struct file file = {.address = address};
	void *found;

	if (dl_iterate_phdr(file_holds, &file) && !caller)
		caller = make(&file);
	found = look_up(function, &file);
	if (found && caller)
		store_relaxed(&caller->real[function], found);
	if (keeps_forks_out)
		loader_leave();
	quiet_end(&quiet);
	return found ? found : (void *)nobodys;
}

void *blas_real_find(enum blas_function function, uintptr_t address)
{
	struct blas_caller *caller = caller_of(address);
	void *real = caller ? load_relaxed(&caller->real[function]) : NULL;

	return likely(real) ? real : find_new(function, address, caller);
}

static bool is_loaded(uintptr_t start)
{
	struct file file = {.address = start};

	return dl_iterate_phdr(file_holds, &file) && file.start == start;
}

/* Another may have come to lie where it was before we look; so of all the
 * functions are looked up again. */
COLD void blas_real_closed(void)
{
	struct quiet quiet;
	bool keeps_forks_out;

	if (!load_relaxed(&blas_callers[0].start))
		return;
	quiet = quiet_begin();
	keeps_forks_out = loader_enter();
	for (uint32_t i = 0; i < BLAS_CALLERS_MAX; i++) {
		struct blas_caller *caller = &blas_callers[i];
		const uintptr_t start = load_relaxed(&caller->start);

		if (start <= 1)
			continue;
		for (size_t at = 0; at < BLAS_FUNCTION_COUNT; at++)
			store_relaxed(&caller->real[at], NULL);
		if (is_loaded(start))
			continue;
		/* The first is read without a look at what it was before. */
		store_relaxed(&caller->bytes, 0);
		if (i)
			store_relaxed(&caller->start, 0);
	}
	onednn_closed();
	cublas_closed();
	if (keeps_forks_out)
		loader_leave();
	quiet_end(&quiet);
}
