/* SPDX-License-Identifier: MIT */
/* search.c - the marker that is searched for, seen from its thread; see
 * search.h. */
#include "collector/control/search.h"

#include <string.h>

/* What oneDNN tells ITT of itself begins so. */
#define ONEDNN "dnnl::"

static uint64_t mix(uint64_t value)
{
	value = (value ^ value >> 31) * 0x9e3779b97f4a7c15u;
	value = (value ^ value >> 29) * 0xbf58476d1ce4e5b9u;
	return value ^ value >> 32;
}

uint64_t search_key(const uint64_t *ids, unsigned int context)
{
	uint64_t key = context;

	for (unsigned int i = 0; i <= context; i++)
		key = mix(key * 3 + mix(ids[i] + 1));
	return key;
}

bool search_move(struct step_search *search, uint32_t from, uint32_t to)
{
	/* RELEASE pairs with ACQUIRE in search_state(). */
	return atomic_compare_exchange_strong_explicit(&search->state, &from,
						       to, memory_order_release,
						       memory_order_relaxed);
}

static bool is_hit(struct step_search *search, uint64_t id)
{
	uint64_t *history = search->history;

	if (!search->context)
		return id == search->id;
	memmove(history, history + 1, SEARCH_CONTEXT_MAX * sizeof(*history));
	history[SEARCH_CONTEXT_MAX] = id;
	return id == search->id &&
	       search_key(history + SEARCH_CONTEXT_MAX - search->context,
			  search->context) == search->key;
}

bool search_step(struct step_search *search, uint64_t id)
{
	const bool was_hit = search->was_hit;

	if (search->is_end)
		return false;
	search->was_hit = is_hit(search, id);
	return search->is_begin ? search->was_hit : was_hit;
}

struct search_loops search_loops_of(const struct step_search *search,
				    uint64_t code, uint32_t caller)
{
	/* ACQUIRE pairs with RELEASE in caller_loops_note(). */
	const uint32_t count =
		load_acquire(&((struct step_search *)search)->loop_count);
	const uint64_t id = search_region(code, caller);

	for (uint32_t i = 0; caller && i < min_u64(count, SEARCH_LOOPS_MAX);
	     i++) {
		if (search->loops[i].id == id &&
		    !load_relaxed(
			    &((struct step_search *)search)->loops[i].is_gone))
			return search->loops[i];
	}
	return (struct search_loops){0};
}

uint16_t search_loop_number(const struct step_search *search, uint64_t key)
{
	/* ACQUIRE pairs with RELEASE in caller_loops_note(). */
	const uint32_t count =
		load_acquire(&((struct step_search *)search)->loop_count);

	for (uint32_t i = 0; key && i < min_u64(count, SEARCH_LOOPS_MAX); i++) {
		if (search->loops[i].key == key)
			return (uint16_t)(i + 1);
	}
	return 0;
}

/* --- calls ---------------------------------------------------------------- */

#define KERNEL	      (UINT64_C(1) << 63)
#define SYMBOL_LOOKED 1000u /* never what an interned name is cut at */

uint64_t search_call(bool is_driver, uint32_t cbid)
{
	return (uint64_t)is_driver << 32 | cbid;
}

uint64_t search_kernel(const char *symbol)
{
	uint64_t hash = 14695981039346656037u;

	for (size_t i = 0; symbol[i] && i < SYMBOL_LOOKED; i++)
		hash = (hash ^ (unsigned char)symbol[i]) * 1099511628211u;
	return hash | KERNEL;
}

bool search_is_kernel(uint64_t id)
{
	return id & KERNEL;
}

