/* SPDX-License-Identifier: MIT */
/*
 * unwind_guess.c - the stacks of x86-64 in which libunwind would guess: which
 * these are, and a walk of our own in its place; see unwind.h.
 *
 * A frame is left by its file's entry (unwind_rule.c).  Where no file has one
 * it is left by what its code does (unwind_code.h), and what that leads to must
 * lie behind a call.  Nothing is read but those entries, code of files, the
 * thread's own stack from the stack pointer to its end, and, by the kernel,
 * code that lies in no file.
 */
#include "preload/stack/unwind.h"

#ifdef UNWINDS_BY_LIBUNWIND
#include "preload/stack/code_effect.h"
#include "preload/stack/unwind_code.h"
#include "preload/stack/unwind_entry.h"
#include <elf.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define KNOWN	   512u
#define WINDOW	   2048u
/* Of the window, what lies before the address that is asked for. */
#define BEFORE	   64u
/* Of addresses that were noted: bits by a hash, so that none is ever missed,
 * and some are taken for noted that aren't, which costs a walk. */
#define NOTE_WORDS 1024u

static _Atomic uint64_t noted[NOTE_WORDS];
static _Atomic bool has_noted;

/* Rules of code in files by its address.  Where two threads wrote at once, the
 * first word isn't that of the others. */
static struct {
	_Atomic uint64_t check, word[3];
} known[KNOWN];

/* Where code may be read. */
struct span {
	uint64_t low, high;
	const unsigned char *at; /* `low` */
};

struct walk {
	uint64_t code, stack, frame; /* program counter and two registers */
	uint64_t registers[CODE_REGISTERS]; /* while `is_exact` */
	uint64_t high;			    /* the stack's end */
	bool has_stack, has_frame;	    /* the registers are known */
	bool is_exact; /* it is about to run `code`; else that is returned to */
	struct span span;
	unsigned char window[WINDOW];
};

/* --- which addresses ------------------------------------------------------*/

static uint64_t hash_of(uint64_t code)
{
	return code * UINT64_C(0x9e3779b97f4a7c15) >> 32;
}

COLD void unwind_note(const struct dl_phdr_info *info, uint64_t code)
{
	const uint64_t hash = hash_of(code);
	struct unwind_entry entry;
	uint64_t begin;

	if (info && (!unwind_part_of(info, code) ||
		     unwind_entry_find(info, code, &entry, &begin)))
		return;
	atomic_fetch_or_explicit(&noted[hash / 64 % NOTE_WORDS],
				 UINT64_C(1) << hash % 64,
				 memory_order_relaxed);
	store_relaxed(&has_noted, true);
}

bool unwind_guessed(const uint64_t *frames, uint32_t count)
{
	if (likely(!load_relaxed(&has_noted)))
		return false;
	for (uint32_t i = 0; i < count; i++) {
		const uint64_t hash = hash_of(frames[i] - (i != 0));

		if (load_relaxed(&noted[hash / 64 % NOTE_WORDS]) >> hash % 64 &
		    1)
			return true;
	}
	return false;
}

/* --- code -----------------------------------------------------------------*/

static bool find_file(uint64_t code, struct dl_phdr_info *info)
{
	return unwind_find_file(code, info) && unwind_part_of(info, code);
}

/* Of no file: the kernel copies what is there. */
static bool copy_code(struct walk *walk, uint64_t at)
{
	const uint64_t low = at - BEFORE;
	const uint64_t page = at & ~UINT64_C(4095);
	struct iovec mine = {walk->window, WINDOW};
	struct iovec theirs = {(void *)(uintptr_t)low, WINDOW};
	long got = syscall(SYS_process_vm_readv, getpid(), &mine, 1, &theirs, 1,
			   0);

	/* The page before may not be there. */
	if (got <= (long)BEFORE && low < page) {
		theirs.iov_base = (void *)(uintptr_t)page;
		got = syscall(SYS_process_vm_readv, getpid(), &mine, 1, &theirs,
			      1, 0);
	}
	walk->span = (struct span){(uint64_t)(uintptr_t)theirs.iov_base, 0,
				   walk->window};
	walk->span.high = walk->span.low + (got > 0 ? (uint64_t)got : 0);
	return at - walk->span.low < walk->span.high - walk->span.low;
}

