/* SPDX-License-Identifier: MIT */
/*
 * gomp_site.c - makes and finds call sites.
 *
 * Sites come from a static table, front to back, and hang in a hash table of
 * pointers.  A full table costs the later sites their speed and their names,
 * nothing else.
 */
#include "preload/gomp/gomp_site.h"

#include "collector/steps/steps.h"
#include "collector/system/folded_name.h"
#include "collector/system/symbols.h"
#include "preload/gomp/gomp_name.h"
#include "preload/process/quiet.h"

#include <string.h>

#define SITES_MAX 8192u
#define PROBES	  16u

struct gomp_site *_Atomic gomp_sites[GOMP_SITE_SLOTS];
_Thread_local struct gomp_library *gomp_last
	__attribute__((tls_model("initial-exec")));

static struct gomp_site sites[SITES_MAX];
static _Atomic uint32_t site_count;

/* A call whose site found no room. */
static struct gomp_site site_without_room = {.object = &gomp_nowhere};

/* --- the code in front of a return address -------------------------------- */

/* What a slot of the file's offset table holds, 0 if it isn't one. */
static uintptr_t slot_value(const struct gomp_object *object, uintptr_t slot)
{
	if (!gomp_object_holds(object, slot) ||
	    !gomp_object_holds(object, slot + sizeof(uintptr_t) - 1))
		return 0;
	return *(const uintptr_t *)slot;
}

#if defined(__x86_64__)
static uintptr_t relative(const unsigned char *next, const unsigned char *at)
{
	int32_t distance;

	memcpy(&distance, at, sizeof(distance));
	return (uintptr_t)next + (uintptr_t)(intptr_t)distance;
}

/* Where a call leads: through `jmp *slot(%rip)`, if that is what lies there. */
static uintptr_t followed(const struct gomp_object *object, uintptr_t target)
{
	const unsigned char *code = (const unsigned char *)target;

	if (!gomp_object_holds(object, target) ||
	    !gomp_object_holds(object, target + 16))
		return target;
	if (!memcmp(code, "\xf3\x0f\x1e\xfa", 4)) /* endbr64 */
		code += 4;
	if (code[0] == 0xf2) /* bnd */
		code++;
	if (code[0] == 0xff && code[1] == 0x25)
		return slot_value(object, relative(code + 6, code + 2));
	return target;
}

/* `call *%reg` and `call *offset(%reg)`. */
static bool is_indirect(const unsigned char *code)
{
	return (code[-2] == 0xff && (code[-1] & 0x38) == 0x10) ||
	       (code[-3] == 0xff && (code[-2] & 0x38) == 0x10);
}

/* The function that was called by the instruction before `address`; 0 when it
 * was called through a register, or the code can't be read that way. */
static uintptr_t called(const struct gomp_object *object, uintptr_t address)
{
	const unsigned char *code = (const unsigned char *)address;
	uintptr_t target;

	if (!gomp_object_holds(object, address - 6) || gomp_is_ours(address))
		return 0;
	if (code[-6] == 0xff && code[-5] == 0x15)
		return slot_value(object, relative(code, code - 4));
	if (code[-5] != 0xe8)
		return 0;
	target = relative(code, code - 4);
	if (!gomp_object_holds(object, target))
		return 0;
	target = followed(object, target);
	/* The e8 may be a byte of the instruction before an indirect call. */
	return gomp_is_ours(target) || !is_indirect(code) ? target : 0;
}
#else
static uint32_t word_at(uintptr_t address)
{
	return *(const uint32_t *)address;
}

/* The same of `adrp x16, page; ldr x17, [x16, slot]`, behind a `bti c`. */
static uintptr_t followed(const struct gomp_object *object, uintptr_t target)
{
	uintptr_t at = target;
	uint32_t page, load;
	int64_t pages;

	if (!gomp_object_holds(object, target) ||
	    !gomp_object_holds(object, target + 16))
		return target;
	if (word_at(at) == 0xd503245f)
		at += 4;
	page = word_at(at);
	load = word_at(at + 4);
	if ((page & 0x9f00001f) != 0x90000010 ||
	    (load & 0xffc003ff) != 0xf9400211)
		return target;
	pages = (int64_t)((uint64_t)(page >> 5 & 0x7ffff) << 45) >> 43;
	pages |= page >> 29 & 3;
	return slot_value(object, (at & ~(uintptr_t)4095) +
					  (uintptr_t)pages * 4096 +
					  (load >> 10 & 4095) * 8);
}

/* Instructions have four bytes: one in front that calls is the one. */
static uintptr_t called(const struct gomp_object *object, uintptr_t address)
{
	uint32_t call;

	if (!gomp_object_holds(object, address - 4) || address % 4 ||
	    gomp_is_ours(address))
		return 0;
	call = word_at(address - 4);
	if (call >> 26 != 0x25) /* bl */
		return 0;
	address += (uintptr_t)((int64_t)(int32_t)(call << 6) >> 6) * 4 - 4;
	return gomp_object_holds(object, address) ? followed(object, address)
						  : 0;
}
#endif

/* --- making one ----------------------------------------------------------- */

/* Codes are return addresses: the byte before them is looked up.  So a
 * function is named by its first byte but one. */
static void describe(struct gomp_site *site)
{
	struct gomp_object *caller = gomp_object_of(site->address);
	const uintptr_t target = called(caller, site->address);

	site->object = caller;
	if (gomp_is_ours(target)) {
		site->code = site->address;
		site->library = caller->library;
	} else if (target) {
		site->code = target + 1;
		site->object = gomp_object_of(target);
		site->library = site->object->library;
	} else if (site->function) {
		site->code = site->function + 1;
	} else {
		site->code = gomp_is_ours(site->address) ? 0 : site->address;
	}
	if (site->function) {
		site->object = gomp_object_of(site->function);
		site->library = site->object->library;
	}
}

