/* SPDX-License-Identifier: MIT */
/*
 * generated.c - reads torch.compile's own cache; see generated.h.
 *
 *	CACHE/ab/cab...main.so		the library (before 2.8: cab....so)
 *	CACHE/ab/cab...main.cpp		its source
 *	CACHE/??/NAME.py		NAME = async_compile.cpp('''SOURCE''')
 *
 * A cache may be years old and hold ten thousands of files, so it is listed
 * once and its files are read from the newest on, only until the source is
 * found that was asked for.  Files come while the program compiles: for a
 * library that isn't known the folders that have changed are listed again.
 * What may be spent on all of it is bounded.  Directories are read by system
 * call: opendir() takes memory from the program's heap.
 */
#include "writer/state/generated.h"

#include "collector/system/clock.h"
#include "collector/system/log.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define FILE_BYTES_MAX	(4u << 20)
/* Of a cache, in all. */
#define FILES_MAX	16384u
#define TOTAL_BYTES_MAX (64u << 20)
#define TOTAL_NS_MAX	UINT64_C(500000000)
#define NAME_BYTES_MAX	200u
#define ENTRIES_BYTES	4096u
/* One that changed since may change again in the same tick of its clock. */
#define SETTLED_NS	INT64_C(2000000000)

struct known {
	uint64_t hash;
	const char *name;
};

/* A file of Python's, or a folder. */
struct listed {
	uint64_t hash; /* of its path */
	const char *path;
	int64_t changed_ns;
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

/* True, and noted: no more is read. */
static bool is_spent(struct generated *generated)
{
	const uint64_t now = clock_monotonic_ns();

	generated->spent_ns += now - generated->seen_ns;
	generated->seen_ns = now;
	if (generated->read_bytes < generated->limits.bytes &&
	    generated->spent_ns < generated->limits.ns)
		return false;
	generated->is_cut = true;
	return true;
}

static bool is_full(struct generated *generated)
{
	if (generated->listed < generated->limits.files)
		return false;
	generated->is_cut = true;
	return true;
}

static bool same_path(const void *item, const void *key)
{
	return ((const struct listed *)item)->hash == *(const uint64_t *)key;
}

/* The one of this path; made, if need be. */
static struct listed *listed_of(struct generated *generated, const char *path)
{
	const size_t len = strlen(path);
	const uint64_t hash = hash_text(path, len);
	struct listed *listed =
		hash_index_find(&generated->paths, hash, same_path, &hash);

	if (listed)
		return listed;
	listed = arena_alloc(&generated->arena, sizeof(*listed));
	if (!listed)
		return NULL;
	*listed = (struct listed){
		hash, arena_text(&generated->arena, path, len), INT64_MIN};
	if (!listed->path || hash_index_add(&generated->paths, hash, listed))
		return NULL;
	return listed;
}

/* When it was changed; INT64_MIN: it can't be seen. */
static int64_t changed_ns(const char *path)
{
	struct stat status;

	return stat(path, &status) ? INT64_MIN
				   : status.st_mtim.tv_sec * 1000000000 +
					     status.st_mtim.tv_nsec;
}

static int64_t now_ns(void)
{
	struct timespec now = {0, 0};

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Once; it is read later. */
static void list_file(struct generated *generated, const char *path)
{
	struct listed *listed = listed_of(generated, path);
	struct listed **waiting;

	if (!listed || listed->changed_ns != INT64_MIN || is_full(generated) ||
	    array_reserve(&generated->waiting,
			  (generated->waits + 1) * sizeof(listed)))
		return;
	listed->changed_ns = changed_ns(path);
	generated->listed++;
	waiting = generated->waiting.base;
	waiting[generated->waits++] = listed;
}

/* One that hasn't changed since it was read is left out. */
static bool has_changed(struct generated *generated, const char *folder)
{
	struct listed *listed = listed_of(generated, folder);
	const int64_t changed = changed_ns(folder);

	if (!listed || changed == INT64_MIN || changed == listed->changed_ns)
		return false;
	if (now_ns() - changed > SETTLED_NS)
		listed->changed_ns = changed;
	return true;
}

static bool is_wanted(const char *name, bool is_cache)
{
	const size_t len = strlen(name);

	if (is_cache)
		return len == 2 && name[0] != '.';
	return len > 3 && !strcmp(name + len - 3, ".py");
}

/* The cache's folders of two letters; or the files of one. */
static void list_folder(struct generated *generated, const char *folder,
			bool is_cache)
{
	const int file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_Alignas(8) char entries[ENTRIES_BYTES];
	char path[PATH_MAX];
	long got = 0;

	if (file < 0)
		return;
	while (!is_spent(generated) &&
	       (got = syscall(SYS_getdents64, file, entries, sizeof(entries))) >
		       0) {
		const struct entry *entry;

		for (long at = 0; at < got; at += entry->bytes) {
			entry = (const struct entry *)(entries + at);
			if (!is_wanted(entry->name, is_cache) ||
			    log_format(path, sizeof(path), "%s/%s", folder,
				       entry->name) >= sizeof(path) - 1)
				continue;
			if (!is_cache)
				list_file(generated, path);
			else if (has_changed(generated, path))
				list_folder(generated, path, false);
		}
	}
	close(file);
}

/* Older ones before, so that the newest is the last. */
static bool is_newer(const void *a, const void *b, const void *arg)
{
	const struct listed *const *one = a, *const *other = b;

	(void)arg;
	return (*one)->changed_ns > (*other)->changed_ns;
}

/* Reads files until this source has a name. */
static const struct known *read_until(struct generated *generated,
				      uint64_t hash)
{
	struct listed **waiting = generated->waiting.base;
	const struct known *known = NULL;
	const char *text;

	while (!known && generated->waits && !is_spent(generated)) {
		text = read_file(generated, waiting[--generated->waits]->path);
		if (text)
			take_names(generated, text);
		known = hash_index_find(&generated->names, hash, same_hash,
					&hash);
	}
	return known;
}

static const struct known *look_for(struct generated *generated,
				    const char *cache, uint64_t hash)
{
	const struct known *known =
		hash_index_find(&generated->names, hash, same_hash, &hash);

	if (known)
		return known;
	generated->seen_ns = clock_monotonic_ns();
	known = read_until(generated, hash);
	if (known)
		return known;
	list_folder(generated, cache, true);
	array_sort(generated->waiting.base, generated->waits,
		   sizeof(struct listed *), is_newer, NULL);
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

	if (!generated->limits.files)
		generated->limits = (struct generated_limits){
			FILES_MAX, TOTAL_BYTES_MAX, TOTAL_NS_MAX};
	if (len != 6 || memcmp(symbol, "kernel", 6) != 0 ||
	    !is_generated(path, cache, source, sizeof(cache)))
		return NULL;
	text = read_file(generated, source);
	hash = text ? hash_source(text, NULL) : 0;
	if (!hash)
		return NULL;
	known = look_for(generated, cache, hash);
	return known ? known->name : NULL;
}

void generated_end(struct generated *generated)
{
	hash_index_free(&generated->names);
	hash_index_free(&generated->paths);
	array_free(&generated->waiting);
	array_free(&generated->text);
	arena_free(&generated->arena);
}
