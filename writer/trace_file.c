/* SPDX-License-Identifier: MIT */
/*
 * trace_file.c - one trace on disk, complete and valid at every moment.
 *
 * How a tail is renewed in a gzip file:
 *
 *	1	header pieces... tail
 *	2	header pieces... tail [shield ........................ end]
 *	3	header pieces... tail [shield new pieces, new tail     end]
 *	4	header pieces... fill........ new pieces, new tail     end
 *	5	header pieces...              new pieces, new tail
 *
 * A shield and its end make an empty gzip member of what lies between them,
 * so a reader of 2 and 3 sees the old trace and a member without text, and may
 * see any part of the new pieces there.  From 3 to 4 one small write turns the
 * old tail and the shield into deflate blocks that say nothing, and the new
 * trace is the file; `end` has become an empty member of its own, which 5 cuts
 * off.  Since that write is the switch, a tail is laid so that it doesn't cross
 * a page: a kill can cut a write in two only between pages.
 *
 * What is too long for a shield goes without one: a kill in between leaves
 * bytes behind a whole trace, which gzip calls trailing garbage.  That takes a
 * tail beyond 32 KB, which only a last one should have.
 *
 * CRC and length are kept for the text without tail, and each tail gets its own
 * trailer: nothing is ever computed twice.
 */
#include "writer/trace_file.h"
#include "writer/gzip.h"
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

static bool is_plain(const struct trace_file *file)
{
	return file->coder.kind == CODER_PLAIN;
}

static char *pieces_at(const struct trace_file *file, size_t offset)
{
	return file->pieces + GZIP_SHIELD_BYTES + offset;
}

/* Room for `more` bytes behind the pieces, and all that a renewal adds. */
static int make_room(struct trace_file *file, size_t more)
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

/* Makes one piece of `len` bytes of whole events. */
static int code(struct trace_file *file, const char *text, size_t len)
{
	size_t made;
	int rc = make_room(file, coder_bound(&file->coder, len));

	if (!rc)
		rc = coder_block(&file->coder, text, len, false,
				 pieces_at(file, file->pieces_used), &made);
	if (rc)
		return rc;
	file->pieces_used += made;
	file->crc32 = coder_crc32(&file->coder, file->crc32, text, len);
	file->text_bytes += len;
	return 0;
}

static int code_text(struct trace_file *file)
{
	const size_t before = file->pieces_used;
	const size_t len = file->text_used;
	int rc = code(file, file->text, len);

	if (rc)
		return rc;
	file->text_used = 0;
	if (file->pieces_used - before > PIECE_LONG)
		file->block_bytes = max_u64(file->block_bytes / 2, BLOCK_MIN);
	else if (file->pieces_used - before < PIECE_SHORT &&
		 len > file->block_bytes / 2)
		file->block_bytes = min_u64(file->block_bytes * 2, BLOCK_MAX);
	return 0;
}

/* Fill that lets a tail of `len` bytes begin where it doesn't cross a page,
 * together with what a renewal writes behind it; `at` is its file offset. */
static size_t padding(uint64_t at, size_t len)
{
	const size_t in_page = at % PAGE_BYTES;
	const size_t left = PAGE_BYTES - in_page;

	if (in_page + len + GZIP_SHIELD_END_BYTES <= PAGE_BYTES ||
	    len + GZIP_SHIELD_END_BYTES + GZIP_FILL_MIN > PAGE_BYTES)
		return 0;
	return left < GZIP_FILL_MIN ? GZIP_FILL_MIN : left;
}

/* Lays a tail behind the pieces, as they will lie from `at` on in the file.
 * *tail_offset and *len count from the first piece. */
static int lay_tail(struct trace_file *file, uint64_t at, const char *tail,
		    size_t tail_len, size_t *tail_offset, size_t *len)
{
	size_t made, pad;
	char *out;
	int rc = make_room(file, coder_bound(&file->coder, tail_len));

	if (rc)
		return rc;
	out = pieces_at(file, file->pieces_used + PAD_MAX);
	rc = coder_block(&file->coder, tail, tail_len, true, out, &made);
	if (rc)
		return rc;
	pad = 0;
	if (!is_plain(file)) {
		gzip_trailer(
			out + made,
			coder_crc32(&file->coder, file->crc32, tail, tail_len),
			file->text_bytes + tail_len);
		made += GZIP_TRAILER_BYTES;
		pad = padding(at + file->pieces_used, made);
		gzip_fill(pieces_at(file, file->pieces_used), pad);
	}
	*tail_offset = file->pieces_used + pad;
	*len = *tail_offset + made;
	memmove(pieces_at(file, *tail_offset), out, made);
	return 0;
}

