/* SPDX-License-Identifier: MIT */
/*
 * cupti_launch_names.c - names of kernels whose library may be unloaded.
 *
 * CUPTI keeps a kernel's name by the place of its code.  What is loaded where
 * another one was unloaded has that one's name in its records, however often
 * they are flushed (13.0 on an H100); callbacks have the right one.  So from
 * the first unloading on launches are called back for, and a kernel's name is
 * that which its launch had.  The helper turns that on while the first
 * unloading waits a little, before the place is free; if in vain, that is said.
 */
#ifdef HAVE_CUPTI

#include "preload/cuda/cupti_pinned.h"
#include "preload/cuda/cupti_record.h"
#include "preload/cuda/cupti_source.h"

#include "collector/session/gate.h"
#include "collector/session/names.h"
#include "collector/system/cupti_versions.h"

#define LAUNCHES 65536u

static const struct {
	CUpti_CallbackDomain domain;
	CUpti_CallbackId number;
} unloads[] = {
	/* clang-format off */
	{CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuModuleUnload},
	{CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLibraryUnload},
	/* cudaLibraryUnload(), of 12.6: no older header has it. */
	{CUPTI_CB_DOMAIN_RUNTIME_API, 472},
	/* clang-format on */
};

_Atomic bool cupti_launch_names_wanted;

/* By the call's number: that above the name. */
static _Atomic uint64_t launched[LAUNCHES];

void cupti_launch_names_start(void *subscriber)
{
	for (size_t i = 0; i < sizeof(unloads) / sizeof(unloads[0]); i++)
		cupti_memory_call_on(subscriber, unloads[i].domain,
				     unloads[i].number, CUPTI_UNLOADED);
}

void cupti_launch_names_unloaded(void)
{
	if (!cupti_has(CUPTI_DEFECT_OLD_NAMES) ||
	    atomic_exchange_explicit(&cupti_launch_names_wanted, true,
				     memory_order_relaxed))
		return;
	/* Once, in the first unloading. */
	if (!cupti_callbacks_await_names())
		session_note(load_relaxed(&session_here),
			     "kernels that are launched right after the first "
			     "unloading of a library may have its names");
}

void cupti_launch_names_note(uint32_t correlation, const char *symbol)
{
	struct session *session = load_relaxed(&session_here);

	if (!symbol || !session || !(gate_bits() & GATE_RECORD_BITS))
		return;
	store_relaxed(&launched[correlation % LAUNCHES],
		      (uint64_t)correlation << 32 |
			      names_intern_symbol(session, symbol));
}

uint32_t cupti_launch_names_of(uint32_t correlation)
{
	const uint64_t found = load_relaxed(&launched[correlation % LAUNCHES]);

	return found >> 32 == correlation ? (uint32_t)found : 0;
}

void cupti_launch_names_forget(void)
{
	if (!load_relaxed(&cupti_launch_names_wanted))
		return;
	store_relaxed(&cupti_launch_names_wanted, false);
	for (uint32_t i = 0; i < LAUNCHES; i++)
		store_relaxed(&launched[i], 0);
}

#endif
