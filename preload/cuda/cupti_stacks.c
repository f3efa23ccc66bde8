/* SPDX-License-Identifier: MIT */
/*
 * cupti_stacks.c - who called CUDA.
 *
 * A stack is taken in CUPTI's callback at the beginning of a call, on the
 * program's thread.  The call's record and those of the memory that it
 * allocates come later, by the same number: until then the stack waits in a
 * table that is overwritten in turn.  What isn't found there any more is
 * counted by who looks for it.
 *
 * Between the program and us lie CUPTI, the driver, a shared runtime, and
 * perhaps PyTorch's allocator.  They are left out, so that a stack begins with
 * the line that called CUDA, as it does without CUPTI.
 */
#ifdef HAVE_CUPTI

#include "preload/cuda/cupti_source.h"

#include "collector/system/loader.h"
#include "preload/cuda/cupti_record.h"
#include "preload/process/hook.h"
#include "preload/process/life.h"
#include "preload/stack/unwind.h"
#include <link.h>
#include <string.h>

/* Calls that are on their way from a callback to the writer. */
#define WAITING 131072u

/* The call's number, and the stack's. */
static _Atomic uint64_t waiting[WAITING];

bool cupti_stacks_want(const char *name)
{
	static const char *const words[] = {
		"Synchronize", "WaitEvent", "Malloc",	    "MemAlloc",
		"Free",	       "HostAlloc", "HostRegister", "HostUnregister",
		"MemCreate",   "MemMap",
	};

	if (cupti_launch_kind(name))
		return true;
	if (strstr(name, "Graph"))
		return false;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strstr(name, words[i]))
			return true;
	}
	return false;
}

static int look_for_cuda(struct dl_phdr_info *info, size_t bytes, void *unused)
{
	static const char *const names[] = {"libcuda.so", "libcudart.so",
					    "libcupti.so", "libc10_cuda.so",
					    "libc10.so"};
	const char *slash = strrchr(info->dlpi_name, '/');
	const char *base = slash ? slash + 1 : info->dlpi_name;
	uintptr_t low = UINTPTR_MAX, high = 0;

	(void)bytes;
	(void)unused;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strncmp(base, names[i], strlen(names[i])))
			continue;
		for (int j = 0; j < info->dlpi_phnum; j++) {
			const ElfW(Phdr) *part = &info->dlpi_phdr[j];
			const uintptr_t at = info->dlpi_addr + part->p_vaddr;

			if (part->p_type != PT_LOAD)
				continue;
			low = min_u64(low, at);
			high = max_u64(high, at + part->p_memsz);
		}
		unwind_skip(low, high);
	}
	return 0;
}

/* Any time: what is known already is not noted twice. */
void cupti_stacks_start(void)
{
	const bool keeps_forks_out = loader_enter();

	dl_iterate_phdr(look_for_cuda, NULL);
	if (keeps_forks_out)
		loader_leave();
}

static _Atomic uint64_t *place_of(uint32_t correlation)
{
	return &waiting[correlation % WAITING];
}

void cupti_stacks_take(const void *data)
{
	const uint32_t correlation =
		((const CUpti_CallbackData *)data)->correlationId;
	_Atomic uint64_t *place = place_of(correlation);
	struct thread *thread;
	uint32_t stack;

	/* The driver's call inside a call of the runtime has its number. */
	if (load_relaxed(place) >> 32 == correlation || !life_is_running())
		return;
	thread = hook_thread_of_any();
	if (!thread)
		return;
	thread_fill();
	stack = unwind_take(thread, UNWIND_CUDA_MAX);
	thread_unbusy(thread);
	if (stack)
		store_relaxed(place, (uint64_t)correlation << 32 | stack);
}

uint32_t cupti_stacks_of(uint64_t correlation)
{
	const uint64_t found = load_relaxed(place_of((uint32_t)correlation));

	return correlation && found >> 32 == (uint32_t)correlation
		       ? (uint32_t)found
		       : 0;
}

void cupti_stacks_forget(void)
{
	for (uint32_t i = 0; i < WAITING; i++) {
		if (load_relaxed(&waiting[i]))
			store_relaxed(&waiting[i], 0);
	}
}

#endif
