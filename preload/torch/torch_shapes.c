/* SPDX-License-Identifier: MIT */
/* torch_shapes.c - vectors of C++, read and freed; see torch_shapes.h. */
#include "preload/torch/torch_shapes.h"

#include "collector/session/names.h"
#include "collector/system/log.h"
#include <string.h>

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

/* Vectors of numbers in one, freed on the way. */
static bool put_sizes(const struct torch_library *library, struct text *text,
		      const struct torch_vector *sizes)
{
	struct torch_vector *one = (struct torch_vector *)(void *)sizes->begin;
	bool fits = put(text, "\"Input Dims\":[", 14);

	for (size_t i = 0; i < count(sizes, sizeof(*one)); i++) {
		const int64_t *number = (const void *)one[i].begin;

		fits = fits && put(text, ",[" + !i, 2 - (size_t)!i);
		for (size_t k = 0; k < count(&one[i], 8); k++)
			fits = fits && put(text, ",", k > 0) &&
			       put_number(text, number[k]);
		fits = fits && put(text, "]", 1);
		release(library, one[i].begin);
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

/* Before C++11's strings: a pointer to the characters, with a length and a
 * count in front; the empty one is shared. */
static bool put_old_types(const struct torch_library *library,
			  struct text *text, const struct torch_vector *types)
{
	char **one = (char **)(void *)types->begin;
	bool fits = true;

	for (size_t i = 0; i < count(types, sizeof(*one)); i++) {
		size_t len;

		memcpy(&len, one[i] - 24, sizeof(len));
		fits = fits && put_type(text, !i, one[i], len);
		if (len && *(int *)(void *)(one[i] - 8) <= 0)
			release(library, one[i] - 24);
	}
	return fits;
}

static bool put_new_types(const struct torch_library *library,
			  struct text *text, const struct torch_vector *types)
{
	struct torch_string *one = (struct torch_string *)(void *)types->begin;
	bool fits = true;

	for (size_t i = 0; i < count(types, sizeof(*one)); i++) {
		fits = fits && put_type(text, !i, one[i].text, one[i].len);
		if (one[i].text != one[i].small)
			release(library, one[i].text);
	}
	return fits;
}

static bool put_types(const struct torch_library *library, struct text *text,
		      const void *record)
{
	struct torch_vector types = {0};
	bool fits = put(text, ",\"Input type\":[", 15);

	if (library->types) {
		library->types(&types, record);
		fits = fits && put_new_types(library, text, &types);
	} else {
		library->old_types(&types, record);
		fits = fits && put_old_types(library, text, &types);
	}
	release(library, types.begin);
	return put(text, "]", 1) && fits;
}

bool torch_shapes_are_known(const struct torch_library *library)
{
	return library->sizes && library->release &&
	       (library->types || library->old_types);
}

uint32_t torch_shapes(const struct torch_library *library, const void *record)
{
	struct torch_vector sizes = {0};
	struct text text = {.used = 0};
	bool fits;

	library->sizes(&sizes, record, false);
	fits = put_sizes(library, &text, &sizes);
	fits = put_types(library, &text, record) && fits;
	/* Half a list would be no JSON. */
	return fits ? names_intern(load_relaxed(&session_here), text.bytes,
				   text.used)
		    : 0;
}
