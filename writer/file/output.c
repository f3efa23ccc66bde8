/* SPDX-License-Identifier: MIT */
/*
 * output.c - one file of ours, by a descriptor that lives in somebody else's
 * program.
 */
#include "writer/file/output.h"

#include "collector/system/descriptor.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/single_threaded.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FOLDER_MODE 0700
#define FILE_MODE   0600

/* What a path leads to: the root, and the mounts where the kernel tells. */
struct world {
	uint64_t device, inode, mounts;
};

static struct world home;
static bool has_home;

static struct world look_around(void)
{
	struct world world = {0};
	struct stat status;

	if (!stat("/", &status)) {
		world.device = status.st_dev;
		world.inode = status.st_ino;
	}
	/* The first thread's may be others. */
	if (!stat("/proc/thread-self/ns/mnt", &status))
		world.mounts = status.st_ino;
	return world;
}

void output_stay_here(void)
{
	const int saved = errno;

	home = look_around();
	has_home = true;
	errno = saved;
}

bool output_is_abroad(void)
{
	const struct world world = look_around();

	return has_home &&
	       (world.device != home.device || world.inode != home.inode ||
		(world.mounts && home.mounts && world.mounts != home.mounts));
}

/* Makes every missing folder above the last '/'. */
static int make_folders(const char *path)
{
	char part[OUTPUT_PATH_BYTES];
	struct stat stat_now;
	int rc = 0;

	if (output_is_abroad())
		return 0;
	for (size_t i = 1; path[i]; i++) {
		if (path[i] != '/')
			continue;
		memcpy(part, path, i);
		part[i] = '\0';
		rc = mkdir(part, FOLDER_MODE) ? -errno : 0;
		/* Read-only and forbidden folders may be there all the same. */
		if (rc && !stat(part, &stat_now) && S_ISDIR(stat_now.st_mode))
			rc = 0;
	}
	return rc == -EEXIST ? -ENOTDIR : rc;
}

/* Is the folder, which ends with '/', a link that neither we nor root made? */
static bool is_planted(char *folder)
{
	const size_t len = strlen(folder);
	struct stat status;
	int rc;

	folder[len - 1] = '\0';
	rc = lstat(folder, &status);
	folder[len - 1] = '/';
	return !rc && S_ISLNK(status.st_mode) && status.st_uid &&
	       status.st_uid != geteuid();
}

void output_make_room(void)
{
	const int saved = errno;
	int fd = __libc_single_threaded
			 ? (int)syscall(SYS_eventfd2, 0, EFD_CLOEXEC)
			 : -1;

	if (fd >= 0)
		close(descriptor_move_high(fd));
	errno = saved;
}

/* 0; -EBADF nothing is open there; -ESTALE not a regular file; -ENOENT a file
 * without a name. */
static int identify(int fd, struct output_identity *identity)
{
	struct statx now;
	struct stat old;

	memset(identity, 0, sizeof(*identity));
	if (!statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME,
		   &now)) {
		identity->device =
			(uint64_t)now.stx_dev_major << 32 | now.stx_dev_minor;
		identity->inode = now.stx_ino;
		if (now.stx_mask & STATX_BTIME) {
			identity->birth_seconds = now.stx_btime.tv_sec;
			identity->birth_ns = now.stx_btime.tv_nsec;
		}
		if (!S_ISREG(now.stx_mode))
			return -ESTALE;
		return now.stx_nlink ? 0 : -ENOENT;
	}
	/* Some containers forbid statx(). */
	if (fstat(fd, &old))
		return -errno;
	identity->device = old.st_dev;
	identity->inode = old.st_ino;
	if (!S_ISREG(old.st_mode))
		return -ESTALE;
	return old.st_nlink ? 0 : -ENOENT;
}

static bool is_same(const struct output_identity *a,
		    const struct output_identity *b)
{
	return a->device == b->device && a->inode == b->inode &&
	       a->birth_seconds == b->birth_seconds &&
	       a->birth_ns == b->birth_ns;
}

