/* SPDX-License-Identifier: MIT */
/* callers.c - a walk up the main thread's stack; see callers.h. */
#include "preload/stack/callers.h"

#include "collector/control/search.h"
#include "collector/session/gate.h"
#include "preload/stack/caller_loops.h"
#include "preload/stack/caller_turns.h"
#include "preload/stack/code_ends.h"
#include "preload/stack/python_eval.h"
#include "preload/stack/unwind.h"
#include "preload/stack/unwind_entry.h"
#include <dlfcn.h>
#include <elf.h>
#include <string.h>
#include <sys/auxv.h>

/* Frames above the one that calls; and those above which the interpreter is
 * looked for. */
#define DEPTH	     8u
#define PYTHON_DEPTH 24u
#define OURS_MOST    16u /* and a runtime's */
#define DRIVERS_MOST 16u /* CUDA's */
/* So that all lie in the file's first page. */
#define HEADERS_MOST ((4096u - sizeof(ElfW(Ehdr))) / sizeof(ElfW(Phdr)))
#define RULES	     1024u /* powers of two */
#define RULE_PLACES  4u
/* From the stack pointer to the frame's address, before there is a frame. */
#if defined(__x86_64__)
#define BARE_DISTANCE 8
#else
#define BARE_DISTANCE 0
#endif
#define PLACES	    512u
/* No thread's stack but the main one's lies so near to its end: the kernel
 * leaves a gap of 128 MiB. */
#define STACK_MOST  (UINT64_C(64) << 20)
/* Looks, each at twice as many calls, whether they tell anything. */
#define LOOK_ALONE  4096u
#define LOOK_FIRST  8192u
#define OTHERS_MOST 4096u   /* of other threads, before the main one has any */
#define LOOK_LAST   262144u /* as many as the search takes */
/* Behind those looks sites are asked that had not come so often, for so many
 * calls in all. */
#define LATE_LAST   131072u
#define SITES	    256u /* a power of two */
#define SELDOM	    16u
/* Where on the stack the interpreter's main function is. */
#define MAIN_BYTES  16384u

struct known_rule {
	uint64_t code; /* 0 none */
	bool is_none;
	struct unwind_rule rule;
};

/* Where calls came from: by hash, 0 none; and their numbers. */
struct place_numbers {
	uint64_t places[PLACES];
	uint8_t number[PLACES];
	uint32_t last; /* that was given */
};

/* The main thread's own. */
struct callers {
	int (*find_object)(void *code, struct dl_find_object *found);
	uint64_t stack_end;
	struct known_rule rules[RULES];
	uint32_t driven_out; /* of a rule's places, in turn */
	struct place_numbers regions, calls;
	uint32_t call_loops;	   /* calls whose loops are known */
	uint64_t site, place;	   /* the call before, and where it came from */
	uint64_t count, next_look; /* of calls of regions */
	uint64_t again, changes;   /* at the same site; since the last look */
	bool is_late;		   /* all that come seldom alone are asked */
	struct {
		uint64_t site; /* 0 none */
		uint32_t came;
	} sites[SITES];
	struct caller_barriers barriers;
	bool is_interpreter; /* what runs is one; asked once */
	bool was_asked;
};

static struct callers callers;
static _Atomic bool code_went;
static _Atomic uint32_t of_others; /* calls, while the main thread had none */

COLD bool callers_start(void)
{
	callers.next_look = LOOK_ALONE / 4;
	return callers.find_object && callers.stack_end;
}

COLD void callers_prepare(void)
{
	/* What dlsym() allocates and frees is none of the program's. */
	struct thread *was = thread_busy();
	void *stack_end = dlsym(RTLD_DEFAULT, "__libc_stack_end");

	*(void **)&callers.find_object = dlsym(RTLD_DEFAULT, "_dl_find_object");
	python_frames_look();
	caller_turns_prepare();
	thread_unbusy(was);
	if (stack_end)
		callers.stack_end = *(uint64_t *)stack_end;
}

void callers_code_goes(void)
{
	store_relaxed(&code_went, true);
}

void callers_forget(void)
{
	if (callers.regions.last)
		memset(&callers.regions, 0, sizeof(callers.regions));
	if (callers.calls.last)
		memset(&callers.calls, 0, sizeof(callers.calls));
	if (callers.count)
		memset(&callers.sites, 0, sizeof(callers.sites));
	if (callers.barriers.is_used)
		memset(&callers.barriers, 0, sizeof(callers.barriers));
	callers.site = callers.place = 0;
	callers.call_loops = 0;
	callers.count = callers.again = callers.changes = 0;
	callers.is_late = false;
	caller_turns_forget();
}

