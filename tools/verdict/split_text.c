/* SPDX-License-Identifier: MIT */
/* split_text.c - the steps and their parts in words; see split_text.h. */
#include "tools/verdict/split_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/util/numbers.h"
#include "tools/util/text_wrap.h"
#include "tools/verdict/rules.h"

void split_text_last(const struct verdict_facts *facts, char *text,
		     size_t bytes)
{
	const struct timeline *timeline = facts->timeline;
	const int64_t all_ns = timeline->recorded_ns - timeline->began_ns;

	snprintf(text, bytes, " by the last %s",
		 quantity_time((double)facts->wall_ns).text);
	if (timeline->began_ns && all_ns > facts->wall_ns)
		snprintf(text + strlen(text), bytes - strlen(text), " of %s",
			 quantity_time((double)all_ns).text);
}

unsigned int split_text_sides(struct text_buffer *lines,
			      const struct verdict *verdict,
			      unsigned int columns)
{
	const struct split *split = &verdict->facts.split;
	char text[120];

	if (!split->left_out)
		return 0;
	snprintf(text, sizeof(text),
		 split->is_after
			 ? "%zu steps with recorded calls of Python are left "
			   "out: they take longer"
			 : "%zu steps without recorded calls of Python are "
			   "left out: they take less",
		 split->left_out);
	return text_wrap_add(lines, text, 2, columns);
}

struct part {
	unsigned int at; /* what it was counted as */
	const char *text;
	double ns;
};

static int compare_parts(const void *left, const void *right)
{
	const struct part *a = left, *b = right;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return (int)a->at - (int)b->at;
}

/* Of the host's code what nobody knows, whether it is code or waits, where that
 * is most of the time; else 0. */
static double unknown_ns(const struct verdict_facts *facts)
{
	const struct split *split = &facts->split;

	return !split->uses_gpu && !facts->metadata->sample &&
			       (double)split->unseen_ns >
				       UNSEEN_MIN * (double)split->total_ns
		       ? (double)split->unseen_ns
		       : 0;
}

unsigned int split_text_add(struct text_buffer *lines,
			    const struct verdict *verdict, unsigned int columns)
{
	const struct split *split = &verdict->facts.split;
	const double total = (double)split->total_ns;
	struct part parts[SHARE_COUNT + 1];
	struct text_buffer text = {0};
	unsigned int count;

	for (unsigned int at = 0; at < SHARE_COUNT; at++)
		parts[at] = (struct part){at, split_share_text((enum share)at),
					  (double)split->ns[at]};
	parts[SHARE_COUNT] =
		(struct part){SHARE_COUNT, "outside of what is recorded",
			      unknown_ns(&verdict->facts)};
	parts[SHARE_HOST].ns -= parts[SHARE_COUNT].ns;
	if (split->uses_gpu)
		parts[SHARE_HOST].text = "host-bound";
	qsort(parts, SHARE_COUNT + 1, sizeof(parts[0]), compare_parts);
	text_buffer_cut(&text, 0);
	for (unsigned int at = 0; at <= SHARE_COUNT; at++)
		if (parts[at].ns >= NAMED_MIN * total)
			text_buffer_format(
				&text, "%s%s%.1f %% %s", at ? ", " : "",
				split->is_estimated ? "~" : "",
				100 * parts[at].ns / total, parts[at].text);
	count = text_wrap_add(lines, text.data, 2, columns);
	text_buffer_free(&text);
	return count;
}
