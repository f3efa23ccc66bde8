/* SPDX-License-Identifier: MIT */
/* real.c - finds the functions behind our hooks, all in one go. */
#include "preload/process/real.h"

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <link.h>

/* Whether the word before a block of glibc's can be read.  On other processors
 * glibc may tag memory, that word differently from the block. */
#if defined(__x86_64__)
#define HEADER_IS_SIZE true
#else
#define HEADER_IS_SIZE false
#endif

START_DATA struct real_functions real;
uint64_t real_mapped_head = 8;

/* Where the linker put this library. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

/* Atomic, since dlsym() is declared `leaf`: the compiler may believe that it
 * can't come back to this file, and drop a plain store before it. */
static START_DATA _Atomic int state;
static START_DATA enum real_sizer sizer;
static START_DATA bool heap_is_libcs;
static START_DATA bool sees_heap;
static START_DATA const char *heap_object;

enum need { BASE, REST, LATE, NEW, NONE };

/* Without a pointer, which would be relocated in each process. */
struct row {
	uint8_t need;
	uint8_t where; /* of the function pointer in `real` */
	char name[28];
};

#define X(library, need, name, returns, parameters)                            \
	{need, offsetof(struct real_functions, name) / sizeof(void *), #name},

static const struct row rows[] = {WRAPPED_FUNCTIONS(X) CALLED_FUNCTIONS(X)};

#undef X

_Static_assert(sizeof(struct real_functions) / sizeof(void *) < UINT8_MAX,
	       "row.where");

/* A sanitizer's runtime may ask us while it starts, and stands in front of
 * strncmp(), which it can't forward yet. */
static bool begins_with(const char *name, const char *start)
{
	while (*start && *name == *start) {
		name++;
		start++;
	}
	return !*start;
}

/* glibc has them twice on some processors, for programs of 2002 first.  Not
 * what is younger: for what isn't there it allocates a text and frees it at the
 * next call, which an allocator of the program's own may not bear before
 * main(). */
static void *newest(const char *name, void *found)
{
	void *newer = NULL;

	if (begins_with(name, "pthread_cond_") &&
	    !begins_with(name, "pthread_cond_clock"))
		newer = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
	else if (begins_with(name, "timer_create"))
		newer = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.3");
	return newer ? newer : found;
}

static void find(enum need need)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].need == need)
			((void **)&real)[rows[i].where] = newest(
				rows[i].name, dlsym(RTLD_NEXT, rows[i].name));
	}
}

struct pair {
	uintptr_t at[2];
	bool is_one_object;
};

static int look_for_pair(struct dl_phdr_info *object, size_t bytes, void *arg)
{
	struct pair *pair = arg;
	bool is_in[2] = {false, false};

	(void)bytes;
	for (size_t i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[i];

		for (size_t one = 0; one < 2; one++)
			is_in[one] |= part->p_type == PT_LOAD &&
				      pair->at[one] - object->dlpi_addr -
						      part->p_vaddr <
					      part->p_memsz;
	}
	pair->is_one_object = is_in[0] && is_in[1];
	return is_in[0] || is_in[1];
}

static bool same_object(const void *a, const void *b)
{
	struct pair pair = {{(uintptr_t)a, (uintptr_t)b}, false};

	if (a && b)
		dl_iterate_phdr(look_for_pair, &pair);
	return pair.is_one_object;
}

/* Other allocators export __libc_malloc too: tcmalloc, mimalloc. */
static bool is_libcs_malloc(void)
{
	const void *real_malloc = *(void **)(void *)&real.malloc;

	return real.malloc == real.__libc_malloc &&
	       same_object(real_malloc,
			   (const void *)(uintptr_t)&gnu_get_libc_version);
}

/* No block is taken for it: one that has a mapping of its own changes, once it
 * is freed, where the program's next ones come from. */
