/* SPDX-License-Identifier: MIT */
/*
 * gomp_original.c - finds the libgomp of each calling file, once.
 *
 * Cold code.  It runs with the thread marked busy, so that what the loader
 * allocates is not taken for the program's, and keeps errno.  Nothing is
 * locked: two threads that look for the same file at once both find it, and
 * one entry stays unused.
 *
 * A worker may come here while another thread is inside dlopen() and waits for
 * the region to end (a constructor with a region in it).  So what can be known
 * without the loader's lock is asked first; dl_iterate_phdr() takes a lock that
 * dlopen() doesn't hold while constructors run.
 */
#include "preload/gomp/gomp_original.h"

#include "collector/system/loader.h"
#include "collector/session/thread.h"
#include "preload/gomp/gomp_alone.h"
#include "preload/process/families.h"
#include "preload/process/quiet.h"
#include "preload/stack/callers.h"
#include "preload/stack/unwind.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#define OBJECTS_MAX   1024u
#define LIBRARIES_MAX 64u

static struct gomp_object objects[OBJECTS_MAX];
static _Atomic uint32_t object_count;

static struct gomp_library libraries[LIBRARIES_MAX];
static _Atomic bool library_is_known[LIBRARIES_MAX];
static _Atomic uint32_t library_count;

/* A team of one; complete after the first use of the table. */
static struct gomp_library library_alone;

struct gomp_object gomp_nowhere;

/* --- the files in memory -------------------------------------------------- */

/* One entry of the loader's list. */
struct file {
	uintptr_t address; /* wanted */
	uintptr_t start, end, base;
	const char *path;
	const ElfW(Dyn) * dynamic;
};

static int file_holds(struct dl_phdr_info *info, size_t bytes, void *arg)
{
	struct file *file = arg;

	(void)bytes;
	if (!loader_file_holds(info, file->address, &file->start, &file->end))
		return 0;
	for (unsigned int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type == PT_DYNAMIC)
			file->dynamic = (const ElfW(Dyn) *)(info->dlpi_addr +
							    segment->p_vaddr);
	}
	file->base = info->dlpi_addr;
	file->path = info->dlpi_name;
	return 1;
}

static bool file_find(struct file *file, uintptr_t address)
{
	*file = (struct file){.address = address};
	return dl_iterate_phdr(file_holds, file) == 1;
}

/* --- what a file's calls are bound to ------------------------------------- */

struct file_tables {
	const ElfW(Sym) * symbols;
	const char *strings;
	const ElfW(Rela) * relocations[2];
	size_t bytes[2];
};

/* The loader has turned most of these into addresses, but not on every
 * platform. */
static uintptr_t table_at(const struct file *file, const ElfW(Dyn) * entry)
{
	const uintptr_t at = entry->d_un.d_ptr;

	return at < file->base ? at + file->base : at;
}

static void tables_find(const struct file *file, struct file_tables *tables)
{
	*tables = (struct file_tables){0};
	for (const ElfW(Dyn) *entry = file->dynamic;
	     entry && entry->d_tag != DT_NULL; entry++) {
		switch (entry->d_tag) {
		case DT_SYMTAB:
			tables->symbols = (const void *)table_at(file, entry);
			break;
		case DT_STRTAB:
			tables->strings = (const void *)table_at(file, entry);
			break;
		case DT_JMPREL:
			tables->relocations[0] =
				(const void *)table_at(file, entry);
			break;
		case DT_PLTRELSZ: tables->bytes[0] = entry->d_un.d_val; break;
		case DT_RELA:
			tables->relocations[1] =
				(const void *)table_at(file, entry);
			break;
		case DT_RELASZ: tables->bytes[1] = entry->d_un.d_val; break;
		default: break;
		}
	}
}