int output_begin(struct output *output, const char *path)
{
	char folder[OUTPUT_PATH_BYTES];
	const char *slash = strrchr(path, '/');
	int rc;

	memset(output, 0, sizeof(*output));
	output->fd = -1;
	if (strlen(path) >= OUTPUT_PATH_BYTES)
		return -ENAMETOOLONG;
	if (path[0] != '/' || !slash[1])
		return -EINVAL;
	strcpy(output->path, path);
	memcpy(folder, path, (size_t)(slash - path) + 1);
	folder[slash - path + 1] = '\0';
	rc = make_folders(path);
	if (!rc && is_planted(folder))
		rc = -ELOOP;
	if (rc)
		return rc;
	output->fd = descriptor_open_high(
		folder, O_TMPFILE | O_RDWR | O_CLOEXEC, FILE_MODE);
	if (output->fd < 0) {
		output->fd = descriptor_open_high(
			path,
			O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			FILE_MODE);
		output->named = true;
	}
	if (output->fd < 0)
		return -errno;
	rc = identify(output->fd, &output->identity);
	if (!rc || (rc == -ENOENT && !output->named))
		return 0;
	output_cancel(output);
	return rc;
}

void output_adopt(struct output *output, const char *path)
{
	output->named = true;
	snprintf(output->path, sizeof(output->path), "%s", path);
	identify(output->fd, &output->identity);
}

/* Where there is no /proc, the name comes before the content after all: makes
 * a named file and copies what is there. */
static int publish_copy(struct output *output)
{
	struct output named = *output;
	char bytes[PAGE_BYTES];
	uint64_t at = 0;
	ssize_t len;
	int rc = 0;

	named.fd = descriptor_open_high(
		output->path,
		O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
	if (named.fd < 0)
		return -errno;
	named.named = true;
	while (!rc &&
	       (len = pread(output->fd, bytes, sizeof(bytes), (off_t)at)) > 0) {
		rc = output_write(&named, at, bytes, (size_t)len);
		at += (uint64_t)len;
	}
	if (!rc)
		rc = len < 0 ? -errno : identify(named.fd, &named.identity);
	if (rc) {
		output_cancel(&named);
		return rc;
	}
	close(output->fd);
	*output = named;
	return 0;
}

int output_publish(struct output *output)
{
	char link[64];
	int rc;

	if (output->named)
		return 0;
	rc = output_check(output);
	if (rc)
		return rc;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", output->fd);
	if (!linkat(AT_FDCWD, link, AT_FDCWD, output->path,
		    AT_SYMLINK_FOLLOW)) {
		output->named = true;
		return 0;
	}
	return errno == EEXIST ? -EEXIST : publish_copy(output);
}

void output_cancel(struct output *output)
{
	if (output->named && output->fd >= 0)
		unlink(output->path);
	output_close(output);
}

/* Of what `fd` is now. */
static bool is_ours(const struct output *output, int fd, int *rc)
{
	struct output_identity now;

	*rc = identify(fd, &now);
	return (!*rc || *rc == -ENOENT) && is_same(&now, &output->identity);
}

void output_close(struct output *output)
{
	int rc;

	if (output->fd >= 0 && is_ours(output, output->fd, &rc))
		close(output->fd);
	output->fd = -1;
}

/* Opens the file once more, if it is still the same one. */
static int find_again(struct output *output)
{
	int fd, rc;

	if (!output->named)
		return -ESTALE;
	/* O_NONBLOCK: what lies there now may be a pipe. */
	fd = descriptor_open_high(
		output->path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0);
	if (fd < 0)
		return errno == ELOOP || errno == EISDIR || errno == ENXIO
			       ? -ESTALE
			       : -errno;
	if (!is_ours(output, fd, &rc)) {
		close(fd);
		return -ESTALE;
	}
	output->fd = fd;
	return 0;
}

int output_check(struct output *output)
{
	int rc;

	if (output->fd < 0 || !is_ours(output, output->fd, &rc))
		return find_again(output);
	return output->named ? rc : 0;
}

int output_write(const struct output *output, uint64_t at, const void *bytes,
		 size_t len)
{
	const char *next = bytes;

	while (len) {
		const ssize_t done = pwrite(output->fd, next, len, (off_t)at);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done ? -errno : -EIO;
		next += done;
		at += (uint64_t)done;
		len -= (size_t)done;
	}
	return 0;
}

int output_resize(const struct output *output, uint64_t bytes)
{
	while (ftruncate(output->fd, (off_t)bytes)) {
		if (errno != EINTR)
			return -errno;
	}
	return 0;
}