int real_ask_head(size_t (*usable_size)(void *ptr))
{
	enum { PREVIOUS_IN_USE = 1, MAPPED = 2, BYTES = 64 };
	uint64_t words[2 * BYTES / 8] __attribute__((aligned(16))) = {0};
	uint64_t *chunk = words;
	size_t bytes;

	chunk[1] = BYTES | PREVIOUS_IN_USE;
	chunk[BYTES / 8 + 1] = BYTES | PREVIOUS_IN_USE;
	/* Or it wouldn't be filled at all. */
	atomic_signal_fence(memory_order_seq_cst);
	if (usable_size(&chunk[2]) != BYTES - 8)
		return -1;
	chunk[1] = BYTES | MAPPED;
	atomic_signal_fence(memory_order_seq_cst);
	bytes = usable_size(&chunk[2]);
	if (bytes != BYTES - 8 && bytes != BYTES - 16)
		return -1;
	return (int)(BYTES - 8 - bytes);
}

static enum real_sizer find_sizer(void)
{
	const void *real_malloc = *(void **)(void *)&real.malloc;
	const void *usable_size = *(void **)(void *)&real.malloc_usable_size;
	int head = -1;

	if (HEADER_IS_SIZE && heap_is_libcs &&
	    same_object(real_malloc, usable_size))
		head = real_ask_head(real.malloc_usable_size);
	if (head >= 0) {
		real_mapped_head = (uint64_t)head;
		return REAL_SIZE_HEADER;
	}
	return same_object(real_malloc, usable_size) ? REAL_SIZE_FUNCTION
						     : REAL_SIZE_UNKNOWN;
}

static void look_for_other_heap(void)
{
	void *seen = dlsym(RTLD_DEFAULT, "malloc");
	ElfW(Sym) *symbol = NULL;
	Dl_info object;

	/* As a rule; dladdr1() would go through all our symbols. */
	sees_heap = (uintptr_t)seen - (uintptr_t)__ehdr_start <
		    (uintptr_t)(_end - __ehdr_start);
	if (!seen || sees_heap ||
	    !dladdr1(seen, &object, (void **)&symbol, RTLD_DL_SYMENT))
		return;
	/* An executable at a fixed address that takes malloc's has an entry of
	 * that name, which jumps to whoever comes first: us. */
	sees_heap = symbol && symbol->st_shndx == SHN_UNDEF;
	heap_object = object.dli_fname;
}

static COLD enum real_state resolve(void)
{
	int unknown = REAL_UNKNOWN;

	if (!atomic_compare_exchange_strong_explicit(
		    &state, &unknown, REAL_RESOLVING, memory_order_relaxed,
		    memory_order_relaxed))
		return (enum real_state)unknown;
	find(BASE);
	if (!real.malloc || !real.free || !real.calloc || !real.realloc)
		return REAL_RESOLVING; /* the early heap is all there is */
	/* RELEASE pairs with ACQUIRE in real_resolve(): who sees the state sees
	 * the pointers. */
	store_release(&state, REAL_BASE);
	find(REST);
	/* RELEASE: as above. */
	store_release(&state, REAL_READY);
	return REAL_READY;
}

COLD bool real_look_late(void)
{
	if (real_resolve() != REAL_READY)
		return false;
	find(LATE);
	return true;
}

COLD void real_look_closer(void)
{
	find(LATE);
	heap_is_libcs = is_libcs_malloc();
	/* glibc's free_sized() calls free(), ours, which would count it too. */
	if (!heap_is_libcs)
		find(NEW);
	sizer = find_sizer();
	look_for_other_heap();
}

COLD enum real_state real_resolve(void)
{
	/* ACQUIRE pairs with RELEASE in resolve(). */
	const int now = load_acquire(&state);

	if (likely(now != REAL_UNKNOWN))
		return (enum real_state)now;
	return resolve();
}

enum real_sizer real_sizer(void)
{
	return sizer;
}

bool real_heap_is_libcs(void)
{
	return heap_is_libcs;
}

bool real_sees_heap(const char **object)
{
	*object = heap_object ? heap_object : "another object";
	return sees_heap;
}
