/* SPDX-License-Identifier: MIT */
/* onednn.c - asks oneDNN for a primitive's operands; see onednn.h. */
#include "preload/blas/onednn.h"

#include "collector/session/blas_op.h"
#include "collector/session/names.h"
#include "collector/session/session.h"
#include "collector/system/loader.h"
#include "collector/system/log.h"
#include "preload/process/quiet.h"
#include <dlfcn.h>
#include <link.h>
#include <string.h>

#define LIBRARIES_MAX 4u
#define DIMS_MAX      12
#define KINDS_MAX     64u
#define PATH_BYTES    512u

/* What a place holds while nobody may look: no function lies there. */
#define BEING_FILLED  ((const void *)1)

/* As oneDNN numbers its questions in versions 2 and 3; only 3 has the last
 * three. */
enum { ASK_KIND = 2, ASK_RANK = 256, ASK_DIMS = 257, ASK_TYPE = 258 };

/* What an operand is; its gradient is 128 more. */
enum operand {
	SOURCE = 1,
	TARGET = 17,
	WEIGHTS = 33,
	BIAS = 41,
	SCRATCHPAD = 80,
	GRADIENT = 128,
	MANY = 1024, /* sources, from here on */
	MANY_END = 2048
};

struct operand_given {
	int32_t operand;
	const void *memory;
};

/* How version 2 describes memory. */
struct description {
	int32_t rank;
	int64_t dims[DIMS_MAX];
	int32_t type;
};

struct library {
	const void *_Atomic real; /* NULL free; the rest is constant then */
	bool is_known;
	uintptr_t base;
	char path[PATH_BYTES];
	int (*description)(const void *primitive, const void **);
	int (*query)(const void *description, int what, int index, void *);
	int (*memory)(const void *memory, const void **);
	int (*memory_query)(const void *memory, int what, void *); /* or NULL */
	size_t (*bytes)(const void *memory);
	const char *(*kind_word)(int kind);
	const char *(*type_word)(int type);
};

/* One operand. */
struct tensor {
	int32_t rank;
	const int64_t *dims;
	int type;
	size_t bytes;
};

struct text {
	char bytes[NAME_BYTES_MAX];
	size_t used;
	bool is_cut;
};

struct operands {
	struct tensor source, target, weights;
	struct text dims, types;
	uint32_t inputs;
	uint64_t bytes;
};

static struct library libraries[LIBRARIES_MAX];
static _Atomic uint32_t names[KINDS_MAX];

/* --- the library -----------------------------------------------------------*/

static void *function_of(void *handle, const char *name, bool *is_missing)
{
	void *found = dlsym(handle, name);

	*is_missing |= !found;
	return found;
}

