/* SPDX-License-Identifier: MIT */
/*
 * gomp_site.h - what is known of one call to libgomp, by its return address.
 *
 * Made at the first call (cold), found by hash afterwards: which library the
 * call belongs to, what code names it, whether it begins a step.
 *
 * Compilers turn the last call of a function into a jump.  Then the return
 * address is that of the function's own caller, perhaps in another file with
 * another libgomp; `void f() { #pragma omp critical ... }` does so.  A region
 * and a task tell their file by the outlined function; for others the code in
 * front of the return address says whether it is the call or not.
 */
#ifndef PRELOAD_GOMP_SITE_H
#define PRELOAD_GOMP_SITE_H

#include "collector/session/thread.h"
#include "preload/gomp/gomp_original.h"

#define GOMP_SITE_SLOTS 16384u /* a power of two */

/* Answers that are looked up once. */
enum gomp_step { GOMP_STEP_UNKNOWN, GOMP_STEP_NO, GOMP_STEP_YES };

/* Never changed once published, but for the answers. */
struct gomp_site {
	uintptr_t address;	      /* the return address */
	uintptr_t function;	      /* the outlined function, 0 none */
	struct gomp_library *library; /* NULL: can't be told from here */
	uint64_t code; /* names the call; 0: what encloses it does */
	struct gomp_object *object;  /* gone: so is this */
	_Atomic uint32_t step;	     /* enum gomp_step */
	_Atomic uint32_t body_steps; /* likewise, by the outlined function */
	_Atomic uint32_t outlined;   /* likewise */
	_Atomic uint32_t is_static;  /* likewise */
};

extern struct gomp_site *_Atomic gomp_sites[GOMP_SITE_SLOTS];

/* The library that this thread called last, for the calls that don't tell.
 * Regions put back what it was. */
extern _Thread_local struct gomp_library *gomp_last;

/* The site in its hash's slot or near it; made if need be.  Cold. */
struct gomp_site *gomp_site_find(uintptr_t address, uintptr_t function);

/* The library when the site doesn't tell. */
struct gomp_library *gomp_site_guess(const struct gomp_site *site);

/* True if the function that encloses the call begins a step, or the one that
 * `outlined` was made of: the call may be inlined in another. */
bool gomp_site_steps(struct gomp_site *site, uint64_t outlined);

/* True if the code lies in a region's body that clang made a function without
 * a name of its own. */
bool gomp_site_is_outlined(struct gomp_site *site);

/* True if it is a call that begins a loop with a static schedule. */
bool gomp_site_is_static(struct gomp_site *site);

static inline uint32_t gomp_site_hash(uintptr_t address, uintptr_t function)
{
	const uint64_t key = (address ^ function << 1) * 0x9e3779b97f4a7c15u;

	return (uint32_t)(key >> 50);
}

_Static_assert(GOMP_SITE_SLOTS == 1u << (64 - 50), "all bits of the hash");

static inline struct gomp_site *gomp_site(const void *return_address,
					  gomp_function *function)
{
	const uintptr_t address = (uintptr_t)return_address;
	const uint32_t hash = gomp_site_hash(address, (uintptr_t)function);
	/* ACQUIRE pairs with RELEASE in gomp_site_find(): it is filled in. */
	struct gomp_site *site = load_acquire(&gomp_sites[hash]);

	if (likely(site && site->address == address &&
		   site->function == (uintptr_t)function &&
		   !load_relaxed(&site->object->is_gone)))
		return site;
	return gomp_site_find(address, (uintptr_t)function);
}

static inline struct gomp_library *gomp_library(const struct gomp_site *site)
{
	struct gomp_library *library = site->library;

	if (unlikely(!library))
		library = gomp_site_guess(site);
	gomp_last = library;
	return library;
}

/* For hooks of one shape, which share their body: where a library keeps the
 * original of an entry point, and who called. */
#define GOMP_HERE(name)                                                        \
	offsetof(struct gomp_library, name), __builtin_return_address(0)

/* That original, of the library that the site's caller means. */
static inline void *gomp_original(const struct gomp_site *site, size_t at)
{
	return *(void *const *)((const char *)gomp_library(site) + at);
}

/* libomp behind libgomp's names: its own tool interface reports it. */
static inline bool gomp_is_foreign(const struct gomp_site *site)
{
	const struct gomp_library *library = site->library;

	return unlikely(library && library->foreign);
}

#endif
