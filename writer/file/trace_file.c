/* SPDX-License-Identifier: MIT */
/*
 * trace_file.c - one trace on disk, complete and valid at every moment.
 *
 * Texts are gathered in blocks of whole events, blocks coded into pieces,
 * pieces put on disk together with a tail.  CRC and length are kept for the
 * text without tail, so nothing is ever computed twice.
 *
 */
#include "writer/file/trace_file.h"

#include "collector/system/descriptor.h"
#include "writer/file/gzip.h"
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

/* Fill in front of a tail: up to a page, and then GZIP_FILL_MIN. */
#define PAD_MAX	    (PAGE_BYTES + GZIP_FILL_MIN)

/* The pieces' byte `offset`; a shield fits in front of the first. */
static char *tail_piece(const struct trace_file *file, size_t offset)
{
	return file->pieces + GZIP_SHIELD_BYTES + offset;
}

/* Room for `more` bytes after the pieces, and all that a renewal adds. */
static int tail_make_room(struct trace_file *file, size_t more)
{
	const size_t wanted = align_up(
		GZIP_SHIELD_BYTES + file->pieces_used + more + PAD_MAX +
			GZIP_TRAILER_BYTES + GZIP_SHIELD_END_BYTES,
		PAGE_BYTES);
	void *moved;

	if (wanted <= file->pieces_room)
		return 0;
	moved = mremap(file->pieces, file->pieces_room, wanted, MREMAP_MAYMOVE);
	if (moved == MAP_FAILED)
		return -ENOMEM;
	file->pieces = moved;
	file->pieces_room = wanted;
	return 0;
}

/* Fill that lets a tail of `len` bytes begin where it doesn't cross a page,
 * together with what a renewal writes after it; `at` is its file offset. */
static size_t padding(uint64_t at, size_t len)
{
	const size_t in_page = at % PAGE_BYTES;
	const size_t left = PAGE_BYTES - in_page;

	if (in_page + len + GZIP_SHIELD_END_BYTES <= PAGE_BYTES ||
	    len + GZIP_SHIELD_END_BYTES + GZIP_FILL_MIN > PAGE_BYTES)
		return 0;
	return left < GZIP_FILL_MIN ? GZIP_FILL_MIN : left;
}

/* Lays a tail after the pieces, as they will lie from `at` on in the file.
 * *tail_offset and *len count from the first piece. */
static int tail_lay(struct trace_file *file, uint64_t at, const char *tail,
		    size_t tail_len, size_t *tail_offset, size_t *len)
{
	const struct coder_text text = {tail, tail_len, NULL, true};
	size_t made, pad;
	char *out;
	int rc = tail_make_room(file, coder_bound(&file->coder, tail_len));

	if (rc)
		return rc;
	out = tail_piece(file, file->pieces_used + PAD_MAX);
	rc = coder_block(&file->coder, &text, out, &made);
	if (rc)
		return rc;
	pad = 0;
	if (!trace_file_is_plain(file)) {
		gzip_trailer(
			out + made,
			coder_crc32(&file->coder, file->crc32, tail, tail_len),
			file->text_bytes + tail_len);
		made += GZIP_TRAILER_BYTES;
		pad = padding(at + file->pieces_used, made);
		gzip_fill(tail_piece(file, file->pieces_used), pad);
	}
	*tail_offset = file->pieces_used + pad;
	*len = *tail_offset + made;
	memmove(tail_piece(file, *tail_offset), out, made);
	return 0;
}

/* Steps 1 to 3: all that is new lies after the old end, unseen. */
static int write_behind(struct trace_file *file, size_t len)
{
	const struct output *const output = &file->output;
	const uint64_t at = file->end + GZIP_SHIELD_BYTES;
	char *const end = tail_piece(file, len);
	int rc;

	if (len > GZIP_SHIELDED_MAX)
		return output_write(output, at, tail_piece(file, 0), len);
	gzip_shield(file->pieces, len);
	gzip_shield_end(end);
	rc = output_resize(output, at + len + GZIP_SHIELD_END_BYTES);
	if (!rc)
		rc = output_write(output, at + len, end, GZIP_SHIELD_END_BYTES);
	if (!rc)
		rc = output_write(output, file->end, file->pieces,
				  GZIP_SHIELD_BYTES);
	if (!rc)
		rc = output_write(output, at, tail_piece(file, 0), len);
	return rc;
}

/* Steps 3 to 5: the old tail becomes fill. */
static int switch_over(struct trace_file *file, uint64_t new_end)
{
	size_t left = file->end + GZIP_SHIELD_BYTES - file->tail_at;
	uint64_t at = file->tail_at;
	char page[PAGE_BYTES];
	int rc = 0;

	while (!rc && left) {
		/* What goes in one write does; otherwise (a long tail, see
		 * above) the rest must stay long enough to be filled. */
		const size_t piece =
			left > sizeof(page) ? sizeof(page) / 2 : left;

		gzip_fill(page, piece);
		rc = output_write(&file->output, at, page, piece);
		at += piece;
		left -= piece;
	}
	return rc ? rc : output_resize(&file->output, new_end);
}

