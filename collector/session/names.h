/* SPDX-License-Identifier: MIT */
/*
 * names.h - each distinct text once in the session, known by a small id.
 *
 * Lock-free: a table of session offsets, open addressing by hash, filled by
 * compare-and-swap.  An id, once given, means the same text in this process and
 * in recovery.  Any thread; async-signal-safe; no malloc.
 */
#ifndef COLLECTOR_NAMES_H
#define COLLECTOR_NAMES_H

#include "collector/session/session.h"

#define NAME_BYTES_MAX	1024u /* longer ones are cut, at a UTF-8 boundary */

/* A linker's symbol must come whole, or nothing can make sense of it. */
#define NAME_SYMBOL_MAX 8000u

/* The id of a text, never 0: when the table or the session is full it is
 * NAME_REFUSED, and names_refused counts. */
#define NAME_REFUSED	0xffffffffu
uint32_t names_intern(struct session *session, const char *text, size_t len);
uint32_t names_intern_string(struct session *session, const char *text);

/* The same where there may be more texts than any bound: no new one is taken
 * once three quarters of the table are full. */
uint32_t names_intern_spare(struct session *session, const char *text,
			    size_t len);

/* The same for a symbol, cut at NAME_SYMBOL_MAX. */
uint32_t names_intern_symbol(struct session *session, const char *text);

/* The text of an id and its length; "" for 0, "(name table full)" for
 * NAME_REFUSED, "(unknown name)" for one that is damaged.  NUL-terminated. */
const char *names_text(const struct session *session, uint32_t id, size_t *len);

#endif
