/* SPDX-License-Identifier: MIT */
/*
 * nvtx_text.h - texts that programs register with NVTX: domains, strings,
 * categories.
 *
 * They are the process's, not the session's: a program may register long
 * before it is interesting, and a forked child uses what its parent
 * registered.  So they lie in memory of their own, are never freed, and become
 * the session's names when an event uses them.  Each distinct text is there
 * once, for all copies of NVTX in the process.  Any thread; no malloc.
 */
#ifndef PRELOAD_NVTX_TEXT_H
#define PRELOAD_NVTX_TEXT_H

#include "collector/session/names.h"
#include "preload/annotate/nvtx_abi.h"

/* A domain, a string of one, or the name of one's category. */
struct nvtx_string {
	const struct nvtx_string *next;	  /* with the same hash, older */
	const struct nvtx_string *domain; /* NULL: the default one */
	uint32_t kind;			  /* enum nvtx_kind */
	uint32_t category;		  /* its number */
	uint32_t prefix;		  /* bytes of "domain: " in front */
	uint32_t len;
	char text[];
};

enum nvtx_kind { NVTX_KIND_DOMAIN, NVTX_KIND_STRING, NVTX_KIND_CATEGORY };

/* Wide characters as UTF-8, cut to fit. */
void nvtx_text_narrow(const wchar_t *wide, char *text, size_t bytes);

/* "domain: text", or the text alone; returns the length of the prefix. */
size_t nvtx_text_compose(const struct nvtx_string *domain, const char *text,
			 char *whole, size_t bytes);

/* The one text of a kind; NULL: no memory is left. */
const struct nvtx_string *nvtx_text_register(enum nvtx_kind kind,
					     const struct nvtx_string *domain,
					     uint32_t category,
					     const char *text);

/* The name that a category was given last; NULL none. */
const struct nvtx_string *nvtx_text_category(const struct nvtx_string *domain,
					     uint32_t category);

#endif
