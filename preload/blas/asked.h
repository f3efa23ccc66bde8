/* SPDX-License-Identifier: MIT */
/*
 * asked.h - libraries that are asked what a call of theirs works on.
 *
 * Where a call is given handles, what is behind them the library that made
 * them knows, and says by functions of its own.  A process may hold several
 * under one name: those are asked that lie beside the function that is called.
 */
#ifndef PRELOAD_ASKED_H
#define PRELOAD_ASKED_H

#include "collector/system/base.h"

#define ASKED_LIBRARIES_MAX 4u
#define ASKED_FUNCTIONS_MAX 7u
#define ASKED_PATH_BYTES    512u

struct asked_library {
	const void *_Atomic real; /* NULL free; the rest is constant then */
	bool is_known;
	uintptr_t base;
	char path[ASKED_PATH_BYTES];
	void *function[ASKED_FUNCTIONS_MAX];
};

/* One for each kind of library, zeroed but for the names. */
struct asked_table {
	const char *const *names; /* of the functions that answer */
	uint32_t count, needed;	  /* the first of them must be there */
	struct asked_library libraries[ASKED_LIBRARIES_MAX];
};

/* Copies the functions of the library that `real` lies in to `functions`, in
 * the order of the names, NULL where one isn't needed and isn't there.  False:
 * they aren't known; there may be more libraries than places.  Any thread, in
 * quiet (preload/process/quiet.h). */
bool asked_functions(struct asked_table *table, const void *real,
		     void *functions);

/* A file was closed: another library may come to lie there. */
void asked_closed(struct asked_table *table);

#endif
