/* SPDX-License-Identifier: MIT */
/* compile_cache.c - lists and reads; see compile_cache.h. */
#include "writer/state/compile_cache.h"

#include "collector/system/clock.h"
#include "collector/system/descriptor.h"
#include "collector/system/folder.h"
#include "collector/system/loader.h"
#include "collector/system/log.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FILE_BYTES_MAX	(4u << 20)
/* Of all caches. */
#define FILES_MAX	16384u
#define TOTAL_BYTES_MAX (64u << 20)
#define TOTAL_NS_MAX	UINT64_C(500000000)
/* One that changed since may change again in the same tick of its clock. */
#define SETTLED_NS	INT64_C(2000000000)

/* A file of Python's, or a folder. */
struct listed {
	uint64_t hash; /* of its path */
	const char *path;
	int64_t changed_ns;
};

bool compile_cache_is_trusted(uint32_t owner)
{
	return owner == 0 || owner == geteuid();
}

static const char *read_file(struct compile_cache *cache, const char *path)
{
	const int file =
		open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	struct stat status;
	size_t used = 0;
	ssize_t got = -1;
	char *text;

	if (file < 0)
		return NULL;
	if (!fstat(file, &status) && S_ISREG(status.st_mode)) {
		cache->is_trusted = compile_cache_is_trusted(status.st_uid);
		if ((uint64_t)status.st_size >= FILE_BYTES_MAX) {
			cache->is_cut = true;
		} else if (!array_reserve(&cache->text,
					  (size_t)status.st_size + 1)) {
			text = cache->text.base;
			while (used < (size_t)status.st_size &&
			       (got = read(file, text + used,
					   (size_t)status.st_size - used)) > 0)
				used += (size_t)got;
			cache->read_bytes += used;
			text[used] = '\0';
		}
	}
	close(file);
	return got > 0 ? cache->text.base : NULL;
}

const char *compile_cache_read(struct compile_cache *cache, const char *path)
{
	const bool keeps_forks_out = loader_enter_soon();
	const char *text = read_file(cache, path);

	if (keeps_forks_out)
		loader_leave();
	return text;
}

/* True, and noted: no more is read. */
static bool is_spent(struct compile_cache *cache)
{
	const uint64_t now = clock_monotonic_ns();

	cache->spent_ns += now - cache->seen_ns;
	cache->seen_ns = now;
	if (cache->read_bytes < cache->limits.bytes &&
	    cache->spent_ns < cache->limits.ns)
		return false;
	cache->is_cut = true;
	return true;
}

static bool is_full(struct compile_cache *cache)
{
	if (cache->listed < cache->limits.files)
		return false;
	cache->is_cut = true;
	return true;
}

static bool same_path(const void *item, const void *key)
{
	return ((const struct listed *)item)->hash == *(const uint64_t *)key;
}

/* The one of this path; made, if need be. */
static struct listed *listed_of(struct compile_cache *cache, const char *path)
{
	const size_t len = strlen(path);
	const uint64_t hash = hash_text(path, len);
	struct listed *listed =
		hash_index_find(&cache->paths, hash, same_path, &hash);

	if (listed)
		return listed;
	listed = arena_alloc(&cache->arena, sizeof(*listed));
	if (!listed)
		return NULL;
	*listed = (struct listed){hash, arena_text(&cache->arena, path, len),
				  INT64_MIN};
	if (!listed->path || hash_index_add(&cache->paths, hash, listed))
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
static void list_file(struct compile_cache *cache, const char *path)
{
	struct listed *listed = listed_of(cache, path);
	struct listed **waiting;

	if (!listed || listed->changed_ns != INT64_MIN || is_full(cache) ||
	    array_reserve(&cache->waiting, (cache->waits + 1) * sizeof(listed)))
		return;
	listed->changed_ns = changed_ns(path);
	cache->listed++;
	waiting = cache->waiting.base;
	waiting[cache->waits++] = listed;
}

/* One that hasn't changed since it was read is left out. */
static bool has_changed(struct compile_cache *cache, const char *folder)
{
	struct listed *listed = listed_of(cache, folder);
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

struct listing {
	struct compile_cache *cache;
	const char *folder;
	bool is_cache;
};

static void list_folder(struct compile_cache *cache, const char *folder,
			bool is_cache);

static bool list_entry(const char *name, void *arg)
{
	const struct listing *listing = arg;
	char path[PATH_MAX];

	if (is_wanted(name, listing->is_cache) &&
	    log_format(path, sizeof(path), "%s/%s", listing->folder, name) <
		    sizeof(path) - 1) {
		if (!listing->is_cache)
			list_file(listing->cache, path);
		else if (has_changed(listing->cache, path))
			list_folder(listing->cache, path, false);
	}
	return !is_spent(listing->cache);
}

/* The cache's folders of two letters; or the files of one. */
static void list_folder(struct compile_cache *cache, const char *folder,
			bool is_cache)
{
	const int file =
		descriptor_open_high(folder,
				     O_RDONLY | O_DIRECTORY | O_CLOEXEC |
					     (is_cache ? 0 : O_NOFOLLOW),
				     0);
	struct listing listing = {cache, folder, is_cache};

	if (file < 0)
		return;
	if (!is_spent(cache))
		folder_read(file, list_entry, &listing);
	close(file);
}

/* Older ones before, so that the newest is the last. */
static bool is_newer(const void *a, const void *b, const void *arg)
{
	const struct listed *const *one = a, *const *other = b;

	(void)arg;
	return (*one)->changed_ns > (*other)->changed_ns;
}

void compile_cache_begin(struct compile_cache *cache)
{
	if (!cache->limits.files)
		cache->limits = (struct compile_cache_limits){
			FILES_MAX, TOTAL_BYTES_MAX, TOTAL_NS_MAX};
	cache->seen_ns = clock_monotonic_ns();
}

void compile_cache_list(struct compile_cache *cache, const char *folder)
{
	list_folder(cache, folder, true);
	array_sort(cache->waiting.base, cache->waits, sizeof(struct listed *),
		   is_newer, NULL);
}

const char *compile_cache_next(struct compile_cache *cache)
{
	struct listed **waiting = cache->waiting.base;
	const char *text = NULL;

	while (!text && cache->waits && !is_spent(cache))
		text = compile_cache_read(cache, waiting[--cache->waits]->path);
	return text;
}

void compile_cache_end(struct compile_cache *cache)
{
	hash_index_free(&cache->paths);
	array_free(&cache->waiting);
	array_free(&cache->text);
	arena_free(&cache->arena);
}
