/* SPDX-License-Identifier: MIT */
/*
 * ompt_tool.c - OpenMP programs of clang and of Intel's compilers.
 *
 * libomp, and Intel's libiomp5, ask for ompt_start_tool() when they start and
 * then call back what happens.  The events are the same that the wrappers of
 * libgomp make.  Code of gcc's that runs on libomp goes through those wrappers
 * unseen (gomp_is_foreign()), so nothing is recorded twice.
 *
 * That a runtime starts makes no process interesting: its first region does.
 */
#include "preload/ompt/ompt_slice.h"

#include "collector/system/log.h"
#include "preload/process/process.h"
#include <dlfcn.h>
#include <errno.h>

static int initialise(ompt_lookup *lookup, int device, union ompt_word *word)
{
	static const struct {
		enum ompt_callback callback;
		ompt_entry *function;
	} wanted[] = {
		{OMPT_PARALLEL_BEGIN, (ompt_entry *)ompt_parallel_begin},
		{OMPT_PARALLEL_END, (ompt_entry *)ompt_parallel_end},
		{OMPT_IMPLICIT_TASK, (ompt_entry *)ompt_implicit_task},
		{OMPT_TASK_CREATE, (ompt_entry *)ompt_task_create},
		{OMPT_TASK_SCHEDULE, (ompt_entry *)ompt_task_schedule},
		{OMPT_SYNC_REGION, (ompt_entry *)ompt_sync_region},
		{OMPT_SYNC_REGION_WAIT, (ompt_entry *)ompt_sync_region_wait},
		{OMPT_MUTEX_ACQUIRE, (ompt_entry *)ompt_mutex_acquire},
		{OMPT_MUTEX_ACQUIRED, (ompt_entry *)ompt_mutex_acquired},
		{OMPT_MUTEX_RELEASED, (ompt_entry *)ompt_mutex_released},
		{OMPT_WORK, (ompt_entry *)ompt_work},
	};
	ompt_set_callback *set =
		(ompt_set_callback *)lookup("ompt_set_callback");

	(void)device;
	(void)word;
	if (!set)
		return 0;
	ompt_parallel_info =
		(ompt_get_parallel_info *)lookup("ompt_get_parallel_info");
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
		set(wanted[i].callback, wanted[i].function);
	return 1;
}

static void finalise(union ompt_word *word)
{
	(void)word;
}

/* A tool of the program's own, behind us: only one can be started. */
static struct ompt_tool *other_tool(unsigned int version, const char *runtime)
{
	typedef struct ompt_tool *start_tool(unsigned int, const char *);
	struct thread *was = thread_busy();
	start_tool *start = (start_tool *)dlsym(RTLD_NEXT, "ompt_start_tool");

	thread_unbusy(was);
	return start ? start(version, runtime) : NULL;
}

struct ompt_tool *ompt_start_tool(unsigned int version, const char *runtime);

EXPORT struct ompt_tool *ompt_start_tool(unsigned int version,
					 const char *runtime)
{
	static struct ompt_tool tool = {.initialise = initialise,
					.finalise = finalise};
	const int saved = errno;
	struct ompt_tool *other = other_tool(version, runtime);
	uint32_t bits = gate_bits();

	if (bits == GATE_UNDECIDED)
		bits = life_decide();
	errno = saved;
	if (other) {
		if (bits & (GATE_OMP | GATE_OMP_MARK | GATE_OMP_WATCH))
			log_say("OpenMP of %s is not recorded: another tool "
				"has taken its interface",
				runtime ? runtime : "this runtime");
		return other;
	}
	if (bits == GATE_CLOSED || !process.options.openmp)
		return NULL;
	return &tool;
}
