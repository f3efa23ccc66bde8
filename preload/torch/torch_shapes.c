/* SPDX-License-Identifier: MIT */
/* torch_shapes.c - vectors of C++, read and freed; see torch_shapes.h. */
#include "preload/torch/torch_shapes.h"

#include "collector/session/names.h"
#include "collector/system/log.h"
#include <string.h>

#define LIST	  "GenericList" /* of tensors, or of numbers */
#define LISTS_MAX 8u
#define FOREACH	  "aten::_foreach_"

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

/* The inputs that are lists.  Those of tensors come first. */
struct lists {
	size_t at[LISTS_MAX]; /* which inputs they are */
	size_t count;
	size_t tensors; /* how many are of tensors; 0 isn't known */
	size_t length;	/* of each of them */
};

/* Vectors of numbers in one, freed on the way. */
static bool put_sizes(const struct torch_library *library, struct text *text,
		      const struct torch_vector *sizes,
		      const struct lists *lists)
{
	struct torch_vector *one = (struct torch_vector *)(void *)sizes->begin;
	const size_t total = count(sizes, sizeof(*one));
	bool fits = put(text, "\"Input Dims\":[", 14);
	size_t input = 0, list = 0, in_list = 0;

	for (size_t i = 0; i < total; i++) {
		const bool is_listed =
			list < lists->tensors && lists->at[list] == input;

		fits = fits && put(text, ",", i > 0) &&
		       put(text, "[", is_listed && !in_list);
		fits = put_size(library, text, &one[i]) && fits;
		if (is_listed && ++in_list < lists->length)
			continue;
		fits = put(text, "]", is_listed) && fits;
		list += is_listed;
		in_list = 0;
		input++;
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

static void see_type(struct lists *lists, size_t at, const char *type,
		     size_t len)
{
	if (len != sizeof(LIST) - 1 || memcmp(type, LIST, len) != 0)
		return;
	if (lists->count < LISTS_MAX)
		lists->at[lists->count] = at;
	lists->count++;
}

/* Before C++11's strings: a pointer to the characters, with a length and a
 * count in front; the empty one is shared. */
static bool put_old_types(const struct torch_library *library,
			  struct text *text, const struct torch_vector *types,
			  struct lists *lists)
{
	char **one = (char **)(void *)types->begin;
	bool fits = true;

	for (size_t i = 0; i < count(types, sizeof(*one)); i++) {
		size_t len;

		memcpy(&len, one[i] - 24, sizeof(len));
		see_type(lists, i, one[i], len);
		fits = fits && put_type(text, !i, one[i], len);
		if (len && *(int *)(void *)(one[i] - 8) <= 0)
			release(library, one[i] - 24);
	}
	return fits;
}

static bool put_new_types(const struct torch_library *library,
			  struct text *text, const struct torch_vector *types,
			  struct lists *lists)
{
	struct torch_string *one = (struct torch_string *)(void *)types->begin;
	bool fits = true;

	for (size_t i = 0; i < count(types, sizeof(*one)); i++) {
		see_type(lists, i, one[i].text, one[i].len);
		fits = fits && put_type(text, !i, one[i].text, one[i].len);
		if (one[i].text != one[i].small)
			release(library, one[i].text);
	}
	return fits;
}

static bool put_types(const struct torch_library *library, struct text *text,
		      const void *record, struct lists *lists)
{
	struct torch_vector types = {0};
	bool fits = put(text, ",\"Input type\":[", 15);

	if (library->types) {
		library->types(&types, record);
		fits = fits && put_new_types(library, text, &types, lists);
	} else {
		library->old_types(&types, record);
		fits = fits && put_old_types(library, text, &types, lists);
	}
	release(library, types.begin);
	return put(text, "]", 1) && fits;
}

bool torch_shapes_are_known(const struct torch_library *library)
{
	return library->sizes && library->release &&
	       (library->types || library->old_types);
}

/* How many tensors each list has, by how many more sizes than inputs there are
 * in a row; 0 nothing tells.  All lists of a _foreach operator are of one
 * length, and a list of numbers, the last one, has one size without numbers. */
static size_t length_of(const struct torch_library *library, const void *record,
			struct lists *lists, size_t more)
{
	const char *overload;

	if (lists->count == 1) {
		lists->tensors = 1;
		return more + 1;
	}
	if (lists->count > LISTS_MAX || !library->overload ||
	    strncmp(library->name(record), FOREACH, sizeof(FOREACH) - 1) != 0)
		return 0;
	overload = library->overload(record);
	if (strstr(overload, "_out"))
		return 0;
	lists->tensors = lists->count - !strcmp(overload, "ScalarList");
	return more % lists->tensors ? 0 : more / lists->tensors + 1;
}

static size_t ask(const struct torch_library *library, const void *record,
		  struct torch_vector *sizes, bool in_a_row)
{
	struct torch_vector *one = (struct torch_vector *)(void *)sizes->begin;

	for (size_t i = 0; i < count(sizes, sizeof(*one)); i++)
		release(library, one[i].begin);
	release(library, sizes->begin);
	*sizes = (struct torch_vector){0};
	library->sizes(sizes, record, in_a_row);
	return count(sizes, sizeof(*one));
}

/* A list's tensors have sizes of their own where all are asked for in a row. */
static void read_sizes(const struct torch_library *library, const void *record,
		       struct torch_vector *sizes, struct lists *lists)
{
	const size_t inputs = ask(library, record, sizes, false);
	const struct torch_vector *first;
	size_t total;

	if (!lists->count)
		return;
	total = ask(library, record, sizes, true);
	if (total >= inputs)
		lists->length =
			length_of(library, record, lists, total - inputs);
	first = (struct torch_vector *)(void *)sizes->begin + lists->at[0];
	/* An empty list, or one of numbers. */
	if (lists->count == 1 && lists->length == 1 && !count(first, 8))
		lists->length = 0;
	if (lists->length)
		return;
	lists->tensors = 0;
	ask(library, record, sizes, false);
}

/* As torch.profiler calls them. */
static bool put_renamed(struct text *text, const struct text *types,
			const struct lists *lists)
{
	const char *from = types->bytes;
	const char *const end = from + types->used;
	bool fits = true;

	for (size_t i = 0; lists->tensors && i < lists->count; i++) {
		const char *at = memmem(from, (size_t)(end - from), LIST,
					sizeof(LIST) - 1);

		/* It was cut off. */
		if (!at)
			return false;
		fits = fits && put(text, from, (size_t)(at - from)) &&
		       put(text,
			   i < lists->tensors ? "TensorList" : "ScalarList",
			   10);
		from = at + sizeof(LIST) - 1;
	}
	return fits && put(text, from, (size_t)(end - from));
}

uint32_t torch_shapes(const struct torch_library *library, const void *record)
{
	struct lists lists = {.count = 0};
	struct torch_vector sizes = {0};
	struct text text = {.used = 0};
	struct text types = {.used = 0};
	bool fits = put_types(library, &types, record, &lists);

	read_sizes(library, record, &sizes, &lists);
	fits = put_sizes(library, &text, &sizes, &lists) && fits &&
	       put_renamed(&text, &types, &lists);
	/* Half a list would be no JSON. */
	return fits ? names_intern(load_relaxed(&session_here), text.bytes,
				   text.used)
		    : 0;
}
