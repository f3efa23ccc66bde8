/* SPDX-License-Identifier: MIT */
/*
 * output.h - one file of ours, written at chosen offsets, by a descriptor that
 * lives in somebody else's program.
 *
 * Programs close descriptors that they don't know (closefrom) and get our
 * number for a file of their own.  So the descriptor lies high, is compared
 * with what we opened before each use, and is found again by path where it was
 * lost; what isn't ours is neither written nor closed.
 *
 * The file has no name before output_publish(), where the file system can do
 * that (O_TMPFILE): whoever sees the name sees whole content.
 */
#ifndef WRITER_OUTPUT_H
#define WRITER_OUTPUT_H

#include "collector/system/base.h"

#define OUTPUT_PATH_BYTES 512u /* as the session keeps */

/* What makes a file this one.  The birth belongs to it where the file system
 * keeps one: an inode's number is soon given out again. */
struct output_identity {
	uint64_t device;
	uint64_t inode;
	int64_t birth_seconds;
	uint32_t birth_ns;
};

struct output {
	int fd; /* -1 none */
	struct output_identity identity;
	bool named; /* it can be found by path */
	char path[OUTPUT_PATH_BYTES];
};

/* Where files get their descriptors the process' table must grow, and once
 * there are two threads the kernel takes some 20 ms for that: to be called
 * before the writer's begins.  Does nothing where there are more already. */
void output_make_room(void);

/* From now on folders are made in this root and mount namespace alone: in a
 * sandbox that the program builds they would be seen by it, and by nobody who
 * looks for a trace. */
void output_stay_here(void);

/* This isn't that root, or not that namespace. */
bool output_is_abroad(void);

/* Makes the folder (0700, with all that is missing above it) and an empty file
 * (0600).  `path` is absolute.  0; -EEXIST the name is taken (maybe only seen
 * by output_publish()); -ENAMETOOLONG; -ELOOP the folder is a link of another
 * user, who may have put it there for us; other -errno. */
int output_begin(struct output *output, const char *path);

/* Gives the file its name, never over another.  0; -EEXIST; -errno. */
int output_publish(struct output *output);

/* A file of ours that is open already, by that path. */
void output_adopt(struct output *output, const char *path);

/* Closes it and makes sure that it never existed. */
void output_cancel(struct output *output);

/* Closes it, unless the descriptor has become somebody else's. */
void output_close(struct output *output);

/* To be called before each group of writes: the descriptor is ours again.  0;
 * -ENOENT the file was deleted; -ESTALE it is not to be found at its path;
 * -errno of opening it. */
int output_check(struct output *output);

/* All of it or -errno; a part may be written then. */
int output_write(const struct output *output, uint64_t at, const void *bytes,
		 size_t len);

/* Sets the size; what it grows by is zero. */
int output_resize(const struct output *output, uint64_t bytes);

#endif
