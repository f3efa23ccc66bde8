/* SPDX-License-Identifier: MIT */
/* naming.c - call sites to names; see naming.h. */
#include "writer/state/naming.h"

#include "collector/system/folded_name.h"
#include "collector/system/log.h"
#include "collector/session/modules.h"
#include "collector/session/names.h"
#include "collector/system/stack_switch.h"
#include "collector/system/symbols.h"
#include <string.h>
#include <sys/mman.h>
#ifdef HAVE_DEMANGLE
#include <libiberty/demangle.h>
#endif

#define FUNCTION_BYTES_MAX 400u	 /* each slice of a region repeats it */
#define PLAIN_BYTES_MAX	   4096u /* what is folded has its end, too */
/* Longer symbols are demangled elsewhere: the demangler's own limit. */
#define SYMBOL_BYTES_MAX   1024u
#define LONG_SYMBOL_MAX	   (64u << 10)
#define LONG_STACK_BYTES   (16u << 20)
/* Of a name that is folded: so much of the room each group of arguments has. */
#define FOLDED_SHARE	   8u
#define FOLDED_BYTES_MIN   1024u
#define OPERATOR_MARKS	   4u /* of the longest, operator<=> and a bracket */
#define OPERATOR_BYTES	   (OPERATOR_MARKS + 8u)
#define DOTS		   "..."
#ifndef DMGL_NO_RECURSE_LIMIT
#define DMGL_NO_RECURSE_LIMIT 0
#endif

/* The symbols of one file, opened at its first address. */
struct naming_module {
	struct naming_module *next;
	const struct module *module;
	struct symbols *symbols; /* NULL: the file can't be read, or is another
				    than the one that ran */
};

struct ordinal_key {
	const char *function;
	size_t len;
	unsigned int ordinal;
};

void naming_start(struct naming *naming, const struct session *session)
{
	*naming = (struct naming){.session = session};
}

void naming_end(struct naming *naming)
{
	for (struct naming_module *m = naming->modules; m; m = m->next) {
		if (m->symbols)
			symbols_close(m->symbols);
	}
	generated_end(&naming->generated);
	hash_index_free(&naming->codes);
	hash_index_free(&naming->ordinals);
	arena_free(&naming->arena);
	naming->modules = NULL;
}

/* What gcc and clang put after the name of a function that they cloned,
 * split or outlined.  All of it goes from the first such word on. */
static size_t without_suffix(const char *symbol, size_t len)
{
	static const char *const suffixes[] = {
		"._omp_fn", ".omp_outlined", ".part.",	   ".cold",
		".isra.",   ".constprop.",   ".lto_priv.", ".llvm.",
		".clone.",  ".localalias",   ".resolver",  "._omp_cpyfn",
	};
	size_t kept = len;

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		const char *at =
			memmem(symbol, kept, suffixes[i], strlen(suffixes[i]));

		if (at && at > symbol)
			kept = (size_t)(at - symbol);
	}
	return kept;
}

#ifdef HAVE_DEMANGLE
struct demangled {
	char *text;
	size_t used;
	size_t bytes;
	bool is_cut; /* there was more than room */
	bool folds;  /* of template arguments the first bytes alone are kept */
	size_t depth, inside;
	char recent[OPERATOR_BYTES]; /* what came last */
};

/* The end of a name has the function: what lies before it goes. */
static void drop_begin(struct demangled *out)
{
	const size_t kept = out->bytes / 2;

	if (out->bytes < 2 * sizeof(DOTS) || !out->folds)
		return;
	memcpy(out->text, DOTS, sizeof(DOTS) - 1);
	memmove(out->text + sizeof(DOTS) - 1, out->text + out->used - kept,
		kept);
	out->used = sizeof(DOTS) - 1 + kept;
}

static void add_text(struct demangled *out, const char *piece, size_t len)
{
	size_t fits;

	if (len > out->bytes - 1 - out->used)
		drop_begin(out);
	fits = min_u64(len, out->bytes - 1 - out->used);
	memcpy(out->text + out->used, piece, fits);
	out->used += fits;
	out->is_cut |= fits < len;
}

/* The last byte that came, a < or >, is a bracket: it belongs to no operator's
 * name and to no arrow. */
static bool is_bracket(const struct demangled *out)
{
	static const char word[] = "operator";
	const char *end = out->recent + OPERATOR_BYTES;
	size_t marks = 0;

	while (marks < OPERATOR_MARKS && strchr("<>-=", end[-1 - (long)marks]))
		marks++;
	return memcmp(end - marks - (sizeof(word) - 1), word,
		      sizeof(word) - 1) != 0 &&
	       !(end[-1] == '>' && end[-2] == '-');
}

/* As folded_name() would have it, but for the first arguments, among which it
 * looks for the function that a lambda is of. */
