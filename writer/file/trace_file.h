/* SPDX-License-Identifier: MIT */
/*
 * trace_file.h - one trace on disk, complete and valid at every moment.
 *
 * The file is one JSON text: the head, event texts, a tail that closes it.
 * Compressed, it is one gzip member: a header with an extra field that pads the
 * file beyond 4096 bytes, byte-aligned pieces of deflate (coder.h), the tail
 * with the final block, CRC and length.  A tail is renewed in two steps, so
 * that a kill between any two instructions leaves a file that strict readers
 * accept; trace_file.c says how.  A plain file (coder off) is renewed by one
 * write from the old tail's place on, the best that JSON allows.
 *
 * Commas: the head ends with the first event, without a line break; every
 * event text begins with ",\n"; a tail begins with "\n]".  So
 *
 *	head	{"schemaVersion":1,...,"traceEvents":[\n{"ph":"M",...}
 *	append	,\n{"ph":"X",...}	any number, whole events only
 *	tail	\n],"deviceProperties":[],...}
 *
 * is valid JSON with any number of events.  A line break stands nowhere but
 * there: where a long append must be cut, it is cut in front of ",\n".
 *
 * Renewals also happen inside trace_file_append(), each time a good piece has
 * come together, with the last tail (or TRACE_FILE_SHORT_TAIL where that was
 * longer than TRACE_FILE_TAIL_KEPT).  The tail of a checkpoint should be short,
 * a few hundred bytes: the switch from old to new is a write of its size, and
 * is atomic only while it lies within one page.  trace_file_finish() may have a
 * tail of any size, since that one is never replaced.
 *
 * Errors are sticky: after the first -errno every further call returns it and
 * the file stays as it was, valid, at its last renewal.  What can come up:
 * -ENOSPC, -EDQUOT, -EFBIG (block SIGXFSZ first), -EIO, -ENOENT (the file was
 * deleted), -ESTALE (our fd was closed by the program and the path leads to
 * another file), -ENOMEM.
 *
 * One thread; it does not log.  A forked child drops the struct without
 * touching it.
 */
#ifndef WRITER_TRACE_FILE_H
#define WRITER_TRACE_FILE_H

#include "writer/deflate/coder.h"
#include "writer/text/json.h"
#include "writer/file/output.h"

#define TRACE_FILE_SHORT_TAIL "\n]}"
#define TRACE_FILE_TAIL_KEPT  4096u

/* How far the text had got at some offset of the file. */
struct trace_file_mark {
	uint64_t tail_at;    /* bytes of file before the tail */
	uint64_t text_bytes; /* of text in them */
	uint32_t crc32;	     /* of that text */
};

struct trace_file {
	struct output output;
	int error; /* 0, or the -errno that every call returns */
	struct coder coder;

	uint64_t tail_at; /* of the tail that is on disk */
	uint64_t end;	  /* size of the file on disk */

	/* Whole events that are not yet coded. */
	char *text;
	size_t text_used;
	size_t block_bytes; /* at most so much */

	/* Coded, not yet on disk; with room for a shield in front. */
	char *pieces;
	size_t pieces_used;
	size_t pieces_room;

	struct json tail; /* text of the tail on disk */

	uint64_t text_bytes; /* of text coded so far, without tail */
	uint32_t crc32;	     /* of it */
	struct trace_file_mark checkpoint;
};

/* Makes the folder (0700, with what is missing above it) and the file (0600),
 * which must not exist; head and tail (NULL: TRACE_FILE_SHORT_TAIL) are in it
 * before it has its name, where the file system knows O_TMPFILE.  `coder` is
 * the text of TRACEPROF_GZIP.  0; -EEXIST; -EINVAL bad coder; -ENAMETOOLONG;
 * other -errno.  On error nothing is left open, and no file. */
int trace_file_create(struct trace_file *file, const char *path,
		      const char *coder, const char *head, size_t head_len,
		      const char *tail, size_t tail_len);

/* Adds event texts, each whole and beginning with ",\n".  `fields` has notes on
 * them, NULL none.  A good deal of text at once is coded where it lies. */
int trace_file_append(struct trace_file *file, const char *text, size_t len,
		      const struct fields *fields);

/* Codes what waits for a block to be full, so that what that takes is known. */
int trace_file_code(struct trace_file *file);

/* So much text at once is best. */
static inline size_t trace_file_block_bytes(const struct trace_file *file)
{
	return file->block_bytes;
}

/* Puts everything appended so far on disk, with `tail` after it. */
int trace_file_checkpoint(struct trace_file *file, const char *tail,
			  size_t tail_len);

/* Last checkpoint, then closes the file and frees everything, whatever the
 * result is. */
int trace_file_finish(struct trace_file *file, const char *tail,
		      size_t tail_len);

/* Closes without another write: the file stays as it was at its last renewal.
 * For use after an error. */
void trace_file_abandon(struct trace_file *file);

/* Goes on with the trace that another process left: copies the first
 * `tail_at` bytes of `old_path` to `new_path` (which must not exist), so that
 * appends continue after them.  The copy is checked against `text_bytes` and
 * `crc32`, as of trace_file_position().  0; -EBADMSG the old file is not what
 * the numbers say, or of another form than `coder` makes; -ECANCELED *stop (may
 * be NULL) became true; else as create. */
int trace_file_resume(struct trace_file *file, const char *old_path,
		      const char *new_path, uint64_t tail_at,
		      uint64_t text_bytes, uint32_t crc, const char *coder,
		      const _Atomic bool *stop);

/* As of the last checkpoint (or create, or resume): what the session's
 * checkpoint must hold for trace_file_resume(). */
void trace_file_position(const struct trace_file *file, uint64_t *tail_at,
			 uint64_t *text_bytes, uint32_t *crc);

/* TRACEPROF_GZIP=off: the file is the text itself. */
static inline bool trace_file_is_plain(const struct trace_file *file)
{
	return file->coder.kind == CODER_PLAIN;
}

/* Size on disk now. */
static inline uint64_t trace_file_size(const struct trace_file *file)
{
	return file->end;
}

/* Text appended so far, tail not counted (for TRACEPROF_MAX_MB). */
static inline uint64_t trace_file_text_bytes(const struct trace_file *file)
{
	return file->text_bytes + file->text_used;
}

#endif
