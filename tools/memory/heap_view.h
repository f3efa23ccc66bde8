/* SPDX-License-Identifier: MIT */
/*
 * heap_view.h - what is printed of an account.
 */
#ifndef TOOLS_HEAP_VIEW_H
#define TOOLS_HEAP_VIEW_H

#include "tools/memory/heap_rows.h"
#include "tools/util/table.h"
#include <stdio.h>

struct heap_view {
	const char *file;
	struct heap_log *log;
	struct heap_account *account;
	struct heap_rows *rows;
	size_t top;		/* rows of a table, 0 all */
	size_t frames;		/* of a stack */
	bool is_long;		/* nothing is cut */
	int64_t from_ns, to_ns; /* what was asked for, within the recording */
};

/* "host memory", "GPU 0". */
void heap_space_name(const struct heap_log *log, uint32_t space, char *text,
		     size_t bytes);

/* Is it known what the heap comes to in the log's other measure? */
bool heap_knows_other(const struct heap_view *view, uint32_t space);

struct table *heap_table_new(const struct heap_view *view,
			     const char *const *headers, size_t columns);

void heap_print_text(struct heap_view *view, FILE *out);
void heap_print_json(struct heap_view *view, FILE *out);

/* Stacks and what each costs, for flame graphs: one line for each, frames from
 * the outermost on (inverted: the innermost) with ";" between; and as
 * speedscope's own format. */
void heap_print_folded(struct heap_view *view, enum heap_cost cost,
		       bool is_inverted, FILE *out);
void heap_print_speedscope(struct heap_view *view, enum heap_cost cost,
			   FILE *out);

/* pprof's profile.proto, gzipped.  0 or -errno. */
int heap_print_pprof(struct heap_view *view, FILE *out);

/* What another run has more or less of, by place. */
void heap_print_diff(struct heap_view *before, struct heap_view *after,
		     FILE *out);

const char *heap_cost_word(enum heap_cost cost);

#endif