static bool file_of(uint64_t code, struct dl_phdr_info *info)
{
	struct dl_find_object found;
	const ElfW(Ehdr) * head;

	if (callers.find_object((void *)(uintptr_t)code, &found))
		return false;
	head = found.dlfo_map_start;
	/* A tool may have moved the headers to where nothing maps them. */
	if (memcmp(head->e_ident, ELFMAG, SELFMAG) ||
	    head->e_phentsize != sizeof(ElfW(Phdr)) ||
	    head->e_phoff != sizeof(*head) || head->e_phnum > HEADERS_MOST)
		return false;
	*info = (struct dl_phdr_info){
		.dlpi_addr = found.dlfo_link_map->l_addr,
		.dlpi_phdr = (const ElfW(Phdr) *)((const char *)head +
						  head->e_phoff),
		.dlpi_phnum = head->e_phnum,
	};
	return true;
}

static bool look_up(uint64_t code, struct unwind_rule *rule)
{
	struct dl_phdr_info info;

	return file_of(code, &info) && unwind_table_rule(&info, code, rule) &&
	       rule->back == UNWIND_AT_FRAME;
}

static bool ends(uint64_t code)
{
	struct dl_find_object found;

	return !callers.find_object((void *)(uintptr_t)code, &found) &&
	       code_ends(found.dlfo_link_map, code);
}

/* The function that an address lies in, or the part of it. */
static bool find_range(uint64_t code, struct code_range *range)
{
	struct dl_phdr_info info;
	struct unwind_entry entry;
	struct unwind_rule rule;

	if (range->is_end)
		return ends(code);
	if (!file_of(code, &info) ||
	    !unwind_entry_find(&info, code, &entry, &range->begin) ||
	    !unwind_entry_reads(&info, range->begin, entry.code_bytes))
		return false;
	range->bytes = entry.code_bytes;
	range->has_pads = entry.has_pads;
	range->is_bare = unwind_table_rule(&info, code, &rule) &&
			 !rule.is_by_pointer && !rule.is_there &&
			 rule.distance == BARE_DISTANCE;
	return true;
}

/* Each rule may lie in one of some places: where frames of one stack drove each
 * other out they would be looked up at each walk. */
static COLD struct known_rule *rule_elsewhere(uint64_t code, uint64_t hash)
{
	struct known_rule *known = &callers.rules[hash % RULES];

	for (unsigned int i = 1; i < RULE_PLACES && known->code; i++) {
		known = &callers.rules[(hash ^ i) % RULES];
		if (known->code == code)
			return known;
	}
	if (known->code)
		known = &callers.rules[(hash ^
					callers.driven_out++ % RULE_PLACES) %
				       RULES];
	known->is_none = !look_up(code, &known->rule);
	known->code = code;
	return known;
}

/* NULL: there is none. */
static const struct unwind_rule *rule_of(uint64_t code)
{
	const uint64_t hash = code * UINT64_C(0x9e3779b97f4a7c15) >> 32;
	struct known_rule *known = &callers.rules[hash % RULES];

	if (unlikely(known->code != code))
		known = rule_elsewhere(code, hash);
	return known->is_none ? NULL : &known->rule;
}

struct place {
	uint64_t code, stack, frame; /* program counter and two registers */
};

static bool read_word(uint64_t from, uint64_t at, uint64_t *word)
{
	if (at < from || at > callers.stack_end - sizeof(*word) || at % 8)
		return false;
	*word = *(const uint64_t *)(uintptr_t)at;
	return true;
}

/* To the frame that called this one. */
static bool leave_frame(struct place *place)
{
	const struct unwind_rule *rule = rule_of(place->code - 1);
	const uint64_t low = place->stack;
	uint64_t frame;

	if (!rule)
		return false;
	frame = (rule->is_by_pointer ? place->frame : place->stack) +
		(uint64_t)(int64_t)rule->distance;
	if (rule->is_there && !read_word(low, frame, &frame))
		return false;
	if (frame <= low || frame > callers.stack_end ||
	    (rule->pointer == UNWIND_AT_FRAME &&
	     !read_word(low, frame + (uint64_t)(int64_t)rule->pointer_at,
			&place->frame)) ||
	    (rule->pointer == UNWIND_AT_POINTER &&
	     !read_word(low, place->frame + (uint64_t)(int64_t)rule->pointer_at,
			&place->frame)))
		return false;
	place->stack = frame;
	if (!read_word(low, frame + (uint64_t)(int64_t)rule->back_at,
		       &place->code))
		return false;
	place->code = unwind_unsigned(place->code);
	return place->code > 1;
}

