/* SPDX-License-Identifier: MIT */
/*
 * cupti_hooks.c - in front of those functions of CUPTI by which another client
 * takes it over.
 *
 * Each tells preload/cuda/cupti_neighbour.c and goes on to the libcupti that
 * the calling file was linked with.  Our own calls don't come here.  Who looks
 * in libcupti alone, by dlopen() and dlsym() as JAX's profiler does, would come
 * past them: where CUPTI is ours that library's own table of symbols, in this
 * process's memory, leads here.  What was looked up before goes past as ever.
 *
 * Only names that every CUPTI has: of newer ones a program asks whether they
 * are there, and these would always be.
 */
#include "preload/cuda/cupti_neighbour.h"

#ifdef HAVE_CUPTI

#include "collector/system/loader.h"
#include "collector/system/page_size.h"
#include "preload/cuda/cupti_source.h"
#include "preload/process/object_tables.h"
#include "preload/process/quiet.h"
#include <dlfcn.h>
#include <elf.h>
#include <string.h>
#include <sys/mman.h>

/* X(name): the functions that have a hook. */
/* clang-format off */
#define CUPTI_HOOKED(X)							\
	X(cuptiSubscribe)						\
	X(cuptiUnsubscribe)						\
	X(cuptiActivityRegisterTimestampCallback)			\
	X(cuptiActivityRegisterCallbacks)				\
	X(cuptiActivityEnable)						\
	X(cuptiActivityDisable)						\
	X(cuptiFinalize)
/* clang-format on */

enum hooked {
#define X(name) AT_##name,
	CUPTI_HOOKED(X)
#undef X
		HOOKED
};

static const char words[][48] = {
#define X(name) #name,
	CUPTI_HOOKED(X)
#undef X
};

/* Where they are; NULL the table has the library's own. */
static void *_Atomic originals[HOOKED];

struct place {
	uintptr_t base;
	struct object_tables tables;
	int protection; /* of the part that holds the symbols */
};

static int part_protection(const struct dl_phdr_info *file, uintptr_t at)
{
	for (int i = 0; i < file->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &file->dlpi_phdr[i];

		if (part->p_type == PT_LOAD &&
		    at - file->dlpi_addr - part->p_vaddr < part->p_memsz)
			return (part->p_flags & PF_R ? PROT_READ : 0) |
			       (part->p_flags & PF_W ? PROT_WRITE : 0) |
			       (part->p_flags & PF_X ? PROT_EXEC : 0);
	}
	return 0;
}

static int look(struct dl_phdr_info *file, size_t bytes, void *arg)
{
	struct place *place = arg;

	(void)bytes;
	if (file->dlpi_addr != place->base)
		return 0;
	object_tables_of(file, &place->tables);
	if (place->tables.symbols)
		place->protection =
			part_protection(file, (uintptr_t)place->tables.symbols);
	return 1;
}

static int hooked(const char *name)
{
	for (int i = 0; i < HOOKED; i++) {
		if (!strcmp(name, words[i]))
			return i;
	}
	return -1;
}

static void lead(const struct place *place, ElfW(Sym) * symbol, uint32_t count)
{
	void *const hooks[HOOKED] = {
#define X(name) [AT_##name] = (void *)name,
		CUPTI_HOOKED(X)
#undef X
	};

	for (ElfW(Sym) *end = symbol + count; symbol < end; symbol++) {
		int at;

		if (!symbol->st_shndx || !symbol->st_value)
			continue;
		at = hooked(place->tables.strings + symbol->st_name);
		if (at < 0)
			continue;
		/* RELEASE pairs with ACQUIRE in led_from():
		 * before anybody can be led here. */
		atomic_store_explicit(&originals[at],
				      (void *)(place->base + symbol->st_value),
				      memory_order_release);
		symbol->st_value = (uintptr_t)hooks[at] - place->base;
	}
}

bool cupti_hooks_lead(void *handle)
{
	struct link_map *map = NULL;
	struct place place = {0};
	uintptr_t from, bytes;
	ElfW(Sym) * symbols;
	uint32_t count;

	if (dlinfo(handle, RTLD_DI_LINKMAP, &map) || !map->l_addr)
		return false;
	place.base = map->l_addr;
	if (!dl_iterate_phdr(look, &place) || !place.protection ||
	    !place.tables.strings || !place.tables.hash)
		return false;
	symbols = (ElfW(Sym) *)(uintptr_t)place.tables.symbols;
	count = object_tables_symbols(place.tables.hash);
	from = page_of((uintptr_t)symbols);
	bytes = align_up((uintptr_t)(symbols + count), page_bytes()) - from;
	if (mprotect((void *)from, bytes, place.protection | PROT_WRITE))
		return false;
	lead(&place, symbols, count);
	mprotect((void *)from, bytes, place.protection);
	return true;
}