static bool find_span(struct walk *walk, uint64_t at)
{
	struct dl_phdr_info info;
	const ElfW(Phdr) * part;

	if (!find_file(at, &info))
		return copy_code(walk, at);
	part = unwind_part_of(&info, at);
	walk->span = (struct span){0, 0, NULL};
	if ((part->p_flags & (PF_R | PF_X)) != (PF_R | PF_X))
		return false;
	walk->span.low = info.dlpi_addr + part->p_vaddr;
	walk->span.high = walk->span.low + part->p_filesz;
	walk->span.at = (const unsigned char *)(uintptr_t)walk->span.low;
	return at - walk->span.low < part->p_filesz;
}

static const unsigned char *read_code(void *arg, uint64_t at, uint32_t *bytes)
{
	struct walk *walk = arg;
	const struct span *span = &walk->span;

	/* A copy that ends in the midst is made anew. */
	if ((at - span->low >= span->high - span->low ||
	     (span->at == walk->window && span->high - at < *bytes)) &&
	    !find_span(walk, at))
		return NULL;
	*bytes = (uint32_t)min_u64(*bytes, span->high - at);
	return span->at + (at - span->low);
}

/* --- rules ----------------------------------------------------------------*/

union packed {
	struct unwind_rule rule;
	uint64_t word[3];
};

_Static_assert(sizeof(struct unwind_rule) <= sizeof(uint64_t[3]),
	       "a rule is three words");

static uint64_t turned(uint64_t word, unsigned int bits)
{
	return word << bits | word >> (64 - bits);
}

static uint64_t check_of(uint64_t key, const union packed *packed)
{
	return key ^ packed->word[0] ^ turned(packed->word[1], 21) ^
	       turned(packed->word[2], 42);
}

static bool is_kept(uint64_t key, struct unwind_rule *rule)
{
	const uint64_t place = hash_of(key) % KNOWN;
	union packed packed;

	for (int i = 0; i < 3; i++)
		packed.word[i] = load_relaxed(&known[place].word[i]);
	*rule = packed.rule;
	return check_of(key, &packed) == load_relaxed(&known[place].check);
}

static void keep(uint64_t key, const struct unwind_rule *rule)
{
	const uint64_t place = hash_of(key) % KNOWN;
	union packed packed = {.word = {0}};

	packed.rule = *rule;
	store_relaxed(&known[place].check, check_of(key, &packed));
	for (int i = 0; i < 3; i++)
		store_relaxed(&known[place].word[i], packed.word[i]);
}

/* By the file's entry, or without one by the code. */
static bool find_rule(struct walk *walk, const struct dl_phdr_info *info,
		      struct unwind_rule *rule, bool *is_by_code)
{
	const uint64_t code = walk->code - !walk->is_exact;
	struct unwind_entry entry;
	uint64_t begin;

	*is_by_code = !info || !unwind_entry_find(info, code, &entry, &begin);
	return *is_by_code ? unwind_code_rule(walk->code, !walk->is_exact,
					      read_code, walk, rule)
			   : unwind_table_rule(info, code, rule);
}

/* Files may come to lie elsewhere once one was closed. */
static bool rule_of(struct walk *walk, struct unwind_rule *rule)
{
	const uint64_t key = walk->code ^ (uint64_t)walk->is_exact << 63;
	const bool may_keep = !load_relaxed(&unwind.goes_slowly);
	struct dl_phdr_info info;
	bool is_by_code;
	bool is_in_file;

	if (may_keep && is_kept(key, rule))
		return true;
	is_in_file = find_file(walk->code - !walk->is_exact, &info);
	if (!find_rule(walk, is_in_file ? &info : NULL, rule, &is_by_code))
		return false;
	rule->is_by_code = is_by_code;
	if (may_keep && is_in_file)
		keep(key, rule);
	return true;
}

/* --- frames ---------------------------------------------------------------*/

static bool read_word(const struct walk *walk, uint64_t at, uint64_t *word)
{
	if (at < walk->stack || at > walk->high - sizeof(*word) || at % 8)
		return false;
	*word = *(const uint64_t *)(uintptr_t)at;
	return true;
}

static bool base_of(const struct walk *walk, const struct unwind_rule *rule,
		    uint64_t *base)
{
	if (rule->other) {
		*base = walk->registers[rule->other - 1];
		return walk->is_exact;
	}
	*base = rule->is_by_pointer ? walk->frame : walk->stack;
	return rule->is_by_pointer ? walk->has_frame : walk->has_stack;
}

