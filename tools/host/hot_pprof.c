/* SPDX-License-Identifier: MIT */
/* hot_pprof.c - call paths of samples as pprof's profile. */
#include <stdlib.h>

#include "tools/host/hot.h"
#include "tools/util/pprof.h"

#define TEXT_BYTES 1024

/* "work (file.py:12)" and "work (file.py)" come apart; of others the file is
 * not known. */
static void put_frame(struct pprof *pprof, const char *name)
{
	const char *open = strrchr(name, '(');
	const size_t len = strlen(name);
	char function[TEXT_BYTES], file[TEXT_BYTES];
	char *colon;

	if (!open || open < name + 2 || open[-1] != ' ' ||
	    name[len - 1] != ')' || len >= TEXT_BYTES) {
		pprof_frame(pprof, name, "", 0);
		return;
	}
	snprintf(function, sizeof(function), "%.*s", (int)(open - 1 - name),
		 name);
	snprintf(file, sizeof(file), "%.*s", (int)(name + len - 2 - open),
		 open + 1);
	colon = strrchr(file, ':');
	if (colon)
		*colon++ = '\0';
	pprof_frame(pprof, function, file, colon ? atoi(colon) : 0);
}

int hot_print_pprof(const struct hot *hot, FILE *out)
{
	struct pprof pprof;

	pprof_begin(&pprof);
	pprof_kind(&pprof, "samples", "count");
	pprof_kind(&pprof, "cpu", "nanoseconds");
	for (uint32_t i = 1; i < hot->count; i++) {
		const struct hot_node *node = &hot->nodes[i];
		const int64_t values[] = {node->samples, node->self_ns};

		if (!node->self_ns)
			continue;
		for (uint32_t at = i; at; at = hot->nodes[at].parent)
			put_frame(&pprof, hot_name(hot, at));
		pprof_sample(&pprof, values, 2, NULL, NULL);
	}
	return pprof_end(&pprof, "cpu", 0, out);
}
