/* SPDX-License-Identifier: MIT */
/*
 * tail.h - the end of a trace file, and how it is renewed.
 *
 * trace_file.c's other half: it decides when and with what text, this does it.
 */
#ifndef WRITER_TAIL_H
#define WRITER_TAIL_H

#include "writer/file/gzip.h"
#include "writer/file/trace_file.h"

/* Room for `more` bytes behind the pieces, and all that a renewal adds. */
int tail_make_room(struct trace_file *file, size_t more);

/* Lays a tail behind the pieces, as they will lie from `at` on in the file.
 * *tail_offset and *len count from the first piece. */
int tail_lay(struct trace_file *file, uint64_t at, const char *tail,
	     size_t tail_len, size_t *tail_offset, size_t *len);

/* Remembers the text of the tail that is on disk. */
int tail_keep(struct trace_file *file, const char *tail, size_t tail_len);

/* Puts the pieces on disk, with `tail` (maybe the kept one) behind them.  On
 * error the file on disk is as it was, if the disk allows. */
int tail_renew(struct trace_file *file, const char *tail, size_t tail_len);

/* The pieces' byte `offset`; a shield fits in front of the first. */
static inline char *tail_piece(const struct trace_file *file, size_t offset)
{
	return file->pieces + GZIP_SHIELD_BYTES + offset;
}

#endif
