/* SPDX-License-Identifier: MIT */
/* asked.c - finds the functions that answer; see asked.h. */
#include "preload/blas/asked.h"

#include "collector/system/loader.h"
#include <dlfcn.h>
#include <link.h>
#include <string.h>

/* What a place holds while nobody may look: no function lies there. */
#define BEING_FILLED ((const void *)1)

static bool look_up(const struct asked_table *table, const void *real,
		    struct asked_library *library)
{
	struct link_map *map = NULL;
	uint32_t found = 0;
	void *handle;
	Dl_info info;

	if (!dladdr1(real, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
		return false;
	handle = dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
	if (!handle || strlen(map->l_name) >= ASKED_PATH_BYTES)
		return false;
	library->base = map->l_addr;
	strcpy(library->path, map->l_name);
	for (uint32_t i = 0; i < table->count; i++) {
		library->function[i] = dlsym(handle, table->names[i]);
		found += i < table->needed && library->function[i];
	}
	dlclose(handle);
	dlerror();
	return found == table->needed;
}

static bool is_where_it_was(const struct asked_library *library,
			    const void *real)
{
	struct link_map *map = NULL;
	Dl_info info;

	return dladdr1(real, &info, (void **)&map, RTLD_DL_LINKMAP) && map &&
	       map->l_addr == library->base &&
	       !strcmp(map->l_name, library->path);
}

static COLD void fill(const struct asked_table *table, const void *real,
		      struct asked_library *library)
{
	const bool keeps_forks_out = loader_enter();

	library->is_known = look_up(table, real, library);
	if (keeps_forks_out)
		loader_leave();
	/* RELEASE pairs with ACQUIRE in library_of(). */
	store_release(&library->real, real);
}

/* NULL: there is no place for it. */
static const struct asked_library *library_of(struct asked_table *table,
					      const void *real)
{
	for (uint32_t i = 0; i < ASKED_LIBRARIES_MAX; i++) {
		struct asked_library *library = &table->libraries[i];
		/* ACQUIRE pairs with RELEASE in fill(): its functions. */
		const void *seen = load_acquire(&library->real);

		if (seen == real)
			return library;
		if (!seen &&
		    atomic_compare_exchange_strong_explicit(
			    &library->real, &seen, BEING_FILLED,
			    memory_order_relaxed, memory_order_relaxed)) {
			fill(table, real, library);
			return library;
		}
	}
	return NULL;
}

bool asked_functions(struct asked_table *table, const void *real,
		     void *functions)
{
	const struct asked_library *library = library_of(table, real);

	if (!library || !library->is_known)
		return false;
	memcpy(functions, library->function,
	       table->count * sizeof(library->function[0]));
	return true;
}

/* A place is never filled again: somebody may be reading it. */
COLD void asked_closed(struct asked_table *table)
{
	for (uint32_t i = 0; i < ASKED_LIBRARIES_MAX; i++) {
		struct asked_library *library = &table->libraries[i];
		/* ACQUIRE pairs with RELEASE in fill(): where it lies. */
		const void *real = load_acquire(&library->real);

		if (real && real != BEING_FILLED &&
		    !is_where_it_was(library, real))
			store_relaxed(&library->real, BEING_FILLED);
	}
}
