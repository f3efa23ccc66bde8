/* SPDX-License-Identifier: MIT */
/*
 * modules.h - which file every code address came from.
 *
 * The writer copies the loader's list into the session whenever it has changed:
 * path, load address, executable range, build-id.  Entries are never removed,
 * since events may still name code of an object that was closed; the newest
 * entry that holds an address wins.
 */
#ifndef COLLECTOR_MODULES_H
#define COLLECTOR_MODULES_H

#include "collector/session/session.h"

#define BUILD_ID_BYTES 20

struct module {
	_Atomic uint64_t next; /* session offset of the next older entry */
	uint64_t bias;	       /* address minus ELF virtual address */
	uint64_t low, high;    /* of all loaded segments */
	uint64_t from_ticks;   /* till then another lay there; 0 none did */
	uint32_t id_len;
	uint8_t build_id[BUILD_ID_BYTES];
	uint32_t path_len;
	char path[]; /* NUL-terminated */
};

/* Looks at the loader's list if it changed; the writer, or a thread about to
 * close a library.  Returns entries added: 0 too where somebody else is at it
 * for long. */
int modules_refresh(struct session *session);

/* The entry that holds an address now, NULL none. */
const struct module *modules_find(const struct session *session,
				  uint64_t address);

/* Then, and until when: UINT64_MAX if it is the last. */
const struct module *modules_find_at(const struct session *session,
				     uint64_t address, uint64_t ticks,
				     uint64_t *until);

/* Iterate, newest first; start with NULL. */
const struct module *modules_each(const struct session *session,
				  const struct module *last);

#endif
