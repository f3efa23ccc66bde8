/* SPDX-License-Identifier: MIT */
/* onednn.c - asks oneDNN for a primitive's operands; see onednn.h. */
#include "preload/blas/onednn.h"
#include "preload/blas/asked.h"

#include "collector/session/blas_op.h"
#include "collector/session/names.h"
#include "collector/session/session.h"
#include "collector/system/log.h"
#include "preload/process/quiet.h"
#include <string.h>

#define DIMS_MAX  12
#define KINDS_MAX 64u

/* As oneDNN numbers its questions in versions 2 and 3; only 3 has the last
 * three. */
enum { ASK_KIND = 2, ASK_RANK = 256, ASK_DIMS = 257, ASK_TYPE = 258 };

/* What an operand is; its gradient is 128 more. */
enum operand {
	SOURCE = 1,
	TARGET = 17,
	WEIGHTS = 33,
	WEIGHTS_END = 37, /* of the recurrent kinds up to four */
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

/* As `names` has them. */
struct functions {
	int (*description)(const void *primitive, const void **);
	int (*query)(const void *description, int what, int index, void *);
	int (*memory)(const void *memory, const void **);
	size_t (*bytes)(const void *memory);
	const char *(*kind_word)(int kind);
	const char *(*type_word)(int type);
	int (*memory_query)(const void *memory, int what, void *); /* or NULL */
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
	double all_weights;
	bool is_backward; /* the target's gradient comes in */
	struct text dims, types;
	uint32_t inputs;
	uint64_t bytes;
};

static const char *const function_names[] = {
	"dnnl_primitive_get_primitive_desc",
	"dnnl_primitive_desc_query",
	"dnnl_memory_get_memory_desc",
	"dnnl_memory_desc_get_size",
	"dnnl_prim_kind2str",
	"dnnl_dt2str",
	"dnnl_memory_desc_query",
};

/* Version 2 has not the last one. */
static struct asked_table libraries = {
	.names = function_names,
	.count = sizeof(function_names) / sizeof(function_names[0]),
	.needed = sizeof(function_names) / sizeof(function_names[0]) - 1,
};
static _Atomic uint32_t names[KINDS_MAX];

COLD void onednn_closed(void)
{
	asked_closed(&libraries);
}

static bool read_tensor(const struct functions *library, const void *memory,
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

/* Each weight is multiplied once for each member of the batch at each time, and
 * back once for each of the two gradients. */
static double by_time(const struct operands *given)
{
	const struct tensor *source = &given->source;

	return source->rank == 3
		       ? 2 * (double)source->dims[0] * (double)source->dims[1] *
				 given->all_weights *
				 (given->is_backward ? 2 : 1)
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
	if (!strcmp(kind, "rnn"))
		return by_time(given);
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
static const char *type_word(const struct functions *library, int type)
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
	given->is_backward |= operand == GRADIENT + TARGET;
	if (operand >= WEIGHTS && operand < WEIGHTS_END)
		given->all_weights += product(tensor);
	switch (operand & ~GRADIENT) {
	case SOURCE: given->source = *tensor; break;
	case TARGET: given->target = *tensor; break;
	case WEIGHTS: given->weights = *tensor; break;
	default: break;
	}
}

static void read_operands(const struct functions *library, const uint64_t *word,
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

static void describe(const struct functions *library, const uint64_t *word,
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
	struct functions library;

	if (word[0] && word[3] && asked_functions(&libraries, real, &library))
		describe(&library, word, event);
	quiet_end(&quiet);
}

void onednn_forget(void)
{
	for (uint32_t i = 0; i < KINDS_MAX; i++)
		store_relaxed(&names[i], 0);
}