static void add_folded(struct demangled *out, char byte)
{
	bool is_end;

	memmove(out->recent, out->recent + 1, OPERATOR_BYTES - 1);
	out->recent[OPERATOR_BYTES - 1] = byte;
	is_end = byte == '>' && out->depth && is_bracket(out);
	out->depth -= is_end;
	if (!out->depth)
		add_text(out, &byte, 1);
	else if (++out->inside < out->bytes / FOLDED_SHARE)
		add_text(out, &byte, 1);
	if (byte == '<' && is_bracket(out) && !out->depth++)
		out->inside = 0;
}

static void add_demangled(const char *piece, size_t len, void *arg)
{
	struct demangled *out = arg;

	if (!out->folds)
		add_text(out, piece, len);
	for (size_t at = 0; out->folds && at < len; at++)
		add_folded(out, piece[at]);
}

/* Rust's old names look like C++'s, with a hash behind that nobody wants.  The
 * callback forms take no memory from malloc. */
static bool demangle_to(const char *symbol, int options, struct demangled *out)
{
	const struct demangled empty = {
		.text = out->text, .bytes = out->bytes, .folds = out->folds};

	if (rust_demangle_callback(symbol, DMGL_NO_OPTS, add_demangled, out))
		return true;
	*out = empty;
	return symbol[1] == 'Z' &&
	       cplus_demangle_v3_callback(symbol, options, add_demangled, out);
}

/* What has no room is said once more, with its arguments folded. */
static bool demangle(const char *symbol, int options, struct demangled *out)
{
	bool is_done = demangle_to(symbol, options, out);

	if (is_done && out->is_cut && out->bytes >= FOLDED_BYTES_MIN) {
		*out = (struct demangled){
			.text = out->text, .bytes = out->bytes, .folds = true};
		is_done = demangle_to(symbol, options, out);
	}
	return is_done;
}

/* --- symbols of some KB --------------------------------------------------- */

struct long_symbol {
	struct demangled *out;
	bool is_done;
	char text[LONG_SYMBOL_MAX];
};

static void demangle_on_it(void *arg)
{
	struct long_symbol *symbol = arg;

	symbol->is_done =
		demangle(symbol->text, DMGL_NO_RECURSE_LIMIT, symbol->out);
}

/* The demangler refuses them for fear of its stack: it gets one that has room
 * for the worst of them, 184 bytes for each of theirs. */
static bool demangle_long(const char *symbol, size_t len, struct demangled *out)
{
	const size_t bytes = LONG_STACK_BYTES + sizeof(struct long_symbol);
	char *stack;
	struct long_symbol *made;
	bool is_done;

	if (len >= LONG_SYMBOL_MAX)
		return false;
	stack = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (stack == MAP_FAILED)
		return false;
	made = (struct long_symbol *)(void *)(stack + LONG_STACK_BYTES);
	made->out = out;
	memcpy(made->text, symbol, len);
	stack_switch((uintptr_t)made, demangle_on_it, made);
	is_done = made->is_done;
	munmap(stack, bytes);
	return is_done;
}

static bool demangle_any(const char *symbol, size_t len, struct demangled *out)
{
	char mangled[SYMBOL_BYTES_MAX];

	if (len >= sizeof(mangled))
		return demangle_long(symbol, len, out);
	memcpy(mangled, symbol, len);
	mangled[len] = '\0';
	return demangle(mangled, DMGL_NO_OPTS, out);
}
#endif

size_t naming_tidy(const char *symbol, size_t symbol_len, char *text,
		   size_t bytes)
{
	const size_t len = without_suffix(symbol, symbol_len);
	const size_t kept = min_u64(len, bytes - 1);

#ifdef HAVE_DEMANGLE
	struct demangled out = {.text = text, .bytes = bytes};

	if (len > 2 && symbol[0] == '_' &&
	    (symbol[1] == 'Z' || symbol[1] == 'R') &&
	    demangle_any(symbol, len, &out) && out.used) {
		text[out.used] = '\0';
		return out.used;
	}
#endif
	memcpy(text, symbol, kept);
	text[kept] = '\0';
	return kept;
}

static bool is_same_file(const struct module *a, const struct module *b)
{
	return strcmp(a->path, b->path) == 0 && a->id_len == b->id_len &&
	       memcmp(a->build_id, b->build_id, a->id_len) == 0;
}

/* The file as it is on disk now: after a crash it may have been built again,
 * and its names would be wrong ones. */
static struct symbols *open_symbols(const struct module *module)
{
	struct symbols *symbols = symbols_open(module->path);

	if (!symbols ||
	    symbols_is_build(symbols, module->build_id, module->id_len))
		return symbols;
	symbols_close(symbols);
	return NULL;
}

