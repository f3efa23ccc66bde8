/* SPDX-License-Identifier: MIT */
/*
 * torch_library.c - symbols, versions and the proof; see torch_library.h.
 *
 * A record of an operator is read at offsets that no symbol tells.  So we make
 * one ourselves, on our own thread and for our own callback, with a sequence
 * number that is nowhere else, and look where it lies.  What doesn't lie as it
 * should leaves operators out.
 */
#include "preload/torch/torch_library.h"

#include "collector/system/base.h"
#include "collector/system/log.h"
#include "preload/process/hook.h"
#include "preload/python/package_version.h"
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#define RECORD_BYTES 4096u
#define SEARCHED     512u
#define NAME	     "traceprof looks"
#define SEQUENCE     INT64_C(0x5ca1ab1e0ddba11)
#define LOOK_NS	     UINT64_C(50000000)
#define MAJOR	     2
#define MINOR_MAX    15 /* the newest version that was tried */

/* --- is it there ---------------------------------------------------------- */

/* PyTorch's and XLA's: with one thread neither calls a runtime that begins a
 * recording. */
static int is_framework(struct dl_phdr_info *file, size_t bytes, void *unused)
{
	static const char names[][24] = {TORCH_LIBRARY_NAME, "/jaxlib/_jax.so",
					 "/xla_extension.so"};
	const size_t path = file->dlpi_name ? strlen(file->dlpi_name) : 0;

	(void)bytes;
	(void)unused;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const size_t len = strlen(names[i]);

		if (path >= len &&
		    !memcmp(file->dlpi_name + path - len, names[i], len))
			return 1;
	}
	return 0;
}

bool torch_is_loaded(uint64_t used_ns)
{
	static _Atomic uint64_t next_ns;
	uint64_t next = load_relaxed(&next_ns);
	struct thread *was;
	bool is_there;

	if (used_ns < next ||
	    !atomic_compare_exchange_strong_explicit(
		    &next_ns, &next, used_ns + LOOK_NS, memory_order_relaxed,
		    memory_order_relaxed))
		return false;
	was = thread_busy();
	is_there = dl_iterate_phdr(is_framework, NULL) == 1;
	thread_unbusy(was);
	return is_there;
}

/* --- symbols -------------------------------------------------------------- */

static const struct {
	unsigned int offset;
	bool is_needed;
	char name[144];
} symbols[] = {
#define AT(member) offsetof(struct torch_library, member)
	{AT(add_global), true,
	 "_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE"},
	{AT(add_local), true,
	 "_ZN2at22addThreadLocalCallbackENS_22RecordFunctionCallbackE"},
	{AT(remove), true, "_ZN2at14removeCallbackEm"},
	{AT(enable), true, "_ZN2at16reenableCallbackEm"},
	{AT(disable), true, "_ZN2at15disableCallbackEm"},
	{AT(name), true, "_ZNK2at14RecordFunction4nameEv"},
	{AT(overload), false, "_ZNK2at14RecordFunction13overload_nameEv"},
	{AT(is_async), true, "_ZNK2at14RecordFunction7isAsyncEv"},
	{AT(thread_id), true, "_ZN2at14RecordFunction15currentThreadIdEv"},
	{AT(construct), true, "_ZN2at14RecordFunctionC1ENS_11RecordScopeE"},
	{AT(destruct), true, "_ZN2at14RecordFunctionD1Ev"},
	{AT(before), false, "_ZN2at14RecordFunction6beforeEPKcl"},
	{AT(before_view), false,
	 "_ZN2at14RecordFunction6beforeESt7variantIJSt17basic_string_viewIcSt"
	 "11char_traitsIcEESt17reference_wrapperIKN3c1014FunctionSchemaEEEEl"},
	{AT(sizes), false,
	 "_ZN5torch8profiler4impl10inputSizesERKN2at14RecordFunctionEb"},
	{AT(types), false,
	 "_ZN5torch8profiler4impl10inputTypesB5cxx11ERKN2at14RecordFunctionE"},
	{AT(old_types), false,
	 "_ZN5torch8profiler4impl10inputTypesERKN2at14RecordFunctionE"},
	{AT(collective), false,
	 "_ZN5torch8profiler4impl12saveNcclMetaB5cxx11ERKN2at14"
	 "RecordFunctionERKNS1_18SaveNcclMetaConfigE"},
	{AT(old_collective), false,
	 "_ZN5torch8profiler4impl12saveNcclMetaERKN2at14RecordFunctionERKNS1_"
	 "18SaveNcclMetaConfigE"},
#undef AT
};

