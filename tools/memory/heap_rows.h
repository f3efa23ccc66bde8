/* SPDX-License-Identifier: MIT */
/*
 * heap_rows.h - the stacks of an account put together by the place that
 * allocated, and how a place and a stack read.
 *
 * A place is the innermost call that isn't an allocator's own.
 */
#ifndef TOOLS_HEAP_ROWS_H
#define TOOLS_HEAP_ROWS_H

#include "tools/memory/heap_account.h"
#include "tools/memory/heap_growth.h"
#include "tools/memory/leak_list.h"

enum heap_cost {
	HEAP_COST_PEAK,
	HEAP_COST_LIVE,
	HEAP_COST_BYTES,
	HEAP_COST_CALLS,
	HEAP_COST_TEMPORARY,
	HEAP_COST_FOREIGN, /* blocks that another thread freed */
	HEAP_COST_GROWTH,  /* bytes for each point, of what grows */
	HEAP_COST_COUNT
};

/* One of the stacks by which a place came. */
struct heap_row_site {
	const struct heap_site *site;
	int64_t growth; /* 0 of one that doesn't grow */
};

struct heap_row {
	uint32_t space;
	int64_t cost[HEAP_COST_COUNT];
	int64_t peak_blocks, live_blocks, frees;
	double low, high; /* of the growth */
	struct heap_row_site *sites;
	size_t stacks, capacity; /* how many of them */
	bool is_suppressed;	 /* as a leak */
};

struct heap_rows {
	struct heap_log *log;
	struct key_table table; /* rows: struct heap_row */
	size_t *order;		/* of the last heap_rows_sort() */
};

void heap_rows_make(struct heap_rows *rows, struct heap_log *log,
		    const struct heap_account *account,
		    const struct leak_list *suppressed);
void heap_rows_free(struct heap_rows *rows);

/* Those of one memory with some of this cost, the most expensive first: how
 * many.  Without those that are suppressed where the cost is a leak's. */
size_t heap_rows_sort(struct heap_rows *rows, uint32_t space,
		      enum heap_cost cost);

static inline struct heap_row *heap_rows_at(const struct heap_rows *rows,
					    size_t place)
{
	return key_table_row(&rows->table, rows->order[place]);
}

/* What is live at the end and suppressed: its places, and how much. */
size_t heap_rows_suppressed(const struct heap_rows *rows, uint32_t space,
			    int64_t *bytes);

int64_t heap_site_cost(const struct heap_site *site, enum heap_cost cost);
int64_t heap_row_site_cost(const struct heap_row_site *one,
			   enum heap_cost cost);

/* The stack that has most of a place's cost. */
const struct heap_site *heap_row_heaviest(const struct heap_row *row,
					  enum heap_cost cost);

/* "function file.c:12 < caller file.c:20 < ...", as many frames as asked for,
 * and of Python's packages the line of the program that went there; allocators'
 * own are left out, as is what C++'s and Rust's libraries do. */
void heap_stack_text(struct heap_log *log, uint32_t stack, size_t frames,
		     struct text_buffer *text);

/* Are there functions of Python in it? */
bool heap_log_has_python(const struct heap_log *log);

/* Leaves out what was allocated elsewhere than in modules with this in their
 * name. */
void heap_log_only(struct heap_log *log, const char *module);

/* Hands over the frames of a stack, innermost first, inlined ones too. */
struct heap_place {
	const char *function, *module;
	const char *file; /* NULL not known */
	int line;
	uint64_t address;
	bool is_last_resort; /* a library's, and yet the stack's place */
};
void heap_stack_walk(struct heap_log *log, uint32_t stack,
		     bool (*visit)(void *arg, const struct heap_place *place),
		     void *arg);

#endif