static struct symbols *symbols_of(struct naming *naming,
				  const struct module *module)
{
	struct naming_module *m = naming->modules;

	while (m && !is_same_file(m->module, module))
		m = m->next;
	if (!m) {
		m = arena_alloc(&naming->arena, sizeof(*m));
		if (!m)
			return NULL;
		m->module = module;
		m->symbols = open_symbols(module);
		m->next = naming->modules;
		naming->modules = m;
	}
	return m->symbols;
}

static bool same_ordinal(const void *item, const void *key)
{
	const struct code_name *name = item;
	const struct ordinal_key *want = key;

	return name->ordinal == want->ordinal && name->shown_len == want->len &&
	       memcmp(name->shown, want->function, want->len) == 0;
}

unsigned int naming_ordinal(struct naming *naming, struct code_name *name)
{
	struct ordinal_key key = {.function = name->shown,
				  .len = name->shown_len,
				  .ordinal = name->wanted ? name->wanted : 1};
	const uint64_t hash = hash_text(name->shown, name->shown_len);

	if (name->origin)
		return naming_ordinal(naming, name->origin);
	if (name->ordinal)
		return name->ordinal;
	while (hash_index_find(&naming->ordinals, hash + key.ordinal,
			       same_ordinal, &key))
		key.ordinal++;
	name->ordinal = key.ordinal;
	hash_index_add(&naming->ordinals, hash + key.ordinal, name);
	return key.ordinal;
}

static const struct module *module_of(struct naming *naming, uint64_t address,
				      uint64_t ticks, uint64_t *until)
{
	const struct module *module =
		modules_find_at(naming->session, address, ticks, until);

	/* A library that was loaded a moment ago. */
	if (!module && naming->session->writable &&
	    modules_refresh((struct session *)naming->session) > 0)
		module =
			modules_find_at(naming->session, address, ticks, until);
	return module;
}

/* Of a function in a module: as in its source, or what its author called it. */
static void name_symbol(struct naming *naming, const struct module *module,
			const struct symbol *symbol, char *text, size_t bytes)
{
	const size_t len =
		naming_tidy(symbol->name, symbol->name_len, text, bytes);
	const char *name =
		generated_name(&naming->generated, module->path, text, len);

	if (name)
		log_format(text, bytes, "%s", name);
	else if (naming->generated.cache.is_cut && naming->session->writable)
		session_note((struct session *)naming->session,
			     "functions of torch.compile's may be called "
			     "\"kernel\": its cache holds more than is looked "
			     "through");
}

const char *naming_operators(struct naming *naming, const char *kernel)
{
	const char *operators = generated_operators(&naming->generated, kernel);

	if (!operators && naming->generated.cache.is_cut &&
	    naming->session->writable && kernel_operators_are_named(kernel))
		session_note((struct session *)naming->session,
			     "kernels of torch.compile's may lack their "
			     "operators: its cache holds more than is looked "
			     "through");
	return operators;
}

/* What lanes and tables have room for. */
static void show(struct naming *naming, struct code_name *name,
		 const char *plain)
{
	struct folded_name folded;
	const char *text = NULL;

	name->shown = name->function;
	name->shown_len = name->len;
	folded = folded_name(plain, FOLDED_NAME_WHOLE);
	if (strcmp(folded.text, name->function))
		text = arena_text(&naming->arena, folded.text, folded.len);
	if (!text)
		return;
	name->shown = text;
	name->shown_len = folded.len;
}

struct frame_name naming_frame(const struct code_name *name)
{
	return name->len > FOLDED_NAME_MAX
		       ? (struct frame_name){name->shown, name->shown_len}
		       : (struct frame_name){name->function, name->len};
}

static void set_function(struct naming *naming, struct code_name *name,
			 const char *text)
{
	name->len = strnlen(text, FUNCTION_BYTES_MAX - 1);
	name->function = arena_text(&naming->arena, text, name->len);
	if (!name->function) {
		name->function = "";
		name->len = 0;
	}
	show(naming, name, text);
}

static void resolve(struct naming *naming, struct code_name *name)
{
	/* The call that returns here may be its function's last instruction:
	 * look at the byte before. */
	const struct module *module = name->module;
	char text[PLAIN_BYTES_MAX];
	struct symbols *symbols;
	struct symbol symbol;

	if (!module) {
		log_format(text, sizeof(text), "code at 0x%lx", name->code);
	} else if ((symbols = symbols_of(naming, module)) &&
		   !symbols_find(symbols, name->code - 1 - module->bias,
				 &symbol)) {
		name_symbol(naming, module, &symbol, text, sizeof(text));
		name->wanted = symbols_call_ordinal(symbols,
						    name->code - module->bias);
	} else {
		const char *slash = strrchr(module->path, '/');

		log_format(text, sizeof(text), "%s+0x%lx",
			   slash ? slash + 1 : module->path,
			   name->code - module->bias);
	}
	set_function(naming, name, text);
}