/* Which calls are walked up from. */
struct start {
	uint64_t from; /* the first that counts; 0: whoever called us, */
	bool is_call;  /* ... or the driver */
};

static bool begins(const struct start *start, uint64_t code)
{
	if (start->is_call)
		return !unwind_is_cudas(code);
	return !start->from || code == start->from;
}

/* The return addresses from here up, ours left out: the first is that of the
 * hook's caller, or where it is to begin.  How many there are, at most `most`;
 * `within`: and how many of them came before others of ours, 0 no others. */
static unsigned int walk(const struct start *start, uint64_t *codes,
			 unsigned int most, unsigned int *within)
{
	unsigned int left =
		most + OURS_MOST + (start->is_call ? DRIVERS_MOST : 0);
	struct place place;
	unsigned int count = 0;

#if defined(__x86_64__)
	__asm__ volatile("lea 1(%%rip), %0; mov %%rsp, %1; mov %%rbp, %2"
			 : "=&r"(place.code), "=&r"(place.stack),
			   "=&r"(place.frame));
#else
	__asm__ volatile("adr %0, . + 4; mov %1, sp; mov %2, x29"
			 : "=&r"(place.code), "=&r"(place.stack),
			   "=&r"(place.frame));
#endif
	if (callers.stack_end - place.stack >= STACK_MOST)
		return 0;
	for (; left && count < most && leave_frame(&place); left--) {
		if (count && within && !*within && unwind_is_ours(place.code))
			*within = count;
		/* Of a function that calls itself two calls tell as much. */
		if (unwind_is_ours(place.code) ||
		    (count ? codes[count - 1] == place.code && count > 1 &&
				     codes[count - 2] == place.code
			   : !begins(start, place.code)))
			continue;
		codes[count++] = place.code;
	}
	return count;
}

/* A number that is the same for the same frames; 0 unknown.  The first is of
 * use where a compiler made a jump of the call, or put the function into
 * others. */
static uint64_t place_of(const uint64_t *codes, unsigned int count)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < count; i++)
		sum = (sum ^ codes[i]) * UINT64_C(0x9e3779b97f4a7c15);
	return count > 1 ? sum | 1 : 0;
}

/* The program is the interpreter: its main function has called. */
static bool is_interpreter(void)
{
	struct code_range range = {0};

	if (callers.was_asked || !find_range(python_frames_main(), &range))
		return callers.is_interpreter;
	callers.was_asked = true;
	for (uint64_t at = (callers.stack_end - MAIN_BYTES) & ~UINT64_C(7);
	     at < callers.stack_end && !callers.is_interpreter; at += 8) {
		const uint64_t code =
			unwind_unsigned(*(const uint64_t *)(uintptr_t)at);

		callers.is_interpreter = code - range.begin < range.bytes;
	}
	return callers.is_interpreter;
}

/* Nothing says how to leave the last of the frames: code that was made while
 * the program runs. */
static bool is_cut(const uint64_t *codes, unsigned int count, unsigned int most)
{
	return count && count < most &&
	       codes[count - 1] - getauxval(AT_ENTRY) >= UNWIND_START_BYTES;
}

/* The functions of Python that led to the call, if the interpreter is among the
 * frames that tell a place, or they can't be left before. */
static void ask_python(const uint64_t *codes, unsigned int count,
		       struct caller_python *python)
{
	struct dl_find_object found;

	python->low = python->high = 0;
	for (unsigned int i = 0; i < count; i++) {
		if (!python_eval_holds(codes[i]))
			continue;
		if (callers.find_object((void *)(uintptr_t)codes[i], &found))
			return;
		python->below = i;
		python->low = (uint64_t)(uintptr_t)found.dlfo_map_start;
		python->high = (uint64_t)(uintptr_t)found.dlfo_map_end;
		python->count = python_frames_all(python->frames);
		return;
	}
	if (!is_cut(codes, count, 1 + PYTHON_DEPTH) || !is_interpreter())
		return;
	python->below = count;
	python->count = python_frames_all(python->frames);
}