/* --- names of ranges ------------------------------------------------------ */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static uint64_t name_add(uint64_t hash, const char *text)
{
	for (const char *c = text; *c; c++) {
		if (is_digit(*c) && c > text && is_digit(c[-1]))
			continue;
		hash ^= is_digit(*c) ? '#' : (unsigned char)*c;
		hash *= 1099511628211u;
	}
	return hash;
}

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* Parts of an operator or of XLA's modules, and what compiling is made of. */
static bool is_part(const char *prefix, const char *text)
{
	static const char xla[] = "TSL: ";

	if (begins(prefix && *prefix ? prefix : text, ONEDNN) ||
	    begins(text, "jax.jit: compile "))
		return true;
	if (begins(text, xla))
		text += sizeof(xla) - 1;
	else if (!prefix || strcmp(prefix, "TSL") != 0)
		return false;
	return begins(text, "Thunk:") ||
	       (begins(text, "Xla") && !begins(text, "XlaModule:"));
}

uint64_t search_name(const char *prefix, const char *text)
{
	uint64_t hash = 14695981039346656037u;

	if (is_part(prefix, text))
		return 0;
	if (prefix && *prefix)
		hash = name_add(name_add(hash, prefix), ": ");
	return name_add(hash, text);
}

uint64_t search_label(uint32_t family, const char *text)
{
	return family == SEARCH_RANGES ? search_name(NULL, text)
				       : search_kernel(text);
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_letter(char c)
{
	return lower(c) >= 'a' && lower(c) <= 'z';
}

static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static bool is_word(const char *text, size_t len, const char *const *words)
{
	for (; *words; words++) {
		size_t i = 0;

		while (i < len && lower(text[i]) == (*words)[i])
			i++;
		if (i == len && !(*words)[i])
			return true;
	}
	return false;
}

/* The end of the word that begins here: "trainStep" is two. */
static const char *word_end(const char *text)
{
	const char *end = text + 1;

	while (is_letter(*end) && !(is_upper(*end) && !is_upper(end[-1])))
		end++;
	return end;
}

/* "Thunk:#name=jit(step)/dot,hlo_op=dot.5#", as XLA writes it: what it says of
 * the range behind the first #, the text's end where it says nothing. */
static const char *said_of(const char *text)
{
	const size_t len = strlen(text);
	const char *said = strchr(text, '#');

	return said && said > text && said + 1 < text + len &&
			       text[len - 1] == '#' && strchr(said, '=')
		       ? said
		       : text + len;
}

/* What it says of one thing, NULL nothing. */
static const char *value_of(const char *said, const char *thing)
{
	const char *at = strstr(said, thing);

	return at && (at[-1] == '#' || at[-1] == ',') ? at + strlen(thing)
						      : NULL;
}

enum likeness { LIKE_NONE, LIKE_STEP, LIKE_OTHER };

static enum likeness likeness_of(const char *text, const char *end)
{
	static const char *const likely[] = {
		"step",	     "steps",	 "iteration",  "iter",	    "batch",
		"minibatch", "timestep", "microbatch", "trainstep", NULL};
	/* Part of a step, or more than one. */
	static const char *const others[] = {
		"norm",	      "normalization", "batchnorm", "optimizer",
		"optimiser",  "optim",	       "scheduler", "loader",
		"dataloader", "load",	       "size",	    "prepare",
		"fetch",      "epoch",	       NULL};
	enum likeness found = LIKE_NONE;

	while (text < end) {
		const char *word = text;

		if (!is_letter(*text)) {
			text++;
			continue;
		}
		text = word_end(word);
		if (is_word(word, (size_t)(text - word), others))
			return LIKE_OTHER;
		if (is_word(word, (size_t)(text - word), likely))
			found = LIKE_STEP;
	}
	return found;
}

bool search_is_step_like(const char *text)
{
	const char *said = said_of(text);
	const char *module = *said ? value_of(said, "hlo_module=") : NULL;
	enum likeness found = likeness_of(text, said);

	/* JAX's and TensorFlow's own steps. */
	if (found == LIKE_NONE && *said && value_of(said, "step_num="))
		return true;
	if (found == LIKE_NONE && module)
		found = likeness_of(module, module + strcspn(module, ",#"));
	return found == LIKE_STEP;
}
