/* SPDX-License-Identifier: MIT */
/*
 * itt_abi.h - what ittnotify fixes between a program's own copy of it and the
 * collector that the copy loads.
 *
 * Our own declarations, so that no headers of ittnotify are needed; on Linux,
 * of 64 bits.
 */
#ifndef PRELOAD_ITT_ABI_H
#define PRELOAD_ITT_ABI_H

#include <stddef.h>
#include <stdint.h>

/* One function of the interface: setting *function is all that it takes. */
struct itt_function {
	const char *name; /* the last one has none */
	void **function;
	void *at_first;
	void *none;
	int group;
};

/* The copy's state; older ones end before the lists. */
struct itt_global {
	unsigned char magic[8];
	unsigned long version_major;
	unsigned long version_minor;
	unsigned long version_build;
	long is_initialized;
	long has_mutex;
	long atomic_counter;
	uint64_t mutex[5]; /* pthread_mutex_t */
	void *library;
	void *error_handler;
	const char **path;
	struct itt_function *functions;
};

#define ITT_MAGIC                                                              \
	{                                                                      \
		0xED, 0xAB, 0xAB, 0xEC, 0x0D, 0xEE, 0xDA, 0x30                 \
	}

struct itt_domain {
	int flags; /* 0: the program's calls stop at it */
	const char *name;
	void *wide;
	int is_made; /* this and the next are the collector's */
	void *ours;
	void *next;
};

struct itt_string {
	const char *text;
	void *wide;
	int extra;
	void *ours;
	void *next;
};

/* Passed by value. */
struct itt_id {
	unsigned long long d1, d2, d3;
};

enum itt_type {
	ITT_TYPE_UNKNOWN,
	ITT_TYPE_U64,
	ITT_TYPE_S64,
	ITT_TYPE_U32,
	ITT_TYPE_S32,
	ITT_TYPE_U16,
	ITT_TYPE_S16,
	ITT_TYPE_FLOAT,
	ITT_TYPE_DOUBLE
};

#endif