static bool look_up(const void *real, struct library *library)
{
	struct link_map *map = NULL;
	bool is_missing = false;
	void *handle;
	Dl_info info;

	if (!dladdr1(real, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
		return false;
	handle = dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
	if (!handle || strlen(map->l_name) >= PATH_BYTES)
		return false;
	library->base = map->l_addr;
	strcpy(library->path, map->l_name);
#define FIND(field, name)                                                      \
	*(void **)&library->field = function_of(handle, name, &is_missing)
	FIND(description, "dnnl_primitive_get_primitive_desc");
	FIND(query, "dnnl_primitive_desc_query");
	FIND(memory, "dnnl_memory_get_memory_desc");
	FIND(bytes, "dnnl_memory_desc_get_size");
	FIND(kind_word, "dnnl_prim_kind2str");
	FIND(type_word, "dnnl_dt2str");
#undef FIND
	*(void **)&library->memory_query =
		dlsym(handle, "dnnl_memory_desc_query");
	dlclose(handle);
	dlerror();
	return !is_missing;
}

static bool is_where_it_was(const struct library *library, const void *real)
{
	struct link_map *map = NULL;
	Dl_info info;

	return dladdr1(real, &info, (void **)&map, RTLD_DL_LINKMAP) && map &&
	       map->l_addr == library->base &&
	       !strcmp(map->l_name, library->path);
}

static const struct library *fill(struct library *library, const void *real)
{
	const bool keeps_forks_out = loader_enter();

	library->is_known = look_up(real, library);
	if (keeps_forks_out)
		loader_leave();
	/* RELEASE pairs with ACQUIRE in library_of(). */
	store_release(&library->real, real);
	return library->is_known ? library : NULL;
}

static const struct library *library_of(const void *real)
{
	for (uint32_t i = 0; i < LIBRARIES_MAX; i++) {
		struct library *library = &libraries[i];
		/* ACQUIRE pairs with RELEASE in fill(): its functions. */
		const void *seen = load_acquire(&library->real);

		if (seen == real)
			return library->is_known ? library : NULL;
		if (!seen &&
		    atomic_compare_exchange_strong_explicit(
			    &library->real, &seen, BEING_FILLED,
			    memory_order_relaxed, memory_order_relaxed))
			return fill(library, real);
	}
	return NULL;
}

/* A place is never filled again: somebody may be reading it. */
COLD void onednn_closed(void)
{
	for (uint32_t i = 0; i < LIBRARIES_MAX; i++) {
		/* ACQUIRE pairs with RELEASE in fill(): where it lies. */
		const void *real = load_acquire(&libraries[i].real);

		if (real && real != BEING_FILLED &&
		    !is_where_it_was(&libraries[i], real))
			store_relaxed(&libraries[i].real, BEING_FILLED);
	}
}

/* --- a call ----------------------------------------------------------------*/

static bool read_tensor(const struct library *library, const void *memory,
			struct tensor *tensor)
{
	const struct description *plain;
	const void *described = NULL;

	if (!memory || library->memory(memory, &described) || !described)
		return false;
	if (!library->memory_query) {
		plain = described;
		*tensor = (struct tensor){plain->rank, plain->dims, plain->type,
					  0};
	} else if (library->memory_query(described, ASK_RANK, &tensor->rank) ||
		   library->memory_query(described, ASK_DIMS, &tensor->dims) ||
		   library->memory_query(described, ASK_TYPE, &tensor->type)) {
		return false;
	}
	tensor->bytes = library->bytes(described);
	return tensor->rank >= 0 && tensor->rank <= DIMS_MAX && tensor->dims;
}

static double product(const struct tensor *tensor)
{
	double numbers = tensor->rank > 0;

	for (int i = 0; i < tensor->rank; i++)
		numbers *= (double)tensor->dims[i];
	return numbers;
}

/* Each number of `all` takes one multiplication with each weight that belongs
 * to its channel. */
static double by_channel(const struct tensor *all, const struct tensor *weights)
{
	return all->rank > 1 && all->dims[1] > 0
		       ? 2 * product(all) * product(weights) /
				 (double)all->dims[1]
		       : 0;
}

/* Of kinds whose count follows from their operands; 0 another. */
static double work_of(const char *kind, const struct operands *given)
{
	const struct tensor *source = &given->source;

	if (!strcmp(kind, "convolution") || !strcmp(kind, "inner_product"))
		return by_channel(&given->target, &given->weights);
	if (!strcmp(kind, "deconvolution"))
		return by_channel(source, &given->weights);
	if (!strcmp(kind, "matmul") && source->rank > 0)
		return 2 * product(&given->target) *
		       (double)source->dims[source->rank - 1];
	return 0;
}

static void put(struct text *text, const char *more, size_t len)
{
	text->is_cut |= len >= sizeof(text->bytes) - text->used;
	if (text->is_cut)
		return;
	memcpy(text->bytes + text->used, more, len);
	text->used += len;
}

static void put_string(struct text *text, const char *more)
{
	put(text, more, strlen(more));
}

static void put_dims(struct text *text, const struct tensor *tensor)
{
	char digits[24];

	put_string(text, "[");
	for (int i = 0; i < tensor->rank; i++) {
		if (i)
			put_string(text, ",");
		put(text, digits,
		    log_format(digits, sizeof(digits), "%ld",
			       (long)tensor->dims[i]));
	}
	put_string(text, "]");
}

/* As torch writes types, or oneDNN's own word. */
static const char *type_word(const struct library *library, int type)
{
	switch (type) {
	case 1: return "c10::Half";
	case 2: return "c10::BFloat16";
	case 3: return "float";
	case 4: return "int";
	case 5: return "signed char";
	case 6: return "unsigned char";
	case 7: return "double";
	default: return library->type_word(type);
	}
}

static bool is_input(int operand)
{
	return (operand >= SOURCE && operand < TARGET - 1) ||
	       (operand >= WEIGHTS && operand <= BIAS) ||
	       (operand >= GRADIENT + TARGET &&
		operand < GRADIENT + WEIGHTS - 1) ||
	       (operand >= MANY && operand < MANY_END);
}

static void place(struct operands *given, int operand,
		  const struct tensor *tensor)
{
	switch (operand & ~GRADIENT) {
	case SOURCE: given->source = *tensor; break;
	case TARGET: given->target = *tensor; break;
	case WEIGHTS: given->weights = *tensor; break;
	default: break;
	}
}

static void read_operands(const struct library *library, const uint64_t *word,
			  struct operands *given)
{
	const struct operand_given *list = (const void *)word[3];
	struct text *dims = &given->dims, *types = &given->types;
	struct tensor tensor = {0};

	put_string(dims, "\"Input Dims\":[");
	put_string(types, "],\"Input type\":[");
	for (int i = 0; i < (int32_t)word[2]; i++) {
		const int operand = list[i].operand;

		if (operand == SCRATCHPAD ||
		    !read_tensor(library, list[i].memory, &tensor))
			continue;
		given->bytes += tensor.bytes;
		place(given, operand, &tensor);
		if (!is_input(operand))
			continue;
		put_string(dims, given->inputs ? "," : "");
		put_dims(dims, &tensor);
		put_string(types, given->inputs++ ? ",\"" : "\"");
		put_string(types, type_word(library, tensor.type));
		put_string(types, "\"");
	}
	put_string(types, "]");
	put(dims, types->bytes, types->used);
	dims->is_cut |= types->is_cut;
}

static uint32_t name_of(int kind, const char *word)
{
	_Atomic uint32_t *known =
		kind >= 0 && kind < (int)KINDS_MAX ? &names[kind] : NULL;
	uint32_t name = known ? load_relaxed(known) : 0;
	char text[64];
	size_t len;

	if (likely(name))
		return name;
	len = log_format(text, sizeof(text), "onednn_%s", word);
	name = names_intern(load_relaxed(&session_here), text, len);
	if (known)
		store_relaxed(known, name);
	return name;
}

static void describe(const struct library *library, const uint64_t *word,
		     struct event *event)
{
	struct operands given = {0};
	const void *description = NULL;
	const char *kind_word;
	double work;
	int kind = 0;

	if (library->description((const void *)word[0], &description) ||
	    library->query(description, ASK_KIND, 0, &kind))
		return;
	kind_word = library->kind_word(kind);
	event->name = name_of(kind, kind_word);
	read_operands(library, word, &given);
	work = work_of(kind_word, &given);
	event->blas.op = BLAS_PRIMITIVE;
	event->blas.flops = work > 0 && work < 1e18 ? (uint64_t)work : 0;
	event->blas.bytes = given.bytes;
	if (!given.dims.is_cut)
		event->shapes = names_intern(load_relaxed(&session_here),
					     given.dims.bytes, given.dims.used);
}

void onednn_read(const void *real, const uint64_t *word, struct event *event)
{
	const struct quiet quiet = quiet_begin();
	const struct library *library = library_of(real);

	if (library && word[0] && word[3])
		describe(library, word, event);
	quiet_end(&quiet);
}

void onednn_forget(void)
{
	for (uint32_t i = 0; i < KINDS_MAX; i++)
		store_relaxed(&names[i], 0);
}