/* gcc calls what it makes of a construct in f() "f._omp_fn.0". */
static bool outlined_from(struct naming *naming, uint64_t outlined, char *text,
			  size_t bytes)
{
	uint64_t until;
	const struct module *module =
		module_of(naming, outlined, UINT64_MAX, &until);
	struct symbols *symbols = module ? symbols_of(naming, module) : NULL;
	struct symbol symbol;

	if (!symbols ||
	    symbols_find(symbols, outlined - module->bias, &symbol) ||
	    symbol.start != outlined - module->bias ||
	    !memmem(symbol.name, symbol.name_len, "._omp_fn.", 9))
		return false;
	name_symbol(naming, module, &symbol, text, bytes);
	return true;
}

/* In a key: the address of a call that a region was begun by. */
#define OF_REGION (UINT64_C(1) << 63)

struct code_key {
	uint64_t key;
	uint64_t ticks; /* of whose event it is; UINT64_MAX: now */
};

static bool same_code(const void *item, const void *key)
{
	const struct code_name *name = item;
	const struct code_key *want = key;

	return name->key == want->key && want->ticks <= name->until_ticks &&
	       (!name->module || want->ticks > name->module->from_ticks);
}

/* Another library may lie there by now. */
static void look_again(const struct naming *naming, struct code_name *name)
{
	const uint64_t count =
		load_relaxed(&naming->session->head->module_count);
	const struct module *module;

	if (name->modules == count)
		return;
	name->modules = count;
	module = modules_find(naming->session, name->code - 1);
	if (module != name->module && module)
		name->until_ticks =
			min_u64(name->until_ticks, module->from_ticks);
}

static struct code_name *find(struct naming *naming, uint64_t key,
			      uint64_t ticks)
{
	const struct code_key want = {key, ticks};
	struct code_name *name = hash_index_find(&naming->codes, hash_u64(key),
						 same_code, &want);

	if (!name)
		return NULL;
	look_again(naming, name);
	return same_code(name, &want)
		       ? name
		       : hash_index_find(&naming->codes, hash_u64(key),
					 same_code, &want);
}

static struct code_name *add(struct naming *naming, uint64_t key,
			     uint64_t ticks)
{
	struct code_name *name = arena_alloc(&naming->arena, sizeof(*name));

	if (!name)
		return NULL;
	name->key = key;
	name->code = key & ~OF_REGION;
	name->module =
		module_of(naming, name->code - 1, ticks, &name->until_ticks);
	name->modules = load_relaxed(&naming->session->head->module_count);
	hash_index_add(&naming->codes, hash_u64(key), name);
	return name;
}

static void take_function(struct code_name *name, const struct code_name *other)
{
	name->function = other->function;
	name->len = other->len;
	name->shown = other->shown;
	name->shown_len = other->shown_len;
}

/* Where the call was inlined, the construct's own function names it, the same
 * wherever that was. */
static void name_inlined(struct naming *naming, struct code_name *name,
			 uint64_t outlined)
{
	char text[PLAIN_BYTES_MAX];
	struct code_name *origin;

	if (!outlined || !outlined_from(naming, outlined, text, sizeof(text)) ||
	    strncmp(text, name->function, FUNCTION_BYTES_MAX - 1) == 0)
		return;
	origin = find(naming, outlined, UINT64_MAX);
	if (!origin) {
		origin = add(naming, outlined, UINT64_MAX);
		if (!origin)
			return;
		set_function(naming, origin, text);
	}
	take_function(name, origin);
	name->origin = origin;
}

/* A call in a body that the compiler moved out of the function. */
static void borrow(struct naming *naming, struct code_name *name,
		   uint64_t named)
{
	take_function(name, naming_find(naming, named, named, 0));
}

static struct code_name *find_or_add(struct naming *naming, uint64_t code,
				     uint64_t named, uint64_t outlined,
				     uint64_t ticks)
{
	static struct code_name nowhere = {.function = "unknown code",
					   .len = 12,
					   .shown = "unknown code",
					   .shown_len = 12,
					   .ordinal = 1};
	struct code_name *name;

	if (!code)
		return &nowhere;
	if (outlined)
		code |= OF_REGION;
	name = find(naming, code, ticks);
	if (name)
		return name;
	name = add(naming, code, ticks);
	if (!name)
		return &nowhere;
	if (named != name->code) {
		borrow(naming, name, named);
	} else {
		resolve(naming, name);
		name_inlined(naming, name, outlined);
	}
	return name;
}

struct code_name *naming_find(struct naming *naming, uint64_t code,
			      uint64_t named, uint64_t outlined)
{
	return find_or_add(naming, code, named, outlined, UINT64_MAX);
}

struct code_name *naming_find_at(struct naming *naming, uint64_t code,
				 uint64_t ticks)
{
	return find_or_add(naming, code, code, 0, ticks);
}