/* Steps 1 to 3: all that is new lies behind the old end, unseen. */
static int write_behind(struct trace_file *file, size_t len)
{
	const struct output *const output = &file->output;
	const uint64_t at = file->end + GZIP_SHIELD_BYTES;
	char *const end = pieces_at(file, len);
	int rc;

	if (len > GZIP_SHIELDED_MAX)
		return output_write(output, at, pieces_at(file, 0), len);
	gzip_shield(file->pieces, len);
	gzip_shield_end(end);
	rc = output_resize(output, at + len + GZIP_SHIELD_END_BYTES);
	if (!rc)
		rc = output_write(output, at + len, end, GZIP_SHIELD_END_BYTES);
	if (!rc)
		rc = output_write(output, file->end, file->pieces,
				  GZIP_SHIELD_BYTES);
	if (!rc)
		rc = output_write(output, at, pieces_at(file, 0), len);
	return rc;
}

/* Steps 3 to 5: the old tail becomes fill. */
static int switch_over(struct trace_file *file, uint64_t new_end)
{
	const size_t len = file->end + GZIP_SHIELD_BYTES - file->tail_at;
	char page[PAGE_BYTES];
	uint64_t at = file->tail_at;
	size_t left = len;
	int rc = 0;

	if (len <= sizeof(page)) {
		gzip_fill(page, len);
		rc = output_write(&file->output, at, page, len);
		left = 0;
	}
	/* A long tail (see above): its pieces end where a fill can. */
	while (!rc && left) {
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
	int rc = lay_tail(file, at, tail, tail_len, &tail_offset, &len);

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
	int rc = lay_tail(file, at, tail, tail_len, &tail_offset, &len);

	if (rc)
		return rc;
	rc = output_write(&file->output, at, pieces_at(file, 0), len);
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

static int keep_tail(struct trace_file *file, const char *tail, size_t tail_len)
{
	json_clear(&file->tail);
	json_bytes(&file->tail, tail, tail_len);
	return file->tail.failed ? -ENOMEM : 0;
}

/* Puts the pieces on disk, with a tail behind them. */
static int renew(struct trace_file *file, const char *tail, size_t tail_len)
{
	const bool same = tail == file->tail.data;
	int rc = output_check(&file->output);

	if (!rc)
		rc = is_plain(file) ? renew_plain(file, tail, tail_len)
				    : renew_gzip(file, tail, tail_len);
	if (rc)
		return rc;
	file->pieces_used = 0;
	return same ? 0 : keep_tail(file, tail, tail_len);
}

/* A renewal between checkpoints, once enough has come together. */
static int renew_if_due(struct trace_file *file)
{
	static const char short_tail[] = TRACE_FILE_SHORT_TAIL;

	if (file->pieces_used < RENEW_BYTES)
		return 0;
	if (file->tail.used > TRACE_FILE_TAIL_KEPT)
		return renew(file, short_tail, sizeof(short_tail) - 1);
	return renew(file, file->tail.data, file->tail.used);
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
		rc = make_room(file, coder_bound(&file->coder, BLOCK_MAX));
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
	int rc = lay_tail(file, at, tail, sizeof(tail) - 1, &tail_offset, &len);

	if (!rc)
		rc = output_write(&file->output, at, pieces_at(file, 0), len);
	if (!rc)
		rc = keep_tail(file, tail, sizeof(tail) - 1);
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
	if (!is_plain(file)) {
		gzip_header(header);
		at = sizeof(header);
		rc = output_write(&file->output, 0, header, sizeof(header));
	}
	if (!rc)
		rc = code(file, head, head_len);
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

int trace_file_append(struct trace_file *file, const char *text, size_t len)
{
	int rc = file->error;

	while (len && !rc) {
		size_t whole = whole_events(
			text, len, file->block_bytes - file->text_used);

		if (whole) {
			memcpy(file->text + file->text_used, text, whole);
			file->text_used += whole;
		} else {
			if (!file->text_used) {
				whole = first_event(text, len);
				rc = code(file, text, whole);
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
		rc = renew(file, tail, tail_len);
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
	const uint64_t begin = is_plain(file) ? 0 : GZIP_HEADER_BYTES;
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
		if (!is_plain(file)) {
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
	else if (!is_plain(file) &&
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
	if (!is_plain(file) && tail_at < GZIP_HEADER_BYTES)
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