/* The interpreter calls the same in one way or another, as it learns. */
static uint64_t place_in_python(const uint64_t *codes,
				const struct caller_python *python)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < python->below; i++) {
		if (!caller_is_python(python, codes[i]))
			sum = (sum ^ codes[i]) * UINT64_C(0x9e3779b97f4a7c15);
	}
	for (uint32_t i = 0; i < python->count; i++)
		sum = (sum ^ python->frames[i].code ^
		       python->frames[i].instruction << 20) *
		      UINT64_C(0x9e3779b97f4a7c15);
	return sum | 1;
}

/* 0: there are too many. */
static uint32_t number_of(struct place_numbers *numbers, uint64_t place,
			  uint32_t most)
{
	size_t at = (size_t)(place >> 40) % PLACES;

	for (; numbers->places[at]; at = (at + 1) % PLACES)
		if (numbers->places[at] == place)
			return numbers->number[at];
	if (numbers->last == most)
		return 0;
	numbers->places[at] = place;
	numbers->number[at] = (uint8_t)++numbers->last;
	return numbers->last;
}

/* Where regions differ anyway, or all come from one place, it is no use; and it
 * isn't done for ever. */
static void look(const struct step_search *search)
{
	bool is_over;

	if (callers.count < callers.next_look)
		return;
	callers.next_look *= 2;
	/* Nearly all one site's, from one place: nothing is around them. */
	is_over = callers.count >= LOOK_ALONE && !callers.changes &&
		  callers.again * 10 >= callers.count * 9;
	if (callers.count >= LOOK_FIRST && !is_over)
		callers.is_late |=
			callers.again * 2 < callers.count || !callers.changes;
	is_over |= callers.count >=
		   (callers.is_late ? LATE_LAST : (uint64_t)LOOK_LAST);
	if (!search_is_by_caller(search) && is_over)
		gate_mark(GATE_OMP_CALLER, false);
	callers.changes = 0;
}

/* Of two sites in one slot the second never is. */
static bool comes_seldom(uint64_t site)
{
	const size_t at =
		(size_t)(site * UINT64_C(0x9e3779b97f4a7c15) >> 40) % SITES;

	if (unlikely(!callers.sites[at].site))
		callers.sites[at].site = site;
	return callers.sites[at].site == site &&
	       callers.sites[at].came++ < SELDOM;
}

/* A loop around others turns so seldom that it has hardly come when the others
 * have told enough. */
static bool is_asked(const struct step_search *search, uint64_t site)
{
	const bool is_seldom = comes_seldom(site);

	callers.count++;
	if (!callers.is_late || is_seldom || search_is_by_caller(search))
		return true;
	look(search);
	return false;
}

/* What calls once what Python gives it, and returns through a table. */
static bool is_bridge(uint64_t code)
{
	static const char *const bridges[] = {"/libffi", "/_ctypes.",
					      "/_cffi_backend."};
	struct dl_find_object found;

	if (callers.find_object((void *)(uintptr_t)code, &found))
		return false;
	for (size_t i = 0; i < sizeof(bridges) / sizeof(bridges[0]); i++) {
		if (strstr(found.dlfo_link_map->l_name, bridges[i]))
			return true;
	}
	return false;
}

static unsigned int leave_bridges(uint64_t *codes, unsigned int count,
				  struct caller_python *python)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < count; i++) {
		if (!is_bridge(codes[i]))
			codes[kept++] = codes[i];
		else if (i < python->below)
			python->below--;
	}
	return kept;
}

/* In which loops it lies, the first time. */
static void note_loops(struct step_search *search, uint64_t site,
		       uint32_t number, const struct start *start,
		       struct caller_python *python)
{
	const uint64_t id = search_region(site, number);
	uint64_t codes[CALLER_PYTHON_FRAMES];
	unsigned int count;

	if (caller_loops_has(search, id))
		return;
	count = walk(start, codes,
		     python->count ? CALLER_PYTHON_FRAMES : CALLER_LOOPS_FRAMES,
		     NULL);
	if (python->count)
		count = leave_bridges(codes, count, python);
	caller_loops_note(search, id, codes, count, 1 + DEPTH, python,
			  find_range);
	caller_turns_note(number, python,
			  search_loops_of(search, site, number).depth);
}

/* By its frames, the interpreter's functions among them; 0 unknown. */
static inline uint64_t find_place(const struct start *start,
				  struct caller_python *python)
{
	const bool has_python = python_frames_main();
	uint64_t codes[1 + PYTHON_DEPTH];
	const unsigned int count = walk(
		start, codes, 1 + (has_python ? PYTHON_DEPTH : DEPTH), NULL);

