/* SPDX-License-Identifier: MIT */
/*
 * nvtx_abi.h - what NVTX 3 fixes between a program and the library that it
 * loads as its injection.
 *
 * Our own declarations, so that no CUDA headers are needed;
 * tests/programs/nvtx/calls.c compares them with the real ones.
 */
#ifndef PRELOAD_NVTX_ABI_H
#define PRELOAD_NVTX_ABI_H

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

/* What a program hands over: a table by number. */
typedef const void *nvtx_export(uint32_t table);

#define NVTX_EXPORT_CALLBACKS 1u

typedef void nvtx_function(void);

struct nvtx_callbacks {
	size_t bytes;
	/* The slots of one module: pointers to the program's pointers, by
	 * callback number.  Non-zero: it has them. */
	int (*module_functions)(unsigned int module, nvtx_function ****slots,
				unsigned int *count);
};

enum nvtx_module {
	NVTX_CORE = 1,
	NVTX_CUDA = 2,
	NVTX_CUDA_RUNTIME = 4,
	NVTX_CORE2 = 5
};

/* Callback numbers. */
enum nvtx_core {
	NVTX_MARK_EX = 1,
	NVTX_MARK_A,
	NVTX_MARK_W,
	NVTX_RANGE_START_EX,
	NVTX_RANGE_START_A,
	NVTX_RANGE_START_W,
	NVTX_RANGE_END,
	NVTX_RANGE_PUSH_EX,
	NVTX_RANGE_PUSH_A,
	NVTX_RANGE_PUSH_W,
	NVTX_RANGE_POP,
	NVTX_NAME_CATEGORY_A,
	NVTX_NAME_CATEGORY_W,
	NVTX_NAME_THREAD_A,
	NVTX_NAME_THREAD_W,
};

enum nvtx_core2 {
	NVTX_DOMAIN_MARK_EX = 1,
	NVTX_DOMAIN_RANGE_START_EX,
	NVTX_DOMAIN_RANGE_END,
	NVTX_DOMAIN_RANGE_PUSH_EX,
	NVTX_DOMAIN_RANGE_POP,
	NVTX_DOMAIN_RESOURCE_CREATE,
	NVTX_DOMAIN_RESOURCE_DESTROY,
	NVTX_DOMAIN_NAME_CATEGORY_A,
	NVTX_DOMAIN_NAME_CATEGORY_W,
	NVTX_DOMAIN_REGISTER_A,
	NVTX_DOMAIN_REGISTER_W,
	NVTX_DOMAIN_CREATE_A,
	NVTX_DOMAIN_CREATE_W,
	NVTX_DOMAIN_DESTROY,
	NVTX_INITIALISE,
};

enum nvtx_cuda {
	NVTX_NAME_STREAM_A = 5,
	NVTX_NAME_STREAM_W = 6,
	NVTX_NAME_EVENT_A = 7,
	NVTX_NAME_EVENT_W = 8,
};

enum nvtx_cuda_runtime {
	NVTX_NAME_RUNTIME_STREAM_A = 3,
	NVTX_NAME_RUNTIME_STREAM_W = 4,
	NVTX_NAME_RUNTIME_EVENT_A = 5,
	NVTX_NAME_RUNTIME_EVENT_W = 6,
};

enum nvtx_message { NVTX_ASCII = 1, NVTX_UNICODE = 2, NVTX_REGISTERED = 3 };
enum nvtx_colour { NVTX_ARGB = 1 };

/* nvtxEventAttributes_t */
struct nvtx_event {
	uint16_t version;
	uint16_t size;
	uint32_t category;
	int32_t colour_type;
	uint32_t colour;
	int32_t payload_type;
	int32_t reserved;
	uint64_t payload; /* of the type's own width */
	int32_t message_type;
	union {
		const char *ascii;
		const wchar_t *unicode;
		const struct nvtx_string *registered;
	} message;
};

_Static_assert(sizeof(struct nvtx_event) == 48, "nvtxEventAttributes_t");

/* What a push returns where nothing counts levels. */
#define NVTX_NO_TRACKING (-2)

#endif
