/* SPDX-License-Identifier: MIT */
/*
 * caching_allocator.c - what PyTorch's allocator hands out on a device.
 *
 * PyTorch gets memory from CUDA in large pieces and keeps it; CUPTI sees only
 * those.  For each block that it hands out or takes back it calls
 * c10::reportMemoryUsageToProfiler() of libc10.so, through its own name, so
 * that ours comes first.  The name says which parameters there are: another
 * version's is not ours.
 *
 * Reports of the host's memory come only while torch.profiler asks for them,
 * and of that the heap's hooks know: they are passed on and not recorded.
 */
#include "preload/cuda/caching_allocator.h"

#include "collector/session/gate.h"
#include "collector/system/clock.h"
#include "collector/system/loader.h"
#include "preload/process/hook.h"
#include "preload/process/quiet.h"
#include "preload/stack/unwind.h"
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>

#define REPORT	 _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE
#define TEXT2(x) #x
#define TEXT(x)	 TEXT2(x)
#define HOST	 0u

/* Two bytes of c10::Device, as a register has them: type, then index. */
typedef void report_function(void *block, int64_t bytes, uint64_t allocated,
			     uint64_t reserved, uint16_t device);

EXPORT report_function REPORT;

static report_function *_Atomic real;

static int look_for_c10(struct dl_phdr_info *info, size_t bytes, void *arg)
{
	const char *slash = strrchr(info->dlpi_name, '/');

	(void)bytes;
	if (strcmp(slash ? slash + 1 : info->dlpi_name, "libc10.so"))
		return 0;
	*(const char **)arg = info->dlpi_name;
	return 1;
}

static int look_for_c10_cuda(struct dl_phdr_info *info, size_t bytes, void *arg)
{
	(void)bytes;
	(void)arg;
	return strstr(info->dlpi_name, "/libc10_cuda.so") != NULL;
}

bool caching_allocator_is_loaded(void)
{
	return dl_iterate_phdr(look_for_c10_cuda, NULL);
}

static void nobody(void *block, int64_t bytes, uint64_t allocated,
		   uint64_t reserved, uint16_t device)
{
	(void)block;
	(void)bytes;
	(void)allocated;
	(void)reserved;
	(void)device;
}

/* Python loads libc10 where RTLD_NEXT doesn't look. */
static COLD report_function *find(void)
{
	const struct quiet quiet = quiet_begin();
	const bool keeps_forks_out = loader_enter();
	const char *path = NULL;
	report_function *found = nobody;
	void *library;

	dl_iterate_phdr(look_for_c10, &path);
	library = path ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	if (library)
		*(void **)&found = dlsym(library, TEXT(REPORT));
	if (!found || found == REPORT)
		found = nobody;
	if (keeps_forks_out)
		loader_leave();
	quiet_end(&quiet);
	store_relaxed(&real, found);
	return found;
}

static COLD void record(void *block, int64_t bytes, uint64_t allocated,
			uint64_t reserved, uint16_t device)
{
	struct session *session = load_relaxed(&session_here);
	const int saved = errno;
	struct thread *thread = hook_thread();
	const uint64_t now = clock_ticks();
	uint32_t stack = 0;

	if (!thread || !session)
		return;
	store_relaxed(&session->head->gpu.has_allocator, 1);
	if (unwind_wants(STACK_CUDA)) {
		thread_fill();
		stack = unwind_take(thread, UNWIND_CUDA_MAX);
		thread_unbusy(thread);
	}
	thread_record(thread, &(struct event){
				      .kind = EVENT_ALLOCATOR,
				      .stack = stack,
				      .device = device,
				      .start_ticks = now,
				      .end_ticks = now,
				      .allocator = {.address = (uintptr_t)block,
						    .bytes = bytes,
						    .allocated = allocated,
						    .reserved = reserved},
			      });
	errno = saved;
}

void REPORT(void *block, int64_t bytes, uint64_t allocated, uint64_t reserved,
	    uint16_t device)
{
	report_function *function = load_relaxed(&real);

	if (unlikely(!function))
		function = find();
	if (unlikely(gate_bits() & GATE_ALLOCATOR) && (device & 0xff) != HOST)
		record(block, bytes, allocated, reserved, device);
	function(block, bytes, allocated, reserved, device);
}

void caching_allocator_range(struct hook_range *range)
{
	range->low = (const char *)(uintptr_t)REPORT;
	range->high = range->low + 1;
}
