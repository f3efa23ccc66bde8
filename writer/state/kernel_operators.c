/* SPDX-License-Identifier: MIT */
/* kernel_operators.c - reads torch.compile's comments; see kernel_operators.h.
 */
#include "writer/state/kernel_operators.h"

#include <string.h>

#define DEFINES	      " = async_compile.triton("
#define COMMENT	      "Original ATen: ["
#define NODES	      "Source Nodes: ["
#define PREFIX	      "triton_"
#define FUSED	      "_fused_"
#define KIND_LEN      3u /* poi, red, per, tem, for */
#define NAME_MAX_LEN  1000u
#define OPERATORS_MAX 64u
#define LIST_MAX      2000u

struct word {
	const char *text;
	size_t len;
	const char *last; /* the same from behind its namespace on */
	size_t last_len;
};

struct words {
	struct word word[OPERATORS_MAX];
	size_t count;
};

struct wanted {
	const char *name;
	size_t len;
};

static bool same_name(const void *item, const void *key)
{
	const struct kernel *kernel = item;
	const struct wanted *wanted = key;

	return strlen(kernel->name) == wanted->len &&
	       !memcmp(kernel->name, wanted->name, wanted->len);
}

static struct kernel *find(const struct kernel_operators *operators,
			   const char *name, size_t len)
{
	const struct wanted wanted = {name, len};

	return hash_index_find(&operators->kernels, hash_text(name, len),
			       same_name, &wanted);
}

/* The line that ends before `end`. */
static const char *line_before(const char *text, const char *end)
{
	while (end > text && end[-1] != '\n')
		end--;
	return end;
}

/* What stands in the comment above this line, from the first operator on; NULL:
 * there is none. */
static const char *comment_above(const char *text, const char *line,
				 size_t *len)
{
	while (line > text) {
		const char *const end = line - 1;
		const char *list, *last;

		line = line_before(text, end);
		if (line == end)
			continue;
		if (*line != '#')
			return NULL;
		list = memmem(line, (size_t)(end - line), COMMENT,
			      strlen(COMMENT));
		if (!list ||
		    !memmem(line, (size_t)(list - line), NODES, strlen(NODES)))
			continue;
		list += strlen(COMMENT);
		last = memchr(list, ']', (size_t)(end - list));
		*len = last ? (size_t)(last - list) : 0;
		return *len && *len <= LIST_MAX ? list : NULL;
	}
	return NULL;
}

static bool is_of_word(char letter)
{
	return (letter >= 'a' && letter <= 'z') ||
	       (letter >= 'A' && letter <= 'Z') ||
	       (letter >= '0' && letter <= '9') || letter == '_' ||
	       letter == '.' || letter == ':';
}

/* False: it is no list of operators, or too long a one. */
static bool split(const char *list, size_t len, struct words *words)
{
	const char *const end = list + len;
	const char *at = list;

	words->count = 0;
	while (at < end) {
		struct word *word = &words->word[words->count];

		if (words->count++ == OPERATORS_MAX)
			return false;
		*word = (struct word){.text = at, .last = at};
		while (at < end && is_of_word(*at)) {
			at++;
			if (at[-1] == '.')
				word->last = at;
		}
		word->len = (size_t)(at - word->text);
		word->last_len = (size_t)(at - word->last);
		if (!word->last_len ||
		    (at < end && (end - at < 3 || memcmp(at, ", ", 2) != 0)))
			return false;
		at += at < end ? 2 : 0;
	}
	return words->count > 0;
}

static int compare(const char *a, size_t a_len, const char *b, size_t b_len)
{
	const int order = memcmp(a, b, min_u64(a_len, b_len));

	return order ? order : (a_len > b_len) - (a_len < b_len);
}

/* As the names of kernels have them. */
static bool is_after(const void *a, const void *b, const void *arg)
{
	const struct word *one = a, *other = b;
	const int order =
		compare(one->last, one->last_len, other->last, other->last_len);

	(void)arg;
	return order ? order > 0
		     : compare(one->text, one->len, other->text, other->len) >
			       0;
}

static bool is_number(const char *text, const char *end)
{
	if (text == end)
		return false;
	while (text < end && *text >= '0' && *text <= '9')
		text++;
	return text == end;
}

/* Do these, in order, make up triton_poi_fused_add_relu_0? */
static bool make_up(const struct words *words, const char *name, size_t len)
{
	const char *const end = name + len;
	const char *at = name + strlen(PREFIX) + KIND_LEN + strlen(FUSED) - 1;
	const struct word *before = NULL;

	for (size_t i = 0; i < words->count; i++) {
		const struct word *word = &words->word[i];

		if (before && !compare(before->last, before->last_len,
				       word->last, word->last_len))
			continue;
		if ((size_t)(end - at) <= word->last_len || *at != '_' ||
		    memcmp(at + 1, word->last, word->last_len) != 0)
			return false;
		at += 1 + word->last_len;
		before = word;
	}
	return at < end && *at == '_' && is_number(at + 1, end);
}