static struct gomp_site *make(uintptr_t address, uintptr_t function)
{
	struct gomp_site *site;
	uint32_t index;

	if (load_relaxed(&site_count) >= SITES_MAX)
		return NULL;
	index = add_relaxed(&site_count, 1);
	if (index >= SITES_MAX)
		return NULL;
	site = &sites[index];
	site->address = address;
	site->function = function;
	describe(site);
	return site;
}

/* Puts a new site into an empty slot, or one whose site is gone. */
static struct gomp_site *publish(uint32_t first, struct gomp_site *site)
{
	for (uint32_t i = 0; i < PROBES; i++) {
		struct gomp_site *_Atomic *slot =
			&gomp_sites[(first + i) % GOMP_SITE_SLOTS];
		struct gomp_site *there = load_relaxed(slot);

		if (there && !load_relaxed(&there->object->is_gone))
			continue;
		/* RELEASE pairs with ACQUIRE in gomp_site(). */
		if (atomic_compare_exchange_strong_explicit(
			    slot, &there, site, memory_order_release,
			    memory_order_relaxed))
			return site;
	}
	return site;
}

struct gomp_site *gomp_site_find(uintptr_t address, uintptr_t function)
{
	const uint32_t first = gomp_site_hash(address, function);
	struct gomp_site *site;

	for (uint32_t i = 0; i < PROBES; i++) {
		/* ACQUIRE pairs with RELEASE in publish(). */
		site = load_acquire(&gomp_sites[(first + i) % GOMP_SITE_SLOTS]);
		if (!site)
			break;
		if (site->address == address && site->function == function &&
		    !load_relaxed(&site->object->is_gone))
			return site;
	}
	site = make(address, function);
	return site ? publish(first, site) : &site_without_room;
}

/* An unlocked guess: code that jumped here was in all likelihood preceded by
 * another call of its own on the same thread. */
struct gomp_library *gomp_site_guess(const struct gomp_site *site)
{
	static struct gomp_library *_Atomic any;
	struct gomp_library *library = gomp_last;

	if (library && !load_relaxed(&library->is_gone))
		return library;
	if (site->object->library)
		return site->object->library;
	/* ACQUIRE pairs with RELEASE below: it is complete. */
	library = load_acquire(&any);
	if (!library || load_relaxed(&library->is_gone)) {
		library = gomp_library_any();
		store_release(&any, library);
	}
	return library;
}

/* --- step markers --------------------------------------------------------- */

/* The index of a file, opened once; a thread that loses the race closes its
 * own. */
static struct symbols *symbols_of(struct gomp_object *object)
{
	/* ACQUIRE pairs with RELEASE below: it is complete. */
	struct symbols *symbols = load_acquire(&object->symbols);
	struct symbols *there = NULL;

	if (symbols || object == &gomp_nowhere)
		return symbols;
	symbols =
		symbols_open(object->path[0] ? object->path : "/proc/self/exe");
	if (symbols && !atomic_compare_exchange_strong_explicit(
			       &object->symbols, &there, symbols,
			       memory_order_acq_rel, memory_order_acquire)) {
		symbols_close(symbols);
		symbols = there;
	}
	return symbols;
}

/* The function that holds the code in front of a return address. */
static bool symbol_of(uint64_t code, struct symbol *symbol)
{
	struct gomp_object *object = gomp_object_of(code - 1);
	const struct symbols *symbols = symbols_of(object);

	return symbols &&
	       !symbols_find(symbols, code - 1 - object->base, symbol);
}

static bool code_steps(uint64_t code)
{
	char readable[GOMP_NAME_BYTES];
	struct symbol symbol;

	if (!symbol_of(code, &symbol))
		return false;
	gomp_name_read(symbol.name, symbol.name_len, readable);
	return steps_matches(readable) || steps_matches(symbol.name) ||
	       steps_matches(folded_name(readable, sizeof(readable)).text);
}

/* Or it is the runtime's: of a taskloop's tasks libomp says that it began them
 * itself. */
static bool code_is_outlined(uint64_t code)
{
	struct symbol symbol;

	return symbol_of(code, &symbol) &&
	       (!strncmp(symbol.name, ".omp_", 5) ||
		!strncmp(symbol.name, "__kmpc_taskloop", 15) ||
		!strncmp(symbol.name, "__captured_stmt", 15));
}

static bool code_is_static(uint64_t code)
{
	static const char name[] = "__kmpc_for_static_init";
	struct symbol symbol;

	return symbol_of(code, &symbol) &&
	       !strncmp(symbol.name, name, sizeof(name) - 1);
}

/* Asks once and keeps the answer. */
static bool answer(_Atomic uint32_t *kept, uint64_t code,
		   bool (*ask)(uint64_t code))
{
	uint32_t known = load_relaxed(kept);

	if (known == GOMP_STEP_UNKNOWN && code) {
		const struct quiet quiet = quiet_begin();

		known = ask(code) ? GOMP_STEP_YES : GOMP_STEP_NO;
		quiet_end(&quiet);
		store_relaxed(kept, known);
	}
	return known == GOMP_STEP_YES;
}

COLD bool gomp_site_steps(struct gomp_site *site, uint64_t outlined)
{
	/* code_steps() looks at the byte in front of what it is given. */
	return answer(&site->step, site->code, code_steps) ||
	       (outlined &&
		answer(&site->body_steps, outlined + 1, code_steps));
}

COLD bool gomp_site_is_outlined(struct gomp_site *site)
{
	return answer(&site->outlined, site->code, code_is_outlined);
}

COLD bool gomp_site_is_static(struct gomp_site *site)
{
	return answer(&site->is_static, site->code, code_is_static);
}
