/* SPDX-License-Identifier: MIT */
/* torch_shapes.c - vectors of C++, read and freed; see torch_shapes.h. */
#include "preload/torch/torch_shapes.h"

#include "collector/session/names.h"
#include "collector/system/log.h"
#include <string.h>

#define LIST "GenericList" /* of tensors, or of numbers */

struct text {
	char bytes[NAME_BYTES_MAX];
	size_t used;
};

/* What has no room leaves the text as it is; false then. */
static bool put(struct text *text, const char *more, size_t len)
{
	if (len >= sizeof(text->bytes) - text->used)
		return false;
	memcpy(text->bytes + text->used, more, len);
	text->used += len;
	return true;
}

static bool put_number(struct text *text, int64_t number)
{
	char digits[24];

	return put(text, digits,
		   log_format(digits, sizeof(digits), "%ld", (long)number));
}

static size_t count(const struct torch_vector *vector, size_t bytes)
{
	return vector->begin ? (size_t)(vector->end - vector->begin) / bytes
			     : 0;
}

static void release(const struct torch_library *library, void *memory)
{
	if (memory)
		library->release(memory);
}

/* The sizes of one tensor, freed. */
static bool put_size(const struct torch_library *library, struct text *text,
		     const struct torch_vector *size)
{
	const int64_t *number = (const void *)size->begin;
	bool fits = put(text, "[", 1);

	for (size_t k = 0; k < count(size, 8); k++)
		fits = fits && put(text, ",", k > 0) &&
		       put_number(text, number[k]);
	release(library, size->begin);
	return fits && put(text, "]", 1);
}

/* Where a list of tensors stands among the inputs, and how many it has. */
struct tensor_list {
	size_t at, count; /* at SIZE_MAX: there is none that is known */
};

/* Vectors of numbers in one, freed on the way. */
static bool put_sizes(const struct torch_library *library, struct text *text,
		      const struct torch_vector *sizes,
		      const struct tensor_list *list)
{
	struct torch_vector *one = (struct torch_vector *)(void *)sizes->begin;
	bool fits = put(text, "\"Input Dims\":[", 14);

	for (size_t i = 0; i < count(sizes, sizeof(*one)); i++) {
		fits = fits && put(text, ",", i > 0) &&
		       put(text, "[", i == list->at);
		fits = put_size(library, text, &one[i]) && fits &&
		       put(text, "]",
			   list->at != SIZE_MAX &&
				   i + 1 == list->at + list->count);
	}
	release(library, sizes->begin);
	return put(text, "]", 1) && fits;
}

/* Numbers are all the same to torch.profiler. */
static bool is_number(const char *type, size_t len)
{
	static const char *const numbers[] = {"Int", "Bool", "Double"};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (len == strlen(numbers[i]) && !memcmp(type, numbers[i], len))
			return true;
	return false;
}

static bool put_type(struct text *text, bool is_first, const char *type,
		     size_t len)
{
	if (is_number(type, len)) {
		type = "Scalar";
		len = 6;
	}
	return put(text, ",\"" + is_first, 2 - (size_t)is_first) &&
	       !memchr(type, '"', len) && !memchr(type, '\\', len) &&
	       put(text, type, len) && put(text, "\"", 1);
}

/* Of two lists it isn't known where the first one ends. */
static void see_type(struct tensor_list *list, size_t at, const char *type,
		     size_t len)
{
	if (len != sizeof(LIST) - 1 || memcmp(type, LIST, len) != 0)
		return;
	list->at = list->count++ ? SIZE_MAX : at;
}

/* Before C++11's strings: a pointer to the characters, with a length and a
 * count in front; the empty one is shared. */
static bool put_old_types(const struct torch_library *library,
			  struct text *text, const struct torch_vector *types,
			  struct tensor_list *list)
{
	char **one = (char **)(void *)types->begin;
	bool fits = true;

	for (size_t i = 0; i < count(types, sizeof(*one)); i++) {
		size_t len;

		memcpy(&len, one[i] - 24, sizeof(len));
		see_type(list, i, one[i], len);
		fits = fits && put_type(text, !i, one[i], len);
		if (len && *(int *)(void *)(one[i] - 8) <= 0)
			release(library, one[i] - 24);
	}
	return fits;
}

static bool put_new_types(const struct torch_library *library,
			  struct text *text, const struct torch_vector *types,
			  struct tensor_list *list)
{
	struct torch_string *one = (struct torch_string *)(void *)types->begin;
	bool fits = true;

	for (size_t i = 0; i < count(types, sizeof(*one)); i++) {
		see_type(list, i, one[i].text, one[i].len);
		fits = fits && put_type(text, !i, one[i].text, one[i].len);
		if (one[i].text != one[i].small)
			release(library, one[i].text);
	}
	return fits;
}

static bool put_types(const struct torch_library *library, struct text *text,
		      const void *record, struct tensor_list *list)
{
	struct torch_vector types = {0};
	bool fits = put(text, ",\"Input type\":[", 15);

	if (library->types) {
		library->types(&types, record);
		fits = fits && put_new_types(library, text, &types, list);
	} else {
		library->old_types(&types, record);
		fits = fits && put_old_types(library, text, &types, list);
	}
	release(library, types.begin);
	return put(text, "]", 1) && fits;
}

bool torch_shapes_are_known(const struct torch_library *library)
{
	return library->sizes && library->release &&
	       (library->types || library->old_types);
}

/* A list's tensors have sizes of their own where all are asked for in a row. */
static void read_sizes(const struct torch_library *library, const void *record,
		       struct torch_vector *sizes, struct tensor_list *list)
{
	struct torch_vector *one;
	size_t inputs;

	library->sizes(sizes, record, false);
	if (list->at == SIZE_MAX)
		return;
	one = (struct torch_vector *)(void *)sizes->begin;
	inputs = count(sizes, sizeof(*one));
	for (size_t i = 0; i < inputs; i++)
		release(library, one[i].begin);
	release(library, sizes->begin);
	*sizes = (struct torch_vector){0};
	library->sizes(sizes, record, true);
	one = (struct torch_vector *)(void *)sizes->begin;
	list->count = count(sizes, sizeof(*one)) - inputs + 1;
	/* An empty list, or one of numbers. */
	if (count(sizes, sizeof(*one)) < inputs ||
	    (list->count == 1 && !count(&one[list->at], 8)))
		list->at = SIZE_MAX;
}

/* As torch.profiler calls it. */
static bool put_renamed(struct text *text, const struct text *types,
			const struct tensor_list *list)
{
	const char *at = list->at == SIZE_MAX
				 ? NULL
				 : memmem(types->bytes, types->used, LIST,
					  sizeof(LIST) - 1);
	const size_t before = at ? (size_t)(at - types->bytes) : types->used;
	const size_t behind = at ? before + sizeof(LIST) - 1 : before;

	return put(text, types->bytes, before) &&
	       (!at || put(text, "TensorList", 10)) &&
	       put(text, types->bytes + behind, types->used - behind);
}

uint32_t torch_shapes(const struct torch_library *library, const void *record)
{
	struct tensor_list list = {SIZE_MAX, 0};
	struct torch_vector sizes = {0};
	struct text text = {.used = 0};
	struct text types = {.used = 0};
	bool fits = put_types(library, &types, record, &list);

	read_sizes(library, record, &sizes, &list);
	fits = put_sizes(library, &text, &sizes, &list) && fits &&
	       put_renamed(&text, &types, &list);
	/* Half a list would be no JSON. */
	return fits ? names_intern(load_relaxed(&session_here), text.bytes,
				   text.used)
		    : 0;
}
