/* SPDX-License-Identifier: MIT */
/*
 * pprof.h - a profile as pprof reads it (profile.proto), gzipped.
 *
 *	struct pprof pprof;
 *
 *	pprof_begin(&pprof);
 *	pprof_kind(&pprof, "cpu", "nanoseconds");
 *	pprof_frame(&pprof, "work", "main.c", 12);	innermost first
 *	pprof_frame(&pprof, "main", "main.c", 30);
 *	pprof_sample(&pprof, values, 1, NULL, NULL);
 *	rc = pprof_end(&pprof, "cpu", 0, stdout);
 */
#ifndef TOOLS_PPROF_H
#define TOOLS_PPROF_H

#include <stdio.h>

#include "tools/util/key_table.h"
#include "tools/util/text_buffer.h"

struct pprof {
	struct text_buffer out;
	struct text_buffer stack;   /* of the sample that is being made */
	struct text_buffer part;    /* a message within one */
	struct key_table texts;	    /* 0 is "" */
	struct key_table functions; /* texts of name and file */
	struct key_table lines;	    /* function and line: a location */
};

void pprof_begin(struct pprof *pprof);

/* One of the values that each sample has, in their order. */
void pprof_kind(struct pprof *pprof, const char *name, const char *unit);

/* A frame of the next sample's stack; `line` 0: not known. */
void pprof_frame(struct pprof *pprof, const char *function, const char *file,
		 int line);

/* What the frames since the last one cost.  `label` NULL: it has none. */
void pprof_sample(struct pprof *pprof, const int64_t *values, size_t count,
		  const char *label, const char *text);

/* Writes it, of so long a time (0: not known), and frees all.  0 or -errno. */
int pprof_end(struct pprof *pprof, const char *shown_first, int64_t ns,
	      FILE *out);

#endif
