/* SPDX-License-Identifier: MIT */
/*
 * generated.c - names and operators from torch.compile's cache; see
 * generated.h.
 *
 *	CACHE/ab/cab...main.so		the library (before 2.8: cab....so)
 *	CACHE/ab/cab...main.cpp		its source
 *	CACHE/??/NAME.py		NAME = async_compile.cpp('''SOURCE''')
 *
 * For a name files are read until the source is found that was asked for, for
 * operators all of them.
 */
#include "writer/state/generated.h"

#include "writer/state/compile_folder.h"
#include <limits.h>
#include <string.h>

#define NAME_BYTES_MAX 200u

struct known {
	uint64_t hash;
	const char *name;
};

static bool same_hash(const void *item, const void *key)
{
	return ((const struct known *)item)->hash == *(const uint64_t *)key;
}

/* Of the function that is called from outside, up to the brace that ends it;
 * 0: there is none before `end`. */
static uint64_t hash_source(const char *text, const char *end)
{
	const char *begin = strstr(text, "extern \"C\"");
	const char *last = begin ? strstr(begin, "\n}\n") : NULL;

	if (!last || (end && last >= end))
		return 0;
	return hash_text(begin, (size_t)(last - begin));
}

static struct known *add(struct generated *generated, uint64_t hash)
{
	struct known *known = arena_alloc(&generated->arena, sizeof(*known));

	if (!known)
		return NULL;
	known->hash = hash;
	hash_index_add(&generated->names, hash, known);
	return known;
}

/* NAME = async_compile.cpp_pybinding([...], r'''SOURCE''') */
static void take_names(struct generated *generated, const char *text)
{
	const char *at = text;

	while ((at = strstr(at, " = async_compile.cpp"))) {
		const char *begin = strstr(at, "'''");
		const char *end = begin ? strstr(begin + 3, "'''") : NULL;
		const char *name = at;
		uint64_t hash;
		struct known *known;

		if (!end)
			return;
		while (name > text && name[-1] != '\n')
			name--;
		hash = hash_source(begin, end);
		if (hash && at > name && at - name < (int)NAME_BYTES_MAX &&
		    !hash_index_find(&generated->names, hash, same_hash,
				     &hash) &&
		    (known = add(generated, hash)))
			known->name = arena_text(&generated->arena, name,
						 (size_t)(at - name));
		at = end;
	}
}

/* False: there is no other file. */
static bool take_next(struct generated *generated)
{
	const char *text = compile_cache_next(&generated->cache);

	if (!text)
		return false;
	take_names(generated, text);
	if (generated->cache.is_trusted)
		kernel_operators_take(&generated->operators, text);
	return true;
}

/* Reads files until this source has a name. */
static const struct known *read_until(struct generated *generated,
				      uint64_t hash)
{
	const struct known *known;

	do {
		known = hash_index_find(&generated->names, hash, same_hash,
					&hash);
	} while (!known && take_next(generated));
	return known;
}

static const struct known *look_for(struct generated *generated,
				    const char *cache, uint64_t hash)
{
	const struct known *known = read_until(generated, hash);

	if (known)
		return known;
	compile_cache_list(&generated->cache, cache);
	return read_until(generated, hash);
}

/* CACHE/ab/cab....so: the path without what follows the last slash but one, and
 * with ".cpp" at its end. */
static bool is_generated(const char *path, char *cache, char *source,
			 size_t bytes)
{
	const size_t len = strlen(path);
	char *slash;

	if (len + 2 > bytes || len < 8 || strcmp(path + len - 3, ".so") != 0)
		return false;
	strcpy(source, path);
	strcpy(source + len - 2, "cpp");
	strcpy(cache, path);
	slash = strrchr(cache, '/');
	if (!slash || slash - cache < 4 || slash[-3] != '/' || slash[1] != 'c')
		return false;
	slash[-3] = '\0';
	return true;
}

const char *generated_name(struct generated *generated, const char *path,
			   const char *symbol, size_t len)
{
	char cache[PATH_MAX], source[PATH_MAX];
	const struct known *known;
	const char *text;
	uint64_t hash;

	if (len != 6 || memcmp(symbol, "kernel", 6) != 0 ||
	    !is_generated(path, cache, source, sizeof(cache)))
		return NULL;
	compile_cache_begin(&generated->cache);
	text = compile_cache_read(&generated->cache, source);
	hash = text ? hash_source(text, NULL) : 0;
	if (!hash)
		return NULL;
	known = look_for(generated, cache, hash);
	return known ? known->name : NULL;
}

/* The one of this name, by all files that are known of now. */
static const struct kernel *read_all(struct generated *generated,
				     const char *kernel)
{
	while (take_next(generated))
		continue;
	return kernel_operators_find(&generated->operators, kernel);
}

const char *generated_operators(struct generated *generated, const char *kernel)
{
	char folder[PATH_MAX];
	const struct kernel *known;

	if (!generated->is_own || !kernel_operators_are_named(kernel))
		return NULL;
	compile_cache_begin(&generated->cache);
	known = read_all(generated, kernel);
	if (!known && compile_folder_find(folder, sizeof(folder))) {
		compile_cache_list(&generated->cache, folder);
		known = read_all(generated, kernel);
	}
	return known ? known->operators : NULL;
}

void generated_end(struct generated *generated)
{
	hash_index_free(&generated->names);
	arena_free(&generated->arena);
	kernel_operators_end(&generated->operators);
	compile_cache_end(&generated->cache);
}
