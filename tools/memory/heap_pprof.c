/* SPDX-License-Identifier: MIT */
/* heap_pprof.c - an account as pprof's profile: each stack is a sample with all
 * its costs. */
#include "tools/memory/heap_view.h"

#include "tools/util/pprof.h"

static const struct {
	const char *name, *unit;
	enum heap_cost cost;
} types[] = {
	{"peak_space", "bytes", HEAP_COST_PEAK},
	{"inuse_space", "bytes", HEAP_COST_LIVE},
	{"alloc_space", "bytes", HEAP_COST_BYTES},
	{"alloc_objects", "count", HEAP_COST_CALLS},
	{"temporary_objects", "count", HEAP_COST_TEMPORARY},
};

#define TYPES (sizeof(types) / sizeof(types[0]))

static bool add_place(void *arg, const struct heap_place *place)
{
	pprof_frame(arg, place->function,
		    place->file ? place->file : place->module,
		    place->file ? place->line : 0);
	return true;
}

static void add_sample(struct pprof *pprof, const struct heap_view *view,
		       const struct heap_site *site)
{
	int64_t values[TYPES];
	char space[64];

	heap_stack_walk(view->log, site->stack, add_place, pprof);
	if (!pprof->stack.len)
		pprof_frame(pprof, "(no stack)", "", 0);
	for (size_t i = 0; i < TYPES; i++)
		values[i] = heap_site_cost(site, types[i].cost);
	heap_space_name(view->log, site->space, space, sizeof(space));
	pprof_sample(pprof, values, TYPES, "memory", space);
}

int heap_print_pprof(struct heap_view *view, FILE *out)
{
	struct pprof pprof;

	pprof_begin(&pprof);
	for (size_t i = 0; i < TYPES; i++)
		pprof_kind(&pprof, types[i].name, types[i].unit);
	for (size_t i = 0; i < heap_account_sites(view->account); i++)
		add_sample(&pprof, view, heap_account_site(view->account, i));
	return pprof_end(&pprof, types[0].name,
			 view->log->end_ns - view->log->start_ns, out);
}
