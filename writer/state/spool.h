/* SPDX-License-Identifier: MIT */
/*
 * spool.h - the part of a session that has no room in memory: a file.
 *
 * It lies beside the traces, "<host>_<pid>.<unix ns>.spool", and holds groups
 * of packed events one behind the other; where each ring's are, its chunks in
 * the session say.  It belongs to the session: who finishes that removes both.
 */
#ifndef WRITER_SPOOL_H
#define WRITER_SPOOL_H

#include "collector/session/session.h"
#include "writer/file/output.h"
#include <sys/uio.h>

#define SPOOL_ENDING ".spool"

struct spool {
	struct output output;
	bool is_open;
	int error; /* -errno: nothing is put there any more */
	uint64_t end;
	uint64_t written; /* bytes ever */
	uint64_t chunks;  /* of the session, that name places in it */
};

/* Makes it, and enters its name in the session.  0 or -errno. */
int spool_make(struct spool *spool, struct session *session);

/* Recovery: that of a dead process's session, if it has one.  0; -ENOENT it is
 * gone; -EBADMSG what is named there is none; other -errno. */
int spool_find(struct spool *spool, const struct session *session);

/* Appends; *at gets where.  0 or -errno, which stays. */
int spool_write(struct spool *spool, const struct iovec *parts, int count,
		uint64_t *at);

/* 0 or -errno. */
int spool_read(struct spool *spool, uint64_t at, void *bytes, size_t len);

/* Nothing in it is wanted any more. */
void spool_empty(struct spool *spool);

/* Closes it; `is_done`: and removes it. */
void spool_end(struct spool *spool, bool is_done);

#endif
