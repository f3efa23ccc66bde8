/* SPDX-License-Identifier: MIT */
/*
 * tail.c - the end of a trace file, and how it is renewed.
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
 * (1 to 2 is a file that grows by zeros, then two small writes, the end first:
 * zeros behind a member are padding, and may have a member behind them.)
 */
#include "writer/file/tail.h"
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/* Fill in front of a tail: up to a page, and then GZIP_FILL_MIN. */
#define PAD_MAX (PAGE_BYTES + GZIP_FILL_MIN)

int tail_make_room(struct trace_file *file, size_t more)
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

int tail_lay(struct trace_file *file, uint64_t at, const char *tail,
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

/* Steps 1 to 3: all that is new lies behind the old end, unseen. */
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

int tail_keep(struct trace_file *file, const char *tail, size_t tail_len)
{
	json_clear(&file->tail);
	json_bytes(&file->tail, tail, tail_len);
	return file->tail.failed ? -ENOMEM : 0;
}

int tail_renew(struct trace_file *file, const char *tail, size_t tail_len)
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
