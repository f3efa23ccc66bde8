/* SPDX-License-Identifier: MIT */
/*
 * cupti_library.h - the libcupti of this process: which file, which functions.
 *
 * CUPTI is never linked against: it is found when the program initialises CUDA,
 * in the copy that the program has already, else in the one that belongs to the
 * CUDA runtime that it loaded.  One binary serves CUPTI 12 and 13.
 */
#ifndef PRELOAD_CUPTI_LIBRARY_H
#define PRELOAD_CUPTI_LIBRARY_H

#include "collector/system/base.h"

#ifdef HAVE_CUPTI
#include <cupti.h>

/* X(name, needed): those not needed may be missing from older libraries. */
/* clang-format off */
#define CUPTI_FUNCTIONS(X)						\
	X(cuptiGetVersion, 1)						\
	X(cuptiGetCallbackName, 1)					\
	X(cuptiGetResultString, 1)					\
	X(cuptiGetTimestamp, 1)						\
	X(cuptiSubscribe, 1)						\
	X(cuptiSubscribe_v2, 0)						\
	X(cuptiUnsubscribe, 0)						\
	X(cuptiEnableCallback, 1)					\
	X(cuptiEnableDomain, 1)						\
	X(cuptiGetGraphExecId, 0)					\
	X(cuptiSetThreadIdType, 1)					\
	X(cuptiActivityEnable, 1)					\
	X(cuptiActivityDisable, 1)					\
	X(cuptiActivityEnableAndDump, 0)				\
	X(cuptiActivityEnableRuntimeApi, 0)				\
	X(cuptiActivityEnableDriverApi, 0)				\
	X(cuptiActivityEnableAllSyncRecords, 0)				\
	X(cuptiActivityEnableCudaEventDeviceTimestamps, 0)		\
	X(cuptiActivityEnableLatencyTimestamps, 0)			\
	X(cuptiActivityConfigureUnifiedMemoryCounter, 0)		\
	X(cuptiGetContextId, 0)						\
	X(cuptiGetStreamIdEx, 0)					\
	X(cuptiActivityRegisterCallbacks, 1)				\
	X(cuptiActivityRegisterTimestampCallback, 0)			\
	X(cuptiActivitySetAttribute, 1)					\
	X(cuptiActivityGetAttribute, 0)					\
	X(cuptiActivityFlushAll, 1)					\
	X(cuptiActivityGetNextRecord, 1)				\
	X(cuptiActivityGetNumDroppedRecords, 1)
/* clang-format on */

struct cupti_functions {
#define X(function, needed) __typeof__(&function) function;
	CUPTI_FUNCTIONS(X)
#undef X
};

/* Valid after cupti_library_open() gave 0. */
extern struct cupti_functions cupti __attribute__((visibility("hidden")));

/* Finds and opens it, `wanted` or where that is "auto" the likeliest.  0; -ENOENT there is none; -ENOSYS it lacks something.
 * `path` gets what was opened, or what was wrong. */
int cupti_library_open(const char *wanted, char *path, size_t bytes);

/* The loader's, once it is open. */
void *cupti_library_handle(void);

/* Another function of it; NULL it has none. */
void *cupti_library_symbol(const char *name);

/* The name of a tool of NVIDIA's that is in this process and records the GPU
 * itself; NULL none. */
const char *cupti_tools_find(void);

/* What the loaded libcuda says, 13000 for 13.0; 0 none is loaded.  It needs no
 * initialisation, so that it may be asked inside of cuInit(). */
int cupti_library_driver_version(void);

/* The same of a shared CUDA runtime.  It may wait for an initialisation that
 * goes on: not to be called inside of CUDA. */
int cupti_library_runtime_version(void);

/* Calls the driver, so that CUPTI has something to record: how many devices
 * there are, which it knows.  Not to be called inside of cuInit(); one thread
 * at a time. */
void cupti_library_ask_driver(void);

#endif
#endif
