/* SPDX-License-Identifier: MIT */
/*
 * torch_library.h - libtorch_cpu's own functions, once it is there, and how its
 * records of operators lie in memory.
 */
#ifndef PRELOAD_TORCH_LIBRARY_H
#define PRELOAD_TORCH_LIBRARY_H

#include "preload/torch/torch_abi.h"

#define TORCH_LIBRARY_NAME "/libtorch_cpu.so" /* the end of its path */

struct torch_library {
	uint64_t (*add_global)(struct torch_callback callback);
	uint64_t (*add_local)(struct torch_callback callback);
	void (*remove)(uint64_t handle);
	void (*enable)(uint64_t handle);
	void (*disable)(uint64_t handle);
	const char *(*name)(const void *record);
	bool (*is_async)(const void *record);
	uint64_t (*thread_id)(void);
	void (*construct)(void *record, uint8_t scope);
	void (*destruct)(void *record);
	void (*before)(void *record, const char *name, int64_t sequence);
	void (*before_view)(void *record, struct torch_name name,
			    int64_t sequence);

	/* For shapes; NULL: this version has none that we know. */
	const char *(*overload)(const void *record);
	void (*sizes)(struct torch_vector *result, const void *record,
		      bool flat);
	void (*types)(struct torch_vector *result, const void *record);
	void (*old_types)(struct torch_vector *result, const void *record);
	void (*release)(void *memory);

	/* For messages between processes; NULL as above. */
	void (*collective)(void *result, const void *record,
			   const void *config);
	void (*old_collective)(void *result, const void *record,
			       const void *config);

	/* Where a record has its members. */
	uint32_t scope_at, thread_at, sequence_at, forward_at;
};

/* Looks at the version beside the library at `path`: NULL, or why it can't be
 * used, in words.  Doesn't go into the loader. */
const char *torch_library_look(const char *path);

/* Fills in the functions of the library at `path`, which is loaded, and proves
 * its layout by a record of our own on this thread.  NULL, or why not. */
const char *torch_library_open(struct torch_library *library, const char *path);

/* Of a process that isn't recorded yet; looks once in some milliseconds of
 * processor time. */
bool torch_is_loaded(uint64_t used_ns);

#endif