static void *led_from(const char *name)
{
	const int at = hooked(name);

	/* ACQUIRE pairs with RELEASE in lead(). */
	return at < 0 ? NULL
		      : atomic_load_explicit(&originals[at],
					     memory_order_acquire);
}

/* --- what a hook goes on to ----------------------------------------------- */

/* What a look-up found; where that library's table leads here, its own. */
static void *unled(void *found, const char *name, const void *self)
{
	return found == self ? led_from(name) : found;
}

/* As the loader would have bound the caller: by its own libraries, else by the
 * next in the global scope, else whichever is there. */
static void *find(uintptr_t caller, const char *name, const void *self)
{
	static const char *const loaded[] = {"libcupti.so.13",
					     "libcupti.so.12"};
	void *own, *found = NULL;
	Dl_info info = {0};

	/* The program itself has another name there, and finds the next. */
	if (dladdr((void *)caller, &info) && info.dli_fname) {
		own = dlopen(info.dli_fname,
			     RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
		found = own ? dlsym(own, name) : NULL;
	}
	/* A program's own handle stands for the global scope: we are in it. */
	if (!found || found == self)
		found = unled(dlsym(RTLD_NEXT, name), name, self);
	for (int i = 0; i < 2 && !found; i++) {
		own = dlopen(loaded[i], RTLD_LAZY | RTLD_NOLOAD);
		found = own ? unled(dlsym(own, name), name, self) : NULL;
	}
	return found ? found : led_from(name);
}

static COLD void *original(uintptr_t caller, const char *name, const void *self)
{
	const struct quiet quiet = quiet_begin();
	const bool keeps_forks_out = loader_enter();
	void *found = find(caller, name, self);

	if (keeps_forks_out)
		loader_leave();
	quiet_end(&quiet);
	return found;
}

#define CALLER ((uintptr_t)__builtin_return_address(0))
#define ORIGINAL(name)                                                         \
	__typeof__(&name) real = NULL;                                         \
                                                                               \
	*(void **)(void *)&real = original(CALLER, #name, (void *)name);       \
	if (!real)                                                             \
	return CUPTI_ERROR_NOT_INITIALIZED

EXPORT CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *subscriber,
				  CUpti_CallbackFunc callback, void *argument)
{
	CUptiResult result;

	ORIGINAL(cuptiSubscribe);
	cupti_neighbour_comes(true);
	result = real(subscriber, callback, argument);
	if (result == CUPTI_SUCCESS)
		cupti_neighbour_subscribed(true);
	cupti_neighbour_is_done();
	return result;
}

EXPORT CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle subscriber)
{
	CUptiResult result;

	ORIGINAL(cuptiUnsubscribe);
	result = real(subscriber);
	if (result == CUPTI_SUCCESS)
		cupti_neighbour_subscribed(false);
	return result;
}

EXPORT CUptiResult
cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc clock)
{
	CUptiResult result;

	ORIGINAL(cuptiActivityRegisterTimestampCallback);
	cupti_neighbour_comes(false);
	result = real(clock);
	cupti_neighbour_timed(clock);
	cupti_neighbour_is_done();
	return result;
}

EXPORT CUptiResult
cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
			       CUpti_BuffersCallbackCompleteFunc complete)
{
	CUptiResult result;

	ORIGINAL(cuptiActivityRegisterCallbacks);
	cupti_neighbour_comes(false);
	cupti_neighbour_registered(request, complete);
	result = real(request, complete);
	cupti_neighbour_is_done();
	return result;
}

EXPORT CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind)
{
	CUptiResult result;

	ORIGINAL(cuptiActivityEnable);
	cupti_neighbour_comes(false);
	result = real(kind);
	if (result == CUPTI_SUCCESS)
		cupti_neighbour_turned(kind, true);
	cupti_neighbour_is_done();
	return result;
}

EXPORT CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind)
{
	ORIGINAL(cuptiActivityDisable);
	cupti_neighbour_turned(kind, false);
	return real(kind);
}

EXPORT CUptiResult cuptiFinalize(void)
{
	CUptiResult result;

	ORIGINAL(cuptiFinalize);
	cupti_neighbour_comes(true);
	result = real();
	cupti_neighbour_finalised();
	cupti_neighbour_is_done();
	return result;
}

/* Names that the loader need not look up. */
#define X(name)                                                                \
	extern __typeof__(name) own_##name                                     \
		__attribute__((alias(#name), visibility("hidden")));
CUPTI_HOOKED(X)
#undef X

void cupti_hooks_range(struct hook_range *range)
{
	uintptr_t low = UINTPTR_MAX, high = 0;

#define X(name)                                                                \
	low = min_u64(low, (uintptr_t)own_##name);                             \
	high = max_u64(high, (uintptr_t)own_##name);
	CUPTI_HOOKED(X)
#undef X
	range->low = (const char *)low;
	range->high = (const char *)high + 1;
}

#endif