static bool leave_by(struct walk *walk, const struct unwind_rule *rule)
{
	uint64_t pointer = walk->frame, pointer_at = walk->frame;
	uint64_t frame, code;

	if (!base_of(walk, rule, &frame))
		return false;
	frame += (uint64_t)(int64_t)rule->distance;
	if (rule->is_there && !read_word(walk, frame, &frame))
		return false;
	frame += (uint64_t)(int64_t)rule->behind;
	if (frame <= walk->stack || frame > walk->high ||
	    !read_word(walk, frame + (uint64_t)(int64_t)rule->back_at, &code))
		return false;
	if (rule->pointer == UNWIND_AT_FRAME)
		pointer_at = frame;
	if (rule->pointer == UNWIND_AT_FRAME ||
	    rule->pointer == UNWIND_AT_POINTER) {
		if ((rule->pointer == UNWIND_AT_POINTER && !walk->has_frame) ||
		    !read_word(walk,
			       pointer_at + (uint64_t)(int64_t)rule->pointer_at,
			       &pointer))
			return false;
		walk->has_frame = true;
	}
	walk->has_frame &= rule->pointer != UNWIND_LOST;
	walk->stack = frame;
	walk->has_stack = !rule->is_adrift;
	walk->frame = pointer;
	walk->code = code;
	walk->is_exact = false;
	return code > 1;
}

static void take_registers(struct walk *walk, const mcontext_t *machine)
{
	static const uint8_t number[CODE_REGISTERS] = {
		REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
		REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
		REG_R12, REG_R13, REG_R14, REG_R15};

	for (uint32_t i = 0; i < CODE_REGISTERS; i++)
		walk->registers[i] = (uint64_t)machine->gregs[number[i]];
	walk->code = (uint64_t)machine->gregs[REG_RIP];
	walk->stack = walk->registers[CODE_RSP];
	walk->frame = walk->registers[CODE_RBP];
	walk->has_stack = walk->has_frame = true;
	walk->is_exact = true;
}

/* To what a signal interrupted on this same stack: its handler has returned to
 * code with an entry of its own kind, and the kernel's frame lies there. */
static bool leave_signal(struct walk *walk)
{
	const ucontext_t *context = (const ucontext_t *)(uintptr_t)walk->stack;
	const mcontext_t *machine = &context->uc_mcontext;
	struct dl_phdr_info info;
	struct unwind_entry entry;
	uint64_t begin, stack;

	if (walk->is_exact || !walk->has_stack || walk->stack % 8 ||
	    !find_file(walk->code - 1, &info) ||
	    !unwind_entry_find(&info, walk->code - 1, &entry, &begin) ||
	    !entry.shared.is_signal ||
	    walk->high - walk->stack < sizeof(*context))
		return false;
	stack = (uint64_t)machine->gregs[REG_RSP];
	if (stack < walk->stack + sizeof(*context) || stack >= walk->high)
		return false;
	take_registers(walk, machine);
	return true;
}

static bool leave_frame(struct walk *walk)
{
	struct unwind_rule rule;

	if (!rule_of(walk, &rule))
		return leave_signal(walk);
	return leave_by(walk, &rule) &&
	       (!rule.is_by_code ||
		unwind_code_is_behind_call(walk->code, read_code, walk));
}

COLD uint32_t unwind_by_code(uint64_t high, const ucontext_t *context,
			     uint64_t *frames, uint32_t count)
{
	struct walk walk;
	uint32_t found = 0;

	walk.high = high;
	walk.span = (struct span){0, 0, NULL};
	take_registers(&walk, &context->uc_mcontext);
	do {
		frames[found] = walk.code;
	} while (++found < count && leave_frame(&walk));
	return found;
}
#else
void unwind_note(const struct dl_phdr_info *info, uint64_t code)
{
	(void)info;
	(void)code;
}

bool unwind_guessed(const uint64_t *frames, uint32_t count)
{
	(void)frames;
	(void)count;
	return false;
}

uint32_t unwind_by_code(uint64_t high, const ucontext_t *context,
			uint64_t *frames, uint32_t count)
{
	(void)high;
	(void)context;
	(void)frames;
	(void)count;
	return 0;
}
#endif
