/* SPDX-License-Identifier: MIT */
/* truncated_file.c - the last whole piece of a file that was cut; see
 * truncated_file.h. */
#include "writer/file/truncated_file.h"

#include "collector/system/descriptor.h"
#include "writer/file/gzip.h"
#include "writer/text/schema.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* What a piece ends with: the lengths of a stored block without content. */
static const char piece_end[4] = {0, 0, (char)0xff, (char)0xff};

/* Follows the stream from mark to mark; what it holds at the last one that ends
 * a block is whole. */
static int find_in_gzip(const char *bytes, uint64_t len,
			struct truncated_file *found, const _Atomic bool *stop)
{
	struct gzip_follower follower;
	uint64_t at = GZIP_HEADER_BYTES;
	int rc = gzip_follow(&follower);

	while (!rc && at < len) {
		const char *mark = memmem(bytes + at, len - at, piece_end,
					  sizeof(piece_end));
		uint64_t next;

		if (!mark)
			break;
		if (stop && load_relaxed((_Atomic bool *)stop))
			rc = -ECANCELED;
		next = (uint64_t)(mark - bytes) + sizeof(piece_end);
		if (rc)
			break;
		rc = gzip_follower_feed(&follower, bytes + at, next - at);
		if (!rc && follower.at_boundary)
			*found = (struct truncated_file){
				next, follower.text_bytes, follower.crc32};
		at = next;
	}
	gzip_follower_close(&follower);
	return rc == -ENOMEM || rc == -ECANCELED ? rc : 0;
}

/* After the first, an event begins with a comma and a line's end. */
static void find_in_text(const char *bytes, uint64_t len,
			 struct truncated_file *found)
{
	static const char events[] = "\"" SCHEMA_EVENTS "\":[";
	const char *begin = memmem(bytes, len, events, sizeof(events) - 1);
	const char *line = bytes + len;

	while ((line = memrchr(bytes, '\n', (size_t)(line - bytes)))) {
		if (line > bytes && line[-1] == ',')
			break;
	}
	if (!begin || !line || line < begin)
		return;
	found->at = found->text_bytes = (uint64_t)(line - bytes) - 1;
	found->crc32 = (uint32_t)crc32_z(0, (const Bytef *)bytes, found->at);
}

/* A copy in memory: a mapping of a file that somebody cuts is a fault. */
static char *read_all(int fd, uint64_t len)
{
	char *bytes = mmap(NULL, len, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t at = 0;

	while (bytes != MAP_FAILED && at < len) {
		const ssize_t got = pread(fd, bytes + at, len - at, (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			munmap(bytes, len);
			return MAP_FAILED;
		}
		at += (uint64_t)got;
	}
	return bytes;
}

int truncated_file_find(const char *path, bool is_plain, uint64_t tail_at,
			struct truncated_file *found, const _Atomic bool *stop)
{
	const int fd = descriptor_open_high(
		path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0);
	struct stat status;
	char *bytes = MAP_FAILED;
	uint64_t len = 0;
	int rc = 0;

	memset(found, 0, sizeof(*found));
	if (fd < 0)
		return -errno;
	if (!fstat(fd, &status) && S_ISREG(status.st_mode))
		len = (uint64_t)status.st_size;
	if (len && len < tail_at)
		bytes = read_all(fd, len);
	close(fd);
	if (bytes == MAP_FAILED)
		return -EBADMSG;
	if (is_plain)
		find_in_text(bytes, len, found);
	else
		rc = find_in_gzip(bytes, len, found, stop);
	munmap(bytes, len);
	return rc || found->text_bytes ? rc : -EBADMSG;
}
