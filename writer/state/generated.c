/* SPDX-License-Identifier: MIT */
/*
 * generated.c - reads torch.compile's own cache; see generated.h.
 *
 *	CACHE/ab/cab...main.so		the library (before 2.8: cab....so)
 *	CACHE/ab/cab...main.cpp		its source
 *	CACHE/??/NAME.py		NAME = async_compile.cpp('''SOURCE''')
 *
 * Files come while the program compiles, so the folders are looked through
 * again for each library that isn't known.  Directories are read by system
 * call: opendir() takes memory from the program's heap.
 */
#include "writer/state/generated.h"

#include "collector/system/log.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FILE_BYTES_MAX	(4u << 20)
#define TOTAL_BYTES_MAX (64u << 20) /* of all files that are read */
#define NAME_BYTES_MAX	200u
#define ENTRIES_BYTES	4096u

struct known {
	uint64_t hash;
	const char *name;
};

/* As the kernel gives it. */
struct entry {
	uint64_t inode;
	int64_t next;
	unsigned short bytes;
	unsigned char type;
	char name[];
};

static bool same_hash(const void *item, const void *key)
{
	return ((const struct known *)item)->hash == *(const uint64_t *)key;
}

/* The file's text, until the next one is read; NULL it can't be. */
static const char *read_file(struct generated *generated, const char *path)
{
	const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status;
	size_t used = 0;
	ssize_t got = -1;
	char *text;

	if (file < 0)
		return NULL;
	if (!fstat(file, &status) && S_ISREG(status.st_mode) &&
	    (uint64_t)status.st_size < FILE_BYTES_MAX &&
	    generated->read_bytes < TOTAL_BYTES_MAX &&
	    !array_reserve(&generated->text, (size_t)status.st_size + 1)) {
		text = generated->text.base;
		while (used < (size_t)status.st_size &&
		       (got = read(file, text + used,
				   (size_t)status.st_size - used)) > 0)
			used += (size_t)got;
		generated->read_bytes += used;
		text[used] = '\0';
	}
	close(file);
	return got > 0 ? generated->text.base : NULL;
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

static void *add(struct generated *generated, struct hash_index *index,
		 uint64_t hash)
{
	struct known *known = arena_alloc(&generated->arena, sizeof(*known));

	if (!known)
		return NULL;
	known->hash = hash;
	hash_index_add(index, hash, known);
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
		    (known = add(generated, &generated->names, hash)))
			known->name = arena_text(&generated->arena, name,
						 (size_t)(at - name));
		at = end;
	}
}

static void take_file(struct generated *generated, const char *path)
{
	const uint64_t hash = hash_text(path, strlen(path));
	const char *text;

	if (hash_index_find(&generated->files, hash, same_hash, &hash))
		return;
	add(generated, &generated->files, hash);
	text = read_file(generated, path);
	if (text)
		take_names(generated, text);
}

static bool is_wanted(const char *name, bool is_cache)
{
	const size_t len = strlen(name);

	if (is_cache)
		return len == 2 && name[0] != '.';
	return len > 3 && !strcmp(name + len - 3, ".py");
}

/* The cache's folders of two letters; or the files of one. */
static void look_through(struct generated *generated, const char *folder,
			 bool is_cache)
{
	const int file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_Alignas(8) char entries[ENTRIES_BYTES];
	char path[PATH_MAX];
	long got = 0;

	if (file < 0)
		return;
	while (generated->read_bytes < TOTAL_BYTES_MAX &&
	       (got = syscall(SYS_getdents64, file, entries, sizeof(entries))) >
		       0) {
		const struct entry *entry;

		for (long at = 0; at < got; at += entry->bytes) {
			entry = (const struct entry *)(entries + at);
			if (!is_wanted(entry->name, is_cache) ||
			    log_format(path, sizeof(path), "%s/%s", folder,
				       entry->name) >= sizeof(path) - 1)
				continue;
			if (is_cache)
				look_through(generated, path, false);
			else
				take_file(generated, path);
		}
	}
	close(file);
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
	text = read_file(generated, source);
	hash = text ? hash_source(text, NULL) : 0;
	if (!hash)
		return NULL;
	known = hash_index_find(&generated->names, hash, same_hash, &hash);
	if (!known) {
		look_through(generated, cache, true);
		known = hash_index_find(&generated->names, hash, same_hash,
					&hash);
	}
	return known ? known->name : NULL;
}

void generated_end(struct generated *generated)
{
	hash_index_free(&generated->names);
	hash_index_free(&generated->files);
	array_free(&generated->text);
	arena_free(&generated->arena);
}
