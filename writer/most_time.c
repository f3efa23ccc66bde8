/* SPDX-License-Identifier: MIT */
/* most_time.c - what took most of the time, by totals; see most_time.h. */
#include "writer/most_time.h"

#include "collector/system/log.h"
#include <string.h>

#define MOST_NAMED    3u
#define MOST_CHARS    40u /* of a name; longer ones are cut */
/* What is less would be 0.000 s. */
#define SAID_LEAST_NS UINT64_C(500000)

/* The < or > at `at` belongs to an operator's name or to an arrow. */
static bool is_operator(const char *name, size_t at)
{
	static const char word[] = "operator";
	const size_t len = sizeof(word) - 1;

	if (at && name[at] == '>' && name[at - 1] == '-')
		return true;
	while (at && strchr("<>-=", name[at - 1]))
		at--;
	return at >= len && !strncmp(name + at - len, word, len);
}

/* A long name without the arguments of its templates, and no longer than so
 * many characters. */
static void shorten(const char *name, char text[MOST_CHARS + 1])
{
	const bool is_long = strlen(name) > MOST_CHARS;
	unsigned int depth = 0;
	size_t len = 0;

	for (size_t at = 0; name[at] && len <= MOST_CHARS; at++) {
		const bool is_bracket = is_long && !is_operator(name, at);

		if (is_bracket && name[at] == '>' && depth)
			depth--;
		if (!depth && len < MOST_CHARS)
			text[len] = name[at];
		len += !depth;
		if (is_bracket && name[at] == '<')
			depth++;
	}
	/* The name was cut inside of them. */
	if (depth && len < MOST_CHARS)
		text[len++] = '>';
	if (len > MOST_CHARS) {
		/* Not inside of a character. */
		len = MOST_CHARS - 3;
		while (len && (text[len] & 0xc0) == 0x80)
			len--;
		memcpy(text + len, "...", 3);
		len += 3;
	}
	text[len] = '\0';
}

/* What lies between phases of a step, and before the first, says nothing; nor
 * do calls of Python, which lie in each other, and all samples together. */
static bool says_something(const struct label *label)
{
	return label->kind != EVENT_OMP_IMPLICIT && label->kind != EVENT_STEP &&
	       label->kind != EVENT_PYTHON && label->kind != EVENT_CPU_SAMPLE &&
	       label->run.sum_ns && strcmp(label->plain, "phase: other") != 0;
}

/* Something that a thread did, not that it waited for or that a GPU did;
 * OpenMP's apart. */
static bool is_work(unsigned int kind)
{
	return kind == EVENT_SCOPE || kind == EVENT_RANGE ||
	       kind == EVENT_CALL || kind == EVENT_GPU_API ||
	       kind == EVENT_BLAS;
}

/* One beside the other: a region is what its members do, or it is thinned. */
static uint64_t sum_work(struct label *const *sorted, size_t count)
{
	uint64_t regions_ns = 0, members_ns = 0, others_ns = 0;

	for (size_t at = 0; at < count; at++) {
		const unsigned int kind = sorted[at]->kind;
		const uint64_t ns = sorted[at]->run.sum_ns;

		if (kind == EVENT_OMP_REGION)
			regions_ns += ns;
		else if (kind > EVENT_OMP_REGION && kind <= EVENT_OMP_WAIT)
			members_ns += ns;
		else if (is_work(kind))
			others_ns += ns;
	}
	return max_u64(regions_ns, members_ns) + others_ns;
}

uint64_t most_time(struct totals *totals, char *text, size_t bytes)
{
	struct label *const *sorted;
	const size_t count = totals_sort(totals, false, &sorted);
	unsigned int named = 0;
	size_t len = 0;

	for (size_t at = 0; at < count && named < MOST_NAMED; at++) {
		const struct total *run = &sorted[at]->run;
		char name[MOST_CHARS + 1];

		if (!says_something(sorted[at]) ||
		    (named && run->sum_ns < SAID_LEAST_NS))
			continue;
		shorten(sorted[at]->plain, name);
		len += log_format(
			text + len, bytes - len, "%s%s %.3f s (%lu call%s)",
			len ? ", " : "", name, (double)run->sum_ns / 1e9,
			(unsigned long)run->calls, run->calls == 1 ? "" : "s");
		named++;
	}
	return sum_work(sorted, count);
}
