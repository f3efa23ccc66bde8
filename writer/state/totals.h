/* SPDX-License-Identifier: MIT */
/*
 * totals.h - one label for each distinct thing that is drawn, with its sums.
 *
 * A label is the name that an event gets in the file, escaped once, and how
 * often and how long it was seen: since the start or the last reset (for
 * writer_totals()) and since the present file began (for its metadata, where
 * they stay exact after TRACEPROF_MAX_MB ended the detail).
 */
#ifndef WRITER_TOTALS_H
#define WRITER_TOTALS_H

#include "collector/session/event.h"
#include "writer/text/json.h"
#include "writer/state/naming.h"

struct total {
	uint64_t calls;
	uint64_t sum_ns, min_ns, max_ns;
	uint64_t thinned; /* of the calls: not drawn */
	uint32_t mask;	  /* one in mask + 1 was, at the least */
};

struct label {
	uint64_t code;
	uint64_t named; /* the code whose function names it */
	uint32_t name;
	uint16_t kind;
	uint16_t sync;
	uint64_t outlined; /* of the first event, not compared */
	const char *text;  /* as it stands between quotes in JSON */
	size_t text_len;
	const char *plain; /* the same unescaped, NUL-terminated */
	const char *category;
	const char *function;  /* where the text has it folded: the whole of it,
				 as in JSON; else NULL */
	const char *operators; /* that torch.compile made the kernel of, as in
				  JSON; NULL: it's no such, or not known */
	struct total run;
	struct total file;
};

struct totals {
	struct naming *naming;
	struct arena arena;
	struct hash_index labels;
	struct label *of_kind[EVENT_KIND_COUNT]; /* where the kind says all */
	struct array order;			 /* scratch for sorting */
	struct label lost; /* what a label is when memory is not to be had */
};

void totals_start(struct totals *totals, struct naming *naming);
void totals_end(struct totals *totals);

/* The label of an event; never NULL. */
struct label *totals_label(struct totals *totals, const struct event *event);

static inline void total_add(struct total *total, uint64_t ns)
{
	if (!total->calls || ns < total->min_ns)
		total->min_ns = ns;
	if (ns > total->max_ns)
		total->max_ns = ns;
	total->calls++;
	total->sum_ns += ns;
}

static inline void totals_add(struct label *label, uint64_t ns)
{
	total_add(&label->run, ns);
	total_add(&label->file, ns);
}

/* All labels with calls, largest sum first; their number.  `in_file` sorts by
 * the file's sums, else by the run's.  Valid until the next call. */
size_t totals_sort(struct totals *totals, bool in_file,
		   struct label *const **sorted);

void totals_reset_run(struct totals *totals);
void totals_reset_file(struct totals *totals);

#endif