	python->count = python->below = 0;
	if (has_python)
		ask_python(codes, count, python);
	return python->count ? place_in_python(codes, python)
			     : place_of(codes, min_u32(count, 1 + DEPTH));
}

static void know_code(void)
{
	if (likely(!load_relaxed(&code_went)))
		return;
	store_relaxed(&code_went, false);
	memset(callers.rules, 0, sizeof(callers.rules));
	caller_loops_forget();
}

COLD static uint32_t number_here(struct session *session, uint64_t site,
				 uint64_t from)
{
	const struct start start = {.from = from};
	struct caller_python python;
	uint64_t place;
	uint32_t number;

	know_code();
	place = find_place(&start, &python);
	callers.again += callers.site == site;
	callers.changes += callers.site == site && callers.place != place;
	callers.site = site;
	callers.place = place;
	look(&session->head->search);
	number = place ? number_of(&callers.regions, place, SEARCH_CALLERS_MAX)
		       : 0;
	if (!number)
		return 0;
	note_loops(&session->head->search, site, number, &start, &python);
	return number | (uint32_t)caller_turns_look(number, &python) << 8 |
	       (callers.is_late ? SEARCH_LATE : 0);
}

uint32_t callers_number(const struct thread *thread, uint64_t site,
			uint64_t from)
{
	struct session *session = load_relaxed(&session_here);

	if (!session)
		return 0;
	if (thread->tid != (uint32_t)session->head->pid) {
		if (add_relaxed(&of_others, 1) == OTHERS_MOST)
			gate_mark(GATE_OMP_CALLER, false);
		return 0;
	}
	if (!callers.count)
		store_relaxed(&of_others, OTHERS_MOST + 1);
	return is_asked(&session->head->search, site)
		       ? number_here(session, site, from)
		       : 0;
}

COLD void callers_barrier(const struct thread *thread, uint64_t site,
			  uint64_t region, uint64_t from)
{
	struct session *session = load_relaxed(&session_here);
	const struct caller_python nobody = {.count = 0};
	const struct start start = {.from = from};
	uint64_t codes[CALLER_LOOPS_FRAMES];
	struct caller_barrier *barrier;
	unsigned int count, within = 0;

	if (!session || thread->tid != (uint32_t)session->head->pid ||
	    !callers.find_object || !callers.stack_end)
		return;
	barrier = caller_barrier_of(&callers.barriers, site, region);
	if (!barrier || !caller_barrier_is_looked_at(barrier))
		return;
	know_code();
	count = walk(&start, codes, CALLER_LOOPS_FRAMES, &within);
	/* Loops around the region turn when it is over: what called it is as
	 * if main() had. */
	if (within && count > within + CALLER_START_CALLS) {
		memmove(codes + within, codes + count - CALLER_START_CALLS,
			CALLER_START_CALLS * sizeof(*codes));
		count = within + CALLER_START_CALLS;
	}
	if (!caller_barrier_knows(&callers.barriers, barrier,
				  place_of(codes, min_u32(count, 1 + DEPTH))))
		return;
	/* Of another place than before they are known no more. */
	caller_loops_note(&session->head->search,
			  search_region(site, SEARCH_BARRIER_PLACE), codes,
			  count, 1 + DEPTH, &nobody, find_range);
}

/* Calls leave room for regions. */
static void note_loops_of_call(struct step_search *search, uint64_t site,
			       uint32_t number, const struct start *start,
			       struct caller_python *python)
{
	const uint32_t known = load_relaxed(&search->loop_count);

	if (callers.call_loops >= SEARCH_LOOPS_MAX - SEARCH_LOOPS_REGIONS)
		return;
	note_loops(search, site, number, start, python);
	callers.call_loops += load_relaxed(&search->loop_count) - known;
}

COLD uint32_t callers_number_of_call(const struct thread *thread, uint64_t site)
{
	struct session *session = load_relaxed(&session_here);
	const struct start start = {.is_call = true};
	struct caller_python python;
	uint64_t place;
	uint32_t number;

	if (!session || thread->tid != (uint32_t)session->head->pid ||
	    !callers.find_object || !callers.stack_end)
		return 0;
	know_code();
	place = find_place(&start, &python);
	number = place ? number_of(&callers.calls, place,
				   SEARCH_PLACES_MAX - SEARCH_CALLERS_MAX)
		       : 0;
	if (!number)
		return 0;
	number += SEARCH_CALLERS_MAX;
	note_loops_of_call(&session->head->search, site, number, &start,
			   &python);
	return number | (uint32_t)caller_turns_look(number, &python) << 8;
}