static bool find_symbols(struct torch_library *library, void *handle)
{
	for (size_t i = 0; i < sizeof(symbols) / sizeof(*symbols); i++) {
		void *function = dlsym(handle, symbols[i].name);

		if (!function && symbols[i].is_needed)
			return false;
		memcpy((char *)library + symbols[i].offset, &function,
		       sizeof(function));
	}
	/* operator delete, which the library itself would call. */
	*(void **)&library->release = dlsym(handle, "_ZdlPv");
	return library->before || library->before_view;
}

/* --- the version ---------------------------------------------------------- */

/* --- the proof ------------------------------------------------------------ */

static struct {
	const struct torch_library *library;
	struct torch_library found;
	unsigned int begins, ends;
	bool is_right;
} proof;

static uint64_t word_at(const void *record, size_t offset)
{
	uint64_t word;

	memcpy(&word, (const char *)record + offset, sizeof(word));
	return word;
}

/* The one place of a word below `end`; 0 there is none, or more than one. */
static uint32_t place_of(const void *record, uint64_t wanted, uint32_t end)
{
	uint32_t place = 0;

	for (uint32_t at = 8; at < end; at += 8) {
		if (word_at(record, at) != wanted)
			continue;
		if (place)
			return 0;
		place = at;
	}
	return place;
}

/* The members behind the sequence number: the inputs, a table of inputs by
 * name that came with 2.1, outputs, the forward thread, the record's own
 * number. */
static uint32_t forward_place(const void *record, uint32_t sequence)
{
	const uint64_t own = (uint64_t)(uintptr_t)record;
	uint32_t at = sequence + 24;

	/* An empty std::unordered_map points to its own last member. */
	if (word_at(record, at) == own + at + 48)
		at += 56;
	if (word_at(record, at) || word_at(record, at + 8) ||
	    word_at(record, at + 16) || word_at(record, at + 24) ||
	    !word_at(record, at + 32))
		return 0;
	return at + 24;
}

static void *proof_begins(void **context, const void *record)
{
	struct torch_library *found = &proof.found;
	const char *name = proof.library->name(record);

	*context = NULL;
	if (proof.begins++ || !name || strcmp(name, NAME) != 0)
		return context;
	found->sequence_at = place_of(record, (uint64_t)SEQUENCE, SEARCHED);
	if (!found->sequence_at)
		return context;
	found->thread_at = place_of(record, proof.library->thread_id(),
				    found->sequence_at);
	found->scope_at = found->thread_at + 8;
	found->forward_at = forward_place(record, found->sequence_at);
	proof.is_right =
		found->thread_at && found->forward_at &&
		(word_at(record, found->scope_at) & 0xff) == TORCH_SCOPE_USER;
	return context;
}

static void proof_ends(const void *record, void *context)
{
	(void)record;
	(void)context;
	proof.ends++;
}

/* A callback for user scopes alone, which wants the record's number: so the
 * flags lie where they should, too. */
static bool prove(struct torch_library *library)
{
	static _Alignas(64) char record[RECORD_BYTES];
	struct torch_callback callback = {.start = proof_begins,
					  .end = proof_ends,
					  .probability = 1,
					  .needs_ids = true};
	uint64_t handle;

	memset(&proof, 0, sizeof(proof));
	memset(record, 0, sizeof(record));
	proof.library = library;
	callback.scopes[TORCH_SCOPE_USER] = true;
	handle = library->add_local(callback);
	library->construct(record, TORCH_SCOPE_USER);
	if (library->before)
		library->before(record, NAME, SEQUENCE);
	else
		library->before_view(
			record, (struct torch_name){sizeof(NAME) - 1, NAME, 0},
			SEQUENCE);
	library->destruct(record);
	library->remove(handle);
	if (!proof.is_right || proof.begins != 1 || proof.ends != 1)
		return false;
	library->scope_at = proof.found.scope_at;
	library->thread_at = proof.found.thread_at;
	library->sequence_at = proof.found.sequence_at;
	library->forward_at = proof.found.forward_at;
	return true;
}

const char *torch_library_look(const char *path)
{
#if defined(__x86_64__)
	int major = 0, minor = -1;

	if (!package_version(path, "/../version.py", "__version__ = '", &major,
			     &minor) &&
	    !package_version(path, "/../build-version", "", &major, &minor))
		return "no version stands beside it";
	return major == MAJOR && minor >= 0 && minor <= MINOR_MAX
		       ? NULL
		       : "its version is unknown here";
#else
	(void)path;
	return "operators are known on x86-64 alone";
#endif
}

const char *torch_library_open(struct torch_library *library, const char *path)
{
	void *handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);

	if (!handle)
		return "it was closed again";
	if (!find_symbols(library, handle))
		return "it lacks functions that its version has";
	return prove(library) ? NULL
			      : "its records don't lie as its version's do";
}
