/* SPDX-License-Identifier: MIT */
/*
 * compile_cache.h - the Python files in torch.compile's cache, each read once.
 *
 *	CACHE/??/NAME.py
 *
 * A cache may be years old and hold ten thousands of files, so it is listed
 * once and its files are read from the newest on, as long as somebody asks for
 * the next.  Files come while the program compiles: only folders that have
 * changed are listed again.  What may be spent on all of it is bounded.
 * Directories are read by system call: opendir() takes memory from the
 * program's heap.
 */
#ifndef WRITER_COMPILE_CACHE_H
#define WRITER_COMPILE_CACHE_H

#include "writer/state/hash_index.h"

/* What may be spent; all 0: what is usual. */
struct compile_cache_limits {
	uint64_t files, bytes, ns;
};

struct compile_cache {
	struct compile_cache_limits limits;
	struct arena arena;
	struct array text;	 /* the file that is read just now */
	struct hash_index paths; /* of what was listed */
	struct array waiting;	 /* files to be read, the next one last */
	size_t waits;
	uint64_t listed, read_bytes, spent_ns, seen_ns;
	bool is_trusted; /* the last file's owner is, as below */
	bool is_cut;	 /* not all was looked at, for these limits */
};

/* Before each look: its time counts from here on. */
void compile_cache_begin(struct compile_cache *cache);

/* The files of this cache that are new wait to be read, the newest first. */
void compile_cache_list(struct compile_cache *cache, const char *folder);

/* The text of the next one, until another is read; NULL: there is none, or no
 * more may be spent. */
const char *compile_cache_next(struct compile_cache *cache);

/* The same for any file; NULL it can't be read.  Links aren't followed. */
const char *compile_cache_read(struct compile_cache *cache, const char *path);

/* True of this user's own and of root's. */
bool compile_cache_is_trusted(uint32_t owner);
void compile_cache_end(struct compile_cache *cache);

#endif
