/* SPDX-License-Identifier: MIT */
/* file_io.c - which file it was; see file_io.h. */
#include "preload/wait/file_io.h"

#include "collector/session/names.h"
#include "collector/system/log.h"
#include "collector/system/proc.h"
#include "preload/process/hook.h"
#include "preload/process/life.h"
#include "preload/process/process.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A power of two; files beyond the half of it go by folder. */
#define FILES  4096u
#define PROBES 16u

/* A file that was met; key 0: none yet.  Two threads that meet one at once
 * write the same; of two that meet two, one gets the place. */
static struct file {
	_Atomic uint64_t key;
	_Atomic uint32_t name; /* of the session's names; 0: not yet */
} files[FILES];

static _Atomic uint32_t files_met;

static uint64_t mix(uint64_t key, uint64_t value)
{
	key = (key ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return key ^ key >> 29;
}

/* An inode's number is used again, but not with the same time of birth. */
static uint64_t key_of(const struct statx *status)
{
	uint64_t key = mix(0, status->stx_ino);

	key = mix(key, (uint64_t)status->stx_dev_major << 32 |
			       status->stx_dev_minor);
	if (status->stx_mask & STATX_BTIME)
		key = mix(key,
			  (uint64_t)status->stx_btime.tv_sec * 1000000000u +
				  status->stx_btime.tv_nsec);
	return key | 1;
}

/* What is called 0001.jpg goes by "*.jpg" in its folder. */
static void by_folder(char *path)
{
	char *slash = strrchr(path, '/');
	const char *dot;
	size_t len;

	if (!slash)
		return;
	dot = strrchr(slash, '.');
	len = dot ? strlen(dot) : 0;
	memmove(slash + 2, dot ? dot : "", len);
	slash[1] = '*';
	slash[2 + len] = '\0';
}

static COLD uint32_t name_of(struct session *session, int fd)
{
	char link[40], path[PATH_MAX + 2];
	ssize_t len;

	log_format(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, path, PATH_MAX);
	if (len <= 0)
		len = (ssize_t)log_format(path, sizeof(path), "(no path)");
	path[len] = '\0';
	if (add_relaxed(&files_met, 1) >= FILES / 2)
		by_folder(path);
	return names_intern_string(session, path);
}

static bool claim(struct file *file, uint64_t key)
{
	uint64_t was = 0;

	return atomic_compare_exchange_strong_explicit(&file->key, &was, key,
						       memory_order_relaxed,
						       memory_order_relaxed) ||
	       was == key;
}

static uint32_t find(struct session *session, uint64_t key, int fd)
{
	struct file *file = NULL;
	uint32_t name;

	for (uint32_t i = 0; i < PROBES; i++) {
		struct file *at = &files[((key >> 20) + i) & (FILES - 1)];
		const uint64_t has = load_relaxed(&at->key);

		if (has == key && load_relaxed(&at->name))
			return load_relaxed(&at->name);
		if (!has || has == key) {
			file = at;
			break;
		}
	}
	name = name_of(session, fd);
	if (file && claim(file, key))
		store_relaxed(&file->name, name);
	return name;
}

COLD bool file_io_took(enum file_verb verb, int fd, uint64_t bytes,
		       uint64_t start)
{
	struct session *session = load_relaxed(&session_here);
	const uint64_t end = clock_ticks();
	const int saved = errno;
	struct thread *thread;
	struct statx status;
	struct event event = {.kind = EVENT_FILE_IO,
			      .start_ticks = start,
			      .end_ticks = end,
			      .file = {.bytes = bytes, .verb = verb}};
	bool is_file;

	is_file = session &&
		  !statx(fd, "", AT_EMPTY_PATH,
			 STATX_TYPE | STATX_INO | STATX_BTIME, &status) &&
		  S_ISREG(status.stx_mode);
	thread = is_file ? hook_thread_of_any_lightly() : NULL;
	if (thread) {
		event.name = find(session, key_of(&status), fd);
		thread_record(thread, &event);
	}
	errno = saved;
	return is_file;
}

COLD bool file_io_is_file(int fd)
{
	const int saved = errno;
	struct statx status;
	const bool is_known =
		!statx(fd, "", AT_EMPTY_PATH, STATX_TYPE, &status);

	errno = saved;
	return !is_known || S_ISREG(status.stx_mode) ||
	       S_ISDIR(status.stx_mode) || S_ISBLK(status.stx_mode);
}

bool file_io_start(struct session *session)
{
	struct file_sums *sums = &session->head->file_io;

	if (!process.options.io)
		return false;
	/* A session of before had other names. */
	memset(files, 0, sizeof(files));
	store_relaxed(&files_met, 0);
	sums->is_known = proc_io(&sums->read_before, &sums->disk_before);
	return true;
}
