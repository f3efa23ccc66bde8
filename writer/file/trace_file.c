/* SPDX-License-Identifier: MIT */
/*
 * trace_file.c - one trace on disk, complete and valid at every moment.
 *
 * Texts are gathered in blocks of whole events, blocks coded into pieces,
 * pieces put on disk together with a tail (tail.c).  CRC and length are kept
 * for the text without tail, so nothing is ever computed twice.
 */
#include "writer/file/trace_file.h"
#include "writer/file/tail.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Text coded at once: as much as makes a piece that, with what may lie before
 * it, fits a shield. */
#define BLOCK_MIN   (32u << 10)
#define BLOCK_FIRST (64u << 10)
#define BLOCK_MAX   (256u << 10)
#define PIECE_LONG  (32u << 10)
#define PIECE_SHORT (12u << 10)
/* Pieces written at once. */
#define RENEW_BYTES (24u << 10)

/* Makes one piece of `len` bytes of whole events. */
static int code(struct trace_file *file, const char *text, size_t len,
		const struct fields *fields)
{
	const struct coder_text block = {text, len, fields, false};
	size_t made;
	int rc = tail_make_room(file, coder_bound(&file->coder, len));

	if (!rc)
		rc = coder_block(&file->coder, &block,
				 tail_piece(file, file->pieces_used), &made);
	if (rc)
		return rc;
	if (made > PIECE_LONG)
		file->block_bytes = max_u64(file->block_bytes / 2, BLOCK_MIN);
	else if (made < PIECE_SHORT && len > file->block_bytes / 2)
		file->block_bytes = min_u64(file->block_bytes * 2, BLOCK_MAX);
	file->pieces_used += made;
	file->crc32 = coder_crc32(&file->coder, file->crc32, text, len);
	file->text_bytes += len;
	return 0;
}

static int code_text(struct trace_file *file)
{
	int rc = code(file, file->text, file->text_used, NULL);

	if (!rc)
		file->text_used = 0;
	return rc;
}

/* A renewal between checkpoints, once enough has come together. */
static int renew_if_due(struct trace_file *file)
{
	static const char short_tail[] = TRACE_FILE_SHORT_TAIL;

	if (file->pieces_used < RENEW_BYTES)
		return 0;
	if (file->tail.used > TRACE_FILE_TAIL_KEPT)
		return tail_renew(file, short_tail, sizeof(short_tail) - 1);
	return tail_renew(file, file->tail.data, file->tail.used);
}

static int fail(struct trace_file *file, int rc)
{
	file->error = rc;
	return rc;
}

static void mark_checkpoint(struct trace_file *file)
{
	file->checkpoint = (struct trace_file_mark){
		file->tail_at, file->text_bytes, file->crc32};
}

static void release(struct trace_file *file)
{
	if (file->text)
		munmap(file->text, BLOCK_MAX);
	if (file->pieces)
		munmap(file->pieces, file->pieces_room);
	json_close(&file->tail);
	coder_close(&file->coder);
	file->text = NULL;
	file->pieces = NULL;
	file->error = -EBADF;
}

static void *map(size_t bytes)
{
	void *ptr = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return ptr == MAP_FAILED ? NULL : ptr;
}

/* Buffers, coder, and a file that isn't published yet. */
static int prepare(struct trace_file *file, const char *path, const char *coder)
{
	struct coder_choice choice;
	int rc;

	memset(file, 0, sizeof(*file));
	file->output.fd = -1;
	rc = coder_parse(coder, &choice, NULL, 0);
	if (!rc)
		rc = coder_open(&file->coder, &choice);
	if (rc)
		return rc;
	file->block_bytes = BLOCK_FIRST;
	file->pieces_room = align_up(BLOCK_MAX + RENEW_BYTES, PAGE_BYTES);
	file->text = map(BLOCK_MAX);
	file->pieces = map(file->pieces_room);
	if (!file->text || !file->pieces)
		rc = -ENOMEM;
	if (!rc)
		rc = json_open(&file->tail, TRACE_FILE_TAIL_KEPT);
	if (!rc)
		rc = tail_make_room(file, coder_bound(&file->coder, BLOCK_MAX));
	if (!rc)
		rc = output_begin(&file->output, path);
	if (rc)
		release(file);
	return rc;
}

/* Everything up to `at` is written; adds the pieces and a first tail, and
 * gives the file its name. */
static int publish(struct trace_file *file, uint64_t at)
{
	static const char tail[] = TRACE_FILE_SHORT_TAIL;
	size_t tail_offset, len;
	int rc = tail_lay(file, at, tail, sizeof(tail) - 1, &tail_offset, &len);

	if (!rc)
		rc = output_write(&file->output, at, tail_piece(file, 0), len);
	if (!rc)
		rc = tail_keep(file, tail, sizeof(tail) - 1);
	if (!rc)
		rc = output_publish(&file->output);
	if (rc)
		return rc;
	file->tail_at = at + tail_offset;
	file->end = at + len;
	file->pieces_used = 0;
	mark_checkpoint(file);
	return 0;
}

static int give_up(struct trace_file *file, int rc)
{
	if (rc) {
		output_cancel(&file->output);
		release(file);
	}
	return rc;
}

int trace_file_create(struct trace_file *file, const char *path,
		      const char *coder, const char *head, size_t head_len)
{
	char header[GZIP_HEADER_BYTES];
	uint64_t at = 0;
	int rc = prepare(file, path, coder);

	if (rc)
		return rc;
	if (!trace_file_is_plain(file)) {
		gzip_header(header);
		at = sizeof(header);
		rc = output_write(&file->output, 0, header, sizeof(header));
	}
	if (!rc)
		rc = code(file, head, head_len, NULL);
	if (!rc)
		rc = publish(file, at);
	return give_up(file, rc);
}

