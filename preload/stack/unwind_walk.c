/* SPDX-License-Identifier: MIT */
/*
 * unwind_walk.c - a call stack on aarch64, by a walk of our own.
 *
 * libunwind 1.6 and 1.8 read code there, and what they take for code, without a
 * look whether it can be read, where a frame has no entry in .eh_frame: a stack
 * with code of a run-time compiler in it could end the program.  So each frame
 * is left by its file's entry (unwind_rule.c), or where no file has it by the
 * frame pointer, if that leads to code of a file's again.  Nothing is read but
 * those entries and the thread's own stack, from the stack pointer to its end.
 *
 * It takes no lock and allocates nothing where the loader has a table of what
 * lies where, from glibc 2.35 on; before, it asks dl_iterate_phdr().
 */
#include "preload/stack/unwind.h"

#if defined(__aarch64__)
#include "preload/stack/unwind_table.h"
#include <elf.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>

/* What the kernel's vDSO returns from a signal by: mov x8, #139; svc #0. */
#define RETURNS_FROM_SIGNAL UINT64_C(0xd4000001d2801168)
/* From the stack pointer there, struct ucontext: behind a siginfo_t. */
#define CONTEXT_AT	    sizeof(siginfo_t)

struct walk {
	uint64_t code, stack, frame; /* program counter and two registers */
	uint64_t link;		     /* the third, while `is_exact` */
	uint64_t high;		     /* the stack's end */
	bool is_exact; /* it is about to run `code`; else that is returned to */
};

struct file_search {
	uint64_t code;
	struct dl_phdr_info *found;
};

static int look_at_file(struct dl_phdr_info *info, size_t size, void *arg)
{
	const struct file_search *search = arg;

	(void)size;
	if (!unwind_part_of(info, search->code))
		return 0;
	*search->found = *info;
	return 1;
}

/* The kernel's file lies between the segments of the loader's own, and isn't in
 * its table. */
static bool find_in_vdso(uint64_t code, struct dl_phdr_info *info)
{
	const ElfW(Ehdr) *head =
		(const ElfW(Ehdr) *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);

	if (!head)
		return false;
	*info = (struct dl_phdr_info){
		.dlpi_addr = (uintptr_t)head,
		.dlpi_phdr = (const ElfW(Phdr) *)((const char *)head +
						  head->e_phoff),
		.dlpi_phnum = head->e_phnum,
	};
	return unwind_part_of(info, code);
}

static bool find_file(uint64_t code, struct dl_phdr_info *info)
{
	struct file_search search = {code, info};

	if (find_in_vdso(code, info))
		return true;
	if (unwind.find_object)
		return unwind_find_file(code, info) &&
		       unwind_part_of(info, code);
	return dl_iterate_phdr(look_at_file, &search);
}

static bool read_word(const struct walk *walk, uint64_t at, uint64_t *word)
{
	if (at < walk->stack || at > walk->high - sizeof(*word) || at % 8)
		return false;
	*word = *(const uint64_t *)(uintptr_t)at;
	return true;
}

/* To what a signal interrupted on this same stack. */
static bool leave_signal(struct walk *walk)
{
	const uint64_t at = walk->stack + CONTEXT_AT;
	const ucontext_t *context = (const ucontext_t *)(uintptr_t)at;
	const mcontext_t *machine = &context->uc_mcontext;

	if (at % 16 || at + sizeof(*context) > walk->high ||
	    machine->sp < at + sizeof(*context) || machine->sp >= walk->high)
		return false;
	walk->code = machine->pc;
	walk->frame = machine->regs[29];
	walk->link = machine->regs[30];
	walk->stack = machine->sp;
	walk->is_exact = true;
	return true;
}

/* As the calling convention has it: the caller's two registers side by side. */
static bool leave_by_pointer(struct walk *walk)
{
	const uint64_t at = walk->frame;
	struct dl_phdr_info info;
	uint64_t frame, code;

	if (at % 16 || !read_word(walk, at, &frame) ||
	    !read_word(walk, at + 8, &code) || frame <= at)
		return false;
	code = unwind_unsigned(code);
	if (!find_file(code - 1, &info))
		return false;
	walk->stack = at + 16;
	walk->frame = frame;
	walk->code = code;
	walk->is_exact = false;
	return true;
}

static bool leave_by_rule(struct walk *walk, const struct unwind_rule *rule)
{
	uint64_t frame = (rule->is_by_pointer ? walk->frame : walk->stack) +
			 (uint64_t)(int64_t)rule->distance;
	uint64_t code = walk->link;
	uint64_t pointer = walk->frame;

	if (rule->is_there && !read_word(walk, frame, &frame))
		return false;
	if (frame < walk->stack || frame > walk->high ||
	    (rule->pointer == UNWIND_AT_FRAME &&
	     !read_word(walk, frame + (uint64_t)(int64_t)rule->pointer_at,
			&pointer)) ||
	    (rule->pointer == UNWIND_AT_POINTER &&
	     !read_word(walk, walk->frame + (uint64_t)(int64_t)rule->pointer_at,
			&pointer)))
		return false;
	if (rule->back == UNWIND_AT_FRAME
		    ? frame == walk->stack ||
			      !read_word(
				      walk,
				      frame + (uint64_t)(int64_t)rule->back_at,
				      &code)
		    : !walk->is_exact)
		return false;
	walk->stack = frame;
	walk->frame = pointer;
	walk->code = unwind_unsigned(code);
	walk->is_exact = false;
	return walk->code > 1;
}

static bool leave_frame(struct walk *walk)
{
	const uint64_t code = walk->code - !walk->is_exact;
	struct dl_phdr_info info;
	struct unwind_rule rule;
	uint64_t words;

	if (!find_file(code, &info))
		return leave_by_pointer(walk);
	if (code % 4 == 3 && unwind_part_of(&info, walk->code + 7)) {
		memcpy(&words, (const void *)(uintptr_t)walk->code,
		       sizeof(words));
		if (words == RETURNS_FROM_SIGNAL)
			return leave_signal(walk);
	}
	return unwind_table_rule(&info, code, &rule) &&
	       leave_by_rule(walk, &rule);
}

COLD uint32_t unwind_slowly(uint64_t high, uint64_t *frames, uint32_t count)
{
	struct walk walk = {.high = high, .is_exact = true};
	uint32_t found = 0;

	__asm__ volatile("adr %0, .\n\tmov %1, sp\n\tmov %2, x29\n\tmov %3, x30"
			 : "=&r"(walk.code), "=&r"(walk.stack),
			   "=&r"(walk.frame), "=&r"(walk.link));
	while (found < count && leave_frame(&walk))
		frames[found++] = walk.code;
	return found;
}

COLD uint32_t unwind_from(uint64_t high, const ucontext_t *context,
			  uint64_t *frames, uint32_t count)
{
	const mcontext_t *machine = &context->uc_mcontext;
	struct walk walk = {.code = machine->pc,
			    .stack = machine->sp,
			    .frame = machine->regs[29],
			    .link = machine->regs[30],
			    .high = high,
			    .is_exact = true};
	uint32_t found = 0;

	do {
		frames[found] = walk.code;
	} while (++found < count && leave_frame(&walk));
	return found;
}
#endif
