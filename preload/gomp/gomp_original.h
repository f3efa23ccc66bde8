/* SPDX-License-Identifier: MIT */
/*
 * gomp_original.h - which libgomp a caller means.
 *
 * A process may hold several: the system's, torch's own copy, scikit-learn's,
 * most of them loaded RTLD_LOCAL, where RTLD_NEXT doesn't find them.  A region
 * that one of them runs while another answers omp_get_thread_num() computes
 * wrong results.  So the original is looked up once for each calling file, as
 * the loader would have bound that file without us:
 *
 *	1. to the library that the file's other calls (omp_get_thread_num(),
 *	   say) are bound to already; that takes no lock of the loader's
 *	2. to the next definition in the global scope
 *	3. to the one in the file's own scope
 *
 * Tables only grow.  Entries of files that are closed are marked when
 * dlclose() returns, and found no more.
 */
#ifndef PRELOAD_GOMP_ORIGINAL_H
#define PRELOAD_GOMP_ORIGINAL_H

#include "preload/gomp/gomp_wrapped.h"

struct symbols;

/* A loaded file from which libgomp is called. */
struct gomp_object {
	uintptr_t start, end; /* of all its segments */
	uintptr_t base;	      /* address minus ELF virtual address */
	const char *path;     /* the loader's; valid while it is loaded */
	struct gomp_library *library;		/* NULL: it has none */
	const struct gomp_locks *_Atomic locks; /* NULL not yet asked */
	_Atomic(struct symbols *) symbols;	/* NULL not yet opened */
	_Atomic bool is_known;
	_Atomic bool is_gone;
};

/* The file that holds an address; &gomp_nowhere for code outside all files and
 * when the table is full.  Cold: may take the loader's lock. */
struct gomp_object *gomp_object_of(uintptr_t address);
extern struct gomp_object gomp_nowhere;

/* The library for a caller that tells nothing: the global scope's, else the
 * only one there is, else a team of one. */
struct gomp_library *gomp_library_any(void);

/* The locks that a file's calls mean, found in the same way: by those that are
 * bound already, since each lock was made by such a call.  Cold. */
const struct gomp_locks *gomp_locks_find(struct gomp_object *object);

static inline const struct gomp_locks *gomp_locks(struct gomp_object *object)
{
	/* ACQUIRE pairs with RELEASE in gomp_locks_find(). */
	const struct gomp_locks *locks = load_acquire(&object->locks);

	return likely(locks) ? locks : gomp_locks_find(object);
}

/* The linker's: where our own file begins and ends in memory. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

/* True for addresses in our own code. */
static inline bool gomp_is_ours(uintptr_t address)
{
	return address - (uintptr_t)__ehdr_start <
	       (uintptr_t)_end - (uintptr_t)__ehdr_start;
}

static inline bool gomp_object_holds(const struct gomp_object *object,
				     uintptr_t address)
{
	return address - object->start < object->end - object->start;
}

#endif
