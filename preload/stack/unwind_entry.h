/* SPDX-License-Identifier: MIT */
/*
 * unwind_entry.h - an entry of .eh_frame, read within its file's own segments;
 * for unwind_table.c, which looks whether it is as a compiler writes it, and
 * unwind_rule.c, which does what it says.
 */
#ifndef PRELOAD_UNWIND_ENTRY_H
#define PRELOAD_UNWIND_ENTRY_H

#include "preload/stack/unwind_table.h"

#if defined(__x86_64__)
#define REGISTERS     17
#define FRAME_POINTER 6
#define RETURNS_TO    16
#define STACK_POINTER 7
#else
#define REGISTERS     97
#define FRAME_POINTER 29
#define RETURNS_TO    30
#define STACK_POINTER 31
#endif

#define OP_DEREF 0x06
#define OP_BREG0 0x70

/* What remains to be read; nothing does after a wrong step. */
struct reader {
	const unsigned char *at, *end;
};

/* What entries share. */
struct unwind_shared {
	uint8_t code_as, data_as;
	bool is_sized, is_signal;
	bool says_where; /* the frame's address */
	uint64_t code_unit;
	int64_t data_unit;
	struct reader program;
};

struct unwind_entry {
	struct unwind_shared shared;
	uint64_t code_bytes;
	bool has_pads; /* says where exceptions come back to */
	struct reader program;
};

static inline void fail(struct reader *reader)
{
	reader->at = reader->end + 1;
}

static inline bool has_failed(const struct reader *reader)
{
	return reader->at > reader->end;
}

static inline bool is_at_end(const struct reader *reader)
{
	return reader->at >= reader->end;
}

static inline uint64_t take(struct reader *reader, unsigned int bytes)
{
	uint64_t value = 0;

	if (has_failed(reader) || (size_t)(reader->end - reader->at) < bytes) {
		fail(reader);
		return 0;
	}
	for (unsigned int i = 0; i < bytes; i++)
		value |= (uint64_t)reader->at[i] << 8 * i;
	reader->at += bytes;
	return value;
}

/* A LEB128 of 64 bits at most. */
static inline uint64_t take_leb(struct reader *reader, bool has_sign)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < 63; shift += 7) {
		const uint64_t byte = take(reader, 1);

		value |= (byte & 127) << shift;
		if (byte & 128)
			continue;
		if (has_sign && byte & 64)
			value |= ~UINT64_C(0) << (shift + 7);
		return value;
	}
	fail(reader);
	return 0;
}

/* The entry that tells of an address, and where its code begins.  False: there
 * is none that can be followed. */
bool unwind_entry_find(const struct dl_phdr_info *info, uint64_t code,
		       struct unwind_entry *entry, uint64_t *begin);

/* Whether so much of a file's memory may be read. */
bool unwind_entry_reads(const struct dl_phdr_info *info, uint64_t address,
			uint64_t bytes);

#endif