static int renew_gzip(struct trace_file *file, const char *tail,
		      size_t tail_len)
{
	const uint64_t at = file->end + GZIP_SHIELD_BYTES;
	size_t tail_offset, len;
	int rc = tail_lay(file, at, tail, tail_len, &tail_offset, &len);

	if (rc)
		return rc;
	rc = write_behind(file, len);
	if (rc) {
		output_resize(&file->output, file->end);
		return rc;
	}
	rc = switch_over(file, at + len);
	if (rc)
		return rc;
	file->tail_at = at + tail_offset;
	file->end = at + len;
	return 0;
}

/* Plain JSON has no way to hide anything: one write over the old tail. */
static int renew_plain(struct trace_file *file, const char *tail,
		       size_t tail_len)
{
	const uint64_t at = file->tail_at;
	size_t tail_offset, len;
	int rc = tail_lay(file, at, tail, tail_len, &tail_offset, &len);

	if (rc)
		return rc;
	rc = output_write(&file->output, at, tail_piece(file, 0), len);
	if (!rc && at + len < file->end)
		rc = output_resize(&file->output, at + len);
	if (rc) {
		output_write(&file->output, at, file->tail.data,
			     file->tail.used);
		output_resize(&file->output, file->end);
		return rc;
	}
	file->tail_at = at + tail_offset;
	file->end = at + len;
	return 0;
}

/* Remembers the text of the tail that is on disk. */
static int tail_keep(struct trace_file *file, const char *tail, size_t tail_len)
{
	json_clear(&file->tail);
	json_bytes(&file->tail, tail, tail_len);
	return file->tail.failed ? -ENOMEM : 0;
}

/* Puts the pieces on disk, with `tail` (maybe the kept one) after them.  On
 * error the file on disk is as it was, if the disk allows. */
static int tail_renew(struct trace_file *file, const char *tail,
		      size_t tail_len)
{
	const bool same = tail == file->tail.data;
	int rc = output_check(&file->output);

	if (!rc)
		rc = trace_file_is_plain(file)
			     ? renew_plain(file, tail, tail_len)
			     : renew_gzip(file, tail, tail_len);
	if (rc)
		return rc;
	file->pieces_used = 0;
	return same ? 0 : tail_keep(file, tail, tail_len);
}

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

/* Everything up to `at` is written; adds the pieces and a first tail (NULL:
 * TRACE_FILE_SHORT_TAIL), and gives the file its name. */
static int publish(struct trace_file *file, uint64_t at, const char *tail,
		   size_t tail_len)
{
	size_t tail_offset, len;
	int rc;

	if (!tail) {
		tail = TRACE_FILE_SHORT_TAIL;
		tail_len = strlen(tail);
	}
	rc = tail_lay(file, at, tail, tail_len, &tail_offset, &len);
	if (!rc)
		rc = output_write(&file->output, at, tail_piece(file, 0), len);
	if (!rc)
		rc = tail_keep(file, tail, tail_len);
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
		      const char *coder, const char *head, size_t head_len,
		      const char *tail, size_t tail_len)
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
		rc = publish(file, at, tail, tail_len);
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

int trace_file_code(struct trace_file *file)
{
	int rc = file->error;

	if (!rc)
		rc = code_text(file);
	if (!rc)
		rc = renew_if_due(file);
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
		    struct gzip_follower *follower, const _Atomic bool *stop)
{
	const uint64_t begin =
		trace_file_is_plain(file) ? 0 : GZIP_HEADER_BYTES;
	uint64_t at = 0;
	int rc = 0;

	while (at < bytes && !rc) {
		const size_t wanted = min_u64(bytes - at, BLOCK_MAX);
		const ssize_t got = pread(old, file->text, wanted, (off_t)at);
		size_t skip = at < begin ? min_u64(begin - at, wanted) : 0;

		if (stop && load_relaxed((_Atomic bool *)stop))
			return -ECANCELED;
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
	fd = descriptor_open_high(
		path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0);
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
		      uint64_t text_bytes, uint32_t crc, const char *coder,
		      const _Atomic bool *stop)
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
		rc = copy_old(file, old, tail_at, &follower, stop);
		if (!rc && (follower.text_bytes != text_bytes ||
			    follower.crc32 != crc || !follower.at_boundary))
			rc = -EBADMSG;
		gzip_follower_close(&follower);
	}
	close(old);
	file->text_bytes = text_bytes;
	file->crc32 = crc;
	if (!rc)
		rc = publish(file, tail_at, NULL, 0);
	return give_up(file, rc);
}