/* The longest run of whole events in `text` that fits; 0 not even one. */
static size_t whole_events(const char *text, size_t len, size_t room)
{
	const char *line;

	if (len <= room)
		return len;
	line = room ? memrchr(text + 1, '\n', room) : NULL;
	return line ? (size_t)(line - text) - 1 : 0;
}

/* The first event's length, however long it is. */
static size_t first_event(const char *text, size_t len)
{
	const char *line = len > 2 ? memchr(text + 2, '\n', len - 2) : NULL;

	return line ? (size_t)(line - text) - 1 : len;
}

int trace_file_append(struct trace_file *file, const char *text, size_t len,
		      const struct fields *fields)
{
	int rc = file->error;

	/* A copy would cost more than a block that isn't full. */
	if (!rc && !file->text_used && fields && len <= 2 * file->block_bytes) {
		rc = code(file, text, len, fields);
		if (!rc)
			rc = renew_if_due(file);
		len = 0;
	}
	while (len && !rc) {
		size_t whole = whole_events(
			text, len, file->block_bytes - file->text_used);

		if (whole) {
			memcpy(file->text + file->text_used, text, whole);
			file->text_used += whole;
		} else {
			if (!file->text_used) {
				whole = first_event(text, len);
				rc = code(file, text, whole, NULL);
			} else {
				rc = code_text(file);
			}
			if (!rc)
				rc = renew_if_due(file);
		}
		text += whole;
		len -= whole;
	}
	return rc ? fail(file, rc) : 0;
}

int trace_file_checkpoint(struct trace_file *file, const char *tail,
			  size_t tail_len)
{
	int rc = file->error;

	if (!rc)
		rc = code_text(file);
	if (rc)
		return fail(file, rc);
	/* An idle program's file doesn't grow. */
	if (file->pieces_used || tail_len != file->tail.used ||
	    memcmp(tail, file->tail.data, tail_len))
		rc = tail_renew(file, tail, tail_len);
	if (rc)
		return fail(file, rc);
	mark_checkpoint(file);
	return 0;
}

int trace_file_finish(struct trace_file *file, const char *tail,
		      size_t tail_len)
{
	int rc = trace_file_checkpoint(file, tail, tail_len);

	trace_file_abandon(file);
	return rc;
}

void trace_file_abandon(struct trace_file *file)
{
	output_close(&file->output);
	release(file);
}

void trace_file_position(const struct trace_file *file, uint64_t *tail_at,
			 uint64_t *text_bytes, uint32_t *crc)
{
	*tail_at = file->checkpoint.tail_at;
	*text_bytes = file->checkpoint.text_bytes;
	*crc = file->checkpoint.crc32;
}

/* Copies the old file's first `bytes`, and follows what they say. */
static int copy_old(struct trace_file *file, int old, uint64_t bytes,
		    struct gzip_follower *follower)
{
	const uint64_t begin =
		trace_file_is_plain(file) ? 0 : GZIP_HEADER_BYTES;
	uint64_t at = 0;
	int rc = 0;

	while (at < bytes && !rc) {
		const size_t wanted = min_u64(bytes - at, BLOCK_MAX);
		const ssize_t got = pread(old, file->text, wanted, (off_t)at);
		size_t skip = at < begin ? min_u64(begin - at, wanted) : 0;

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got ? -errno : -EBADMSG;
		rc = output_write(&file->output, at, file->text, (size_t)got);
		skip = min_u64(skip, (uint64_t)got);
		at += (uint64_t)got;
		if (rc)
			break;
		if (!trace_file_is_plain(file)) {
			rc = gzip_follower_feed(follower, file->text + skip,
						(size_t)got - skip);
			continue;
		}
		follower->text_bytes += (uint64_t)got;
		follower->crc32 = coder_crc32(&file->coder, follower->crc32,
					      file->text, (size_t)got);
	}
	return rc;
}

/* Opens a regular file and looks whether its form is the coder's. */
static int open_old(const struct trace_file *file, const char *path)
{
	char wanted[GZIP_HEADER_BYTES], found[GZIP_HEADER_BYTES];
	struct stat stat_now;
	int fd, rc = 0;

	/* O_NONBLOCK: a pipe must not keep us. */
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return errno == ELOOP ? -EBADMSG : -errno;
	gzip_header(wanted);
	if (fstat(fd, &stat_now))
		rc = -errno;
	else if (!S_ISREG(stat_now.st_mode))
		rc = -EBADMSG;
	else if (!trace_file_is_plain(file) &&
		 (pread(fd, found, sizeof(found), 0) != sizeof(found) ||
		  memcmp(found, wanted, sizeof(found))))
		rc = -EBADMSG;
	if (!rc)
		return fd;
	close(fd);
	return rc;
}

int trace_file_resume(struct trace_file *file, const char *old_path,
		      const char *new_path, uint64_t tail_at,
		      uint64_t text_bytes, uint32_t crc, const char *coder)
{
	struct gzip_follower follower;
	int old, rc = prepare(file, new_path, coder);

	if (rc)
		return rc;
	if (!trace_file_is_plain(file) && tail_at < GZIP_HEADER_BYTES)
		return give_up(file, -EBADMSG);
	old = open_old(file, old_path);
	if (old < 0)
		return give_up(file, old);
	rc = gzip_follow(&follower);
	if (!rc) {
		rc = copy_old(file, old, tail_at, &follower);
		if (!rc && (follower.text_bytes != text_bytes ||
			    follower.crc32 != crc || !follower.at_boundary))
			rc = -EBADMSG;
		gzip_follower_close(&follower);
	}
	close(old);
	file->text_bytes = text_bytes;
	file->crc32 = crc;
	if (!rc)
		rc = publish(file, tail_at);
	return give_up(file, rc);
}