/* The functions that a program asks within a region. */
static bool is_asked(const char *name)
{
#define X(returns, asked, alone, parameters, says)                             \
	if (!strcmp(name, #asked))                                             \
		return true;
	GOMP_ASKED(X)
#undef X
	return !strcmp(name, "omp_get_max_threads") ||
	       !strcmp(name, "omp_in_parallel") ||
	       !strcmp(name, "GOMP_loop_end_nowait");
}

static bool is_lock_call(const char *name)
{
	return !strncmp(name, "omp_init_lock", 13) ||
	       !strncmp(name, "omp_unset_lock", 14) ||
	       !strncmp(name, "omp_test_lock", 13) ||
	       !strncmp(name, "omp_destroy_lock", 16);
}

/* An address in the library that the file is bound to, 0 where no such call is
 * bound yet. */
static uintptr_t bound_address(const struct file *file,
			       bool (*is_wanted)(const char *name))
{
	struct file_tables tables;

	tables_find(file, &tables);
	if (!tables.symbols || !tables.strings)
		return 0;
	for (int i = 0; i < 2; i++) {
		const ElfW(Rela) *entry = tables.relocations[i];
		const size_t count = tables.bytes[i] / sizeof(*entry);

		for (size_t j = 0; entry && j < count; j++) {
			const size_t symbol = ELF64_R_SYM(entry[j].r_info);
			uintptr_t target;

			if (!symbol ||
			    !is_wanted(tables.strings +
				       tables.symbols[symbol].st_name))
				continue;
			target = *(const uintptr_t *)(file->base +
						      entry[j].r_offset);
			/* One that isn't bound yet points into its own file. */
			if (target &&
			    target - file->start >= file->end - file->start)
				return target;
		}
	}
	return 0;
}

/* --- libraries ------------------------------------------------------------ */

static int (*real_dlclose)(void *handle);

static void handle_close(void *handle)
{
	if (!real_dlclose)
		real_dlclose = (int (*)(void *))dlsym(RTLD_NEXT, "dlclose");
	if (handle && real_dlclose)
		real_dlclose(handle);
}

static void *handle_open(const char *path)
{
	/* The executable's path is empty; its scope is the global one. */
	return dlopen(path && path[0] ? path : NULL, RTLD_LAZY | RTLD_NOLOAD);
}

/* A definition that is not our own, NULL none. */
static void *look_up(void *handle, const char *name)
{
	void *found = dlsym(handle, name);

	return gomp_is_ours((uintptr_t)found) ? NULL : found;
}

static void locks_look_up(void *handle, bool foreign, struct gomp_locks *locks)
{
	*(void **)&locks->set[GOMP_LOCK_C] = look_up(handle, "omp_set_lock");
	*(void **)&locks->test[GOMP_LOCK_C] = look_up(handle, "omp_test_lock");
	*(void **)&locks->set[GOMP_LOCK_FORTRAN] =
		look_up(handle, "omp_set_lock_");
	*(void **)&locks->test[GOMP_LOCK_FORTRAN] =
		look_up(handle, "omp_test_lock_");
	locks->foreign = foreign || !locks->test[GOMP_LOCK_C] ||
			 !locks->test[GOMP_LOCK_FORTRAN];
}

static struct gomp_library *library_known(uintptr_t base)
{
	const uint32_t count =
		(uint32_t)min_u64(load_relaxed(&library_count), LIBRARIES_MAX);

	for (uint32_t i = 0; i < count; i++)
		/* ACQUIRE pairs with RELEASE in library_make(): its functions
		 * are filled in. */
		if (load_acquire(&library_is_known[i]) &&
		    !load_relaxed(&libraries[i].is_gone) &&
		    libraries[i].base == base)
			return &libraries[i];
	return NULL;
}

static struct gomp_library *library_make(const struct file *file)
{
	struct gomp_library *library;
	uint32_t index;
	void *handle;

	index = add_relaxed(&library_count, 1);
	if (index >= LIBRARIES_MAX)
		return NULL;
	library = &libraries[index];
	library->base = file->base;
	handle = handle_open(file->path);
	if (!handle)
		return NULL;
#define X(returns, name, alone, parameters, says)                              \
	library->name = (returns(*) parameters)look_up(handle, "GOMP_" #name);
	GOMP_WRAPPED(X)
#undef X
#define X(returns, name, alone, parameters, says)                              \
	library->name = (returns(*) parameters)look_up(handle, #name);
	GOMP_ASKED(X)
#undef X
	/* libomp and libiomp5, under whatever file name. */
	library->foreign = look_up(handle, "__kmpc_fork_call") != NULL;
	locks_look_up(handle, library->foreign, &library->locks);
	handle_close(handle);
	if (!library->parallel || !library->barrier)
		return NULL;
	gomp_alone_complete(library);
	/* RELEASE pairs with ACQUIRE in library_known(). */
	store_release(&library_is_known[index], true);
	return library;
}

/* The library that holds an address. */
static struct gomp_library *library_at(uintptr_t address)
{
	struct gomp_library *library;
	struct file file;

	if (!address || !file_find(&file, address))
		return NULL;
	library = library_known(file.base);
	return library ? library : library_make(&file);
}

static struct gomp_library *library_of_file(const struct file *file)
{
	struct gomp_library *library =
		library_at(bound_address(file, is_asked));
	void *handle;
	void *found;

	if (library)
		return library;
	library = library_at((uintptr_t)look_up(RTLD_NEXT, "GOMP_parallel"));
	if (library)
		return library;
	handle = handle_open(file->path);
	if (!handle)
		return NULL;
	found = look_up(handle, "GOMP_parallel");
	library = library_at((uintptr_t)found);
	handle_close(handle);
	return library;
}

COLD struct gomp_library *gomp_library_any(void)
{
	const struct quiet quiet = quiet_begin();
	struct gomp_library *library =
		library_at((uintptr_t)look_up(RTLD_NEXT, "GOMP_parallel"));
	const uint32_t count =
		(uint32_t)min_u64(load_relaxed(&library_count), LIBRARIES_MAX);

	for (uint32_t i = 0; i < count && !library; i++)
		if (load_acquire(&library_is_known[i]) &&
		    !load_relaxed(&libraries[i].is_gone))
			library = &libraries[i];
	if (!library) {
		library = &library_alone;
		gomp_alone_complete(library);
		library->foreign = true;
	}
	quiet_end(&quiet);
	return library;
}

/* --- objects -------------------------------------------------------------- */

static struct gomp_object *object_known(uintptr_t address)
{
	const uint32_t count =
		(uint32_t)min_u64(load_relaxed(&object_count), OBJECTS_MAX);

	for (uint32_t i = 0; i < count; i++)
		/* ACQUIRE pairs with RELEASE in object_make(). */
		if (load_acquire(&objects[i].is_known) &&
		    !load_relaxed(&objects[i].is_gone) &&
		    gomp_object_holds(&objects[i], address))
			return &objects[i];
	return NULL;
}

static struct gomp_object *object_make(uintptr_t address)
{
	struct gomp_object *object;
	struct file file;
	uint32_t index;

	if (!file_find(&file, address) ||
	    load_relaxed(&object_count) >= OBJECTS_MAX)
		return &gomp_nowhere;
	index = add_relaxed(&object_count, 1);
	if (index >= OBJECTS_MAX)
		return &gomp_nowhere;
	object = &objects[index];
	object->start = file.start;
	object->end = file.end;
	object->base = file.base;
	object->path = file.path;
	object->library = library_of_file(&file);
	/* RELEASE pairs with ACQUIRE in object_known(). */
	store_release(&object->is_known, true);
	return object;
}

COLD struct gomp_object *gomp_object_of(uintptr_t address)
{
	struct gomp_object *object = object_known(address);
	bool keeps_forks_out;
	struct quiet quiet;

	if (object)
		return object;
	quiet = quiet_begin();
	keeps_forks_out = loader_enter();
	object = object_make(address);
	if (keeps_forks_out)
		loader_leave();
	quiet_end(&quiet);
	return object;
}

/* --- locks ---------------------------------------------------------------- */

/* Of runtimes that have no other call of ours. */
#define OTHERS_MAX 16u
static struct gomp_locks others[OTHERS_MAX];
static _Atomic bool other_is_known[OTHERS_MAX];
static _Atomic uint32_t other_count;

/* The path of one of the files that are loaded. */
struct nth_path {
	const char *path; /* NULL: there are not so many */
	uint32_t left;
};

static int path_count(struct dl_phdr_info *info, size_t bytes, void *arg)
{
	struct nth_path *nth = arg;

	(void)bytes;
	if (nth->left--)
		return 0;
	nth->path = info->dlpi_name;
	return 1;
}

static uintptr_t lock_in(const char *path)
{
	void *handle = handle_open(path);
	void *found = handle ? look_up(handle, "omp_set_lock") : NULL;

	handle_close(handle);
	return (uintptr_t)found;
}

/* Whoever calls it has it from somewhere: the file that seems to call may have
 * been left by a jump.  Not from within dl_iterate_phdr(), which has a lock. */
static uintptr_t lock_anywhere(void)
{
	uintptr_t found = 0;

	for (uint32_t i = 0; !found; i++) {
		struct nth_path nth = {.left = i};

		dl_iterate_phdr(path_count, &nth);
		if (!nth.path)
			return 0;
		found = lock_in(nth.path);
	}
	return found;
}

static const struct gomp_locks *other_known(uintptr_t address)
{
	const uint32_t count =
		(uint32_t)min_u64(load_relaxed(&other_count), OTHERS_MAX);

	for (uint32_t i = 0; i < count; i++)
		/* ACQUIRE pairs with RELEASE in other_make(). */
		if (load_acquire(&other_is_known[i]) &&
		    (uintptr_t)others[i].set[GOMP_LOCK_C] == address)
			return &others[i];
	return NULL;
}

static const struct gomp_locks *other_make(uintptr_t address)
{
	struct file file;
	uint32_t index;
	void *handle;

	if (!file_find(&file, address) ||
	    load_relaxed(&other_count) >= OTHERS_MAX)
		return NULL;
	index = add_relaxed(&other_count, 1);
	handle = index < OTHERS_MAX ? handle_open(file.path) : NULL;
	if (!handle)
		return NULL;
	locks_look_up(handle, true, &others[index]);
	handle_close(handle);
	/* RELEASE pairs with ACQUIRE in other_known(): it is filled in. */
	store_release(&other_is_known[index], true);
	return others[index].set[GOMP_LOCK_C] ? &others[index] : NULL;
}

/* Of the runtime that holds an address. */
static const struct gomp_locks *locks_at(uintptr_t address)
{
	const struct gomp_library *library;
	const struct gomp_locks *other;
	struct file file;

	if (!address || !file_find(&file, address))
		return NULL;
	library = library_known(file.base);
	other = library ? NULL : other_known(lock_in(file.path));
	if (other)
		return other;
	if (!library)
		library = library_at(address);
	return library && library->locks.set[GOMP_LOCK_C] ? &library->locks
							  : other_make(address);
}

static void lock_of_nobody(void *lock)
{
	(void)lock;
}

COLD const struct gomp_locks *gomp_locks_find(struct gomp_object *object)
{
	static const struct gomp_locks none = {
		.set = {lock_of_nobody, lock_of_nobody}, .foreign = true};
	const struct quiet quiet = quiet_begin();
	const bool keeps_forks_out = loader_enter();
	const struct gomp_locks *locks;
	struct file file = {0};
	uintptr_t address;

	if (object != &gomp_nowhere)
		file_find(&file, object->start);
	address = bound_address(&file, is_lock_call);
	if (!address)
		address = (uintptr_t)look_up(RTLD_NEXT, "omp_set_lock");
	if (!address)
		address = lock_in(file.path);
	if (!address)
		address = lock_anywhere();
	locks = locks_at(address);
	/* A file that is bound to us alone has no other to be bound to. */
	if (!locks && object != &gomp_nowhere)
		locks = &none;
	if (locks)
		/* RELEASE pairs with ACQUIRE in gomp_locks(). */
		store_release(&object->locks, locks);
	if (keeps_forks_out)
		loader_leave();
	quiet_end(&quiet);
	return locks ? locks : &none;
}

/* --- files that go -------------------------------------------------------- */

static void mark_gone(void)
{
	const uint32_t count =
		(uint32_t)min_u64(load_relaxed(&object_count), OBJECTS_MAX);
	const uint32_t known =
		(uint32_t)min_u64(load_relaxed(&library_count), LIBRARIES_MAX);
	struct file file;

	for (uint32_t i = 0; i < count; i++)
		if (load_acquire(&objects[i].is_known) &&
		    !load_relaxed(&objects[i].is_gone) &&
		    (!file_find(&file, objects[i].start) ||
		     file.base != objects[i].base ||
		     file.path != objects[i].path))
			store_relaxed(&objects[i].is_gone, true);
	for (uint32_t i = 0; i < known; i++)
		if (load_acquire(&library_is_known[i]) &&
		    !load_relaxed(&libraries[i].is_gone) &&
		    (!file_find(&file, (uintptr_t)libraries[i].parallel) ||
		     file.base != libraries[i].base))
			store_relaxed(&libraries[i].is_gone, true);
}

/* Unlike dlopen(), this one doesn't care who calls it.  Another file may come
 * to lie where the one that is closed here was. */
EXPORT int dlclose(void *handle)
{
	bool keeps_forks_out;
	struct quiet quiet;
	int result;

	if (unlikely(!real_dlclose))
		real_dlclose = (int (*)(void *))dlsym(RTLD_NEXT, "dlclose");
	unwind_code_goes();
	callers_code_goes();
	result = real_dlclose(handle);
	families_file_closed();
	if (likely(!load_relaxed(&object_count)))
		return result;
	quiet = quiet_begin();
	keeps_forks_out = loader_enter();
	mark_gone();
	if (keeps_forks_out)
		loader_leave();
	quiet_end(&quiet);
	return result;
}
