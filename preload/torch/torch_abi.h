/* SPDX-License-Identifier: MIT */
/*
 * torch_abi.h - what PyTorch's library fixes for those that observe operators
 * (ATen/record_function.h), as C sees it.
 *
 * Our own declarations of what has been so from 2.0 to 2.15; torch_library.c
 * proves them in each process before they are used.
 */
#ifndef PRELOAD_TORCH_ABI_H
#define PRELOAD_TORCH_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TORCH_SCOPES	     10
#define TORCH_SCOPE_BACKWARD 1u
#define TORCH_SCOPE_USER     7u

/* at::RecordFunctionCallback.  Larger than two words, it is passed in memory.
 * `start` returns a unique_ptr, which the caller keeps the place for. */
struct torch_callback {
	void *(*start)(void **context, const void *record);
	void (*end)(const void *record, void *context);
	double probability;
	bool scopes[TORCH_SCOPES];
	bool needs_inputs;
	bool needs_outputs;
	bool needs_ids;
};

_Static_assert(sizeof(struct torch_callback) == 40, "RecordFunctionCallback");

/* std::variant of a view of characters and a reference to a schema. */
struct torch_name {
	size_t len;
	const char *text;
	unsigned char which; /* 0: it is the view */
};

/* std::vector, and std::string as it is inside and as it was before C++11. */
struct torch_vector {
	char *begin, *end, *room;
};

struct torch_string {
	char *text;
	size_t len;
	char small[16];
};

/* at::ObserverContext: destroyed by the second entry of its table. */
struct torch_context {
	void (*const *table)(void *self);
	uint64_t range; /* of one that ends on another thread */
};

#endif