static bool is_fused(const char *name, size_t len)
{
	return len > strlen(PREFIX) + KIND_LEN + strlen(FUSED) &&
	       len <= NAME_MAX_LEN && !memcmp(name, PREFIX, strlen(PREFIX)) &&
	       !memcmp(name + strlen(PREFIX) + KIND_LEN, FUSED, strlen(FUSED));
}

bool kernel_operators_are_named(const char *name)
{
	return is_fused(name, strlen(name));
}

static uint64_t hash_set(const struct words *words)
{
	uint64_t hash = 0;

	for (size_t i = 0; i < words->count; i++)
		hash = hash_u64(hash + hash_text(words->word[i].text,
						 words->word[i].len));
	return hash;
}

/* Two files have them in another order: that of the alphabet, then. */
static void put_in_order(struct kernel_operators *operators,
			 struct kernel *kernel, const struct words *words)
{
	char list[LIST_MAX + 1];
	size_t used = 0;

	for (size_t i = 0; i < words->count; i++) {
		if (i) {
			memcpy(list + used, ", ", 2);
			used += 2;
		}
		memcpy(list + used, words->word[i].text, words->word[i].len);
		used += words->word[i].len;
	}
	kernel->operators = arena_text(&operators->arena, list, used);
}

static void add(struct kernel_operators *operators, const char *name,
		size_t len, struct kernel kernel)
{
	struct kernel *made = arena_alloc(&operators->arena, sizeof(*made));

	kernel.name = arena_text(&operators->arena, name, len);
	if (!made || !kernel.name)
		return;
	*made = kernel;
	hash_index_add(&operators->kernels, hash_text(name, len), made);
}

static void take(struct kernel_operators *operators, const char *name,
		 size_t len, const char *list, size_t list_len)
{
	struct kernel *known = find(operators, name, len);
	struct kernel kernel = {0};
	struct words words;

	if (list && split(list, list_len, &words)) {
		array_sort(words.word, words.count, sizeof(*words.word),
			   is_after, NULL);
		if (make_up(&words, name, len)) {
			kernel.operators = list;
			kernel.set = hash_set(&words);
		}
	}
	if (!known) {
		if (list && kernel.operators)
			kernel.operators =
				arena_text(&operators->arena, list, list_len);
		add(operators, name, len, kernel);
	} else if (!kernel.operators || known->set != kernel.set) {
		known->operators = NULL;
	} else if (known->operators &&
		   (strlen(known->operators) != list_len ||
		    memcmp(known->operators, list, list_len) != 0)) {
		put_in_order(operators, known, &words);
	}
}

void kernel_operators_take(struct kernel_operators *operators, const char *text)
{
	const char *at = text;

	while ((at = strstr(at, DEFINES))) {
		const char *const name = line_before(text, at);
		const size_t len = (size_t)(at - name);
		size_t list_len = 0;
		const char *list;

		at += strlen(DEFINES);
		if (!is_fused(name, len))
			continue;
		list = comment_above(text, name, &list_len);
		take(operators, name, len, list, list_len);
	}
}

/* "_0d1d2de": each argument's number, and letters for what is known of it. */
static size_t without_arguments(const char *name, size_t len)
{
	const char *const end = name + len;
	const char *begin = memrchr(name, '_', len);
	const char *at = begin ? begin + 1 : end;
	unsigned int number = 0;

	while (at < end) {
		char digits[12];
		size_t count = 0, used = 0;

		for (unsigned int left = number; left || !count; left /= 10)
			digits[count++] = (char)('0' + left % 10);
		while (used < count && at < end &&
		       *at == digits[count - 1 - used]) {
			at++;
			used++;
		}
		if (used < count)
			return len;
		while (at < end && (*at == 'c' || *at == 'd' || *at == 'e'))
			at++;
		number++;
	}
	return number ? (size_t)(begin - name) : len;
}

const struct kernel *
kernel_operators_find(const struct kernel_operators *operators,
		      const char *name)
{
	const size_t len = strlen(name);
	const size_t rest = without_arguments(name, len);
	const struct kernel *kernel = find(operators, name, len);

	if (!kernel && rest < len && is_fused(name, rest))
		kernel = find(operators, name, rest);
	return kernel;
}

void kernel_operators_end(struct kernel_operators *operators)
{
	hash_index_free(&operators->kernels);
	arena_free(&operators->arena);
}
