/* SPDX-License-Identifier: MIT */
/*
 * fault_list.c - prints what was found against the rules, and counts it.
 */
#include "tools/check/check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "tools/util/text_buffer.h"

#define NAME_BYTES_MAX 120u

static const struct {
	const char *number;
	bool warning;
	const char *text;
} rules[RULE_COUNT] = {
#define X(symbol, number, warning, text)                                       \
	[RULE_##symbol] = {number, warning, text},
	RULES(X)
#undef X
};

/* torch.profiler's own files have no rank, few keys, and slices that cross. */
static bool is_warning(const struct fault_list *list, unsigned int rule)
{
	return rules[rule].warning ||
	       (list->is_torchs && (rule == RULE_RANK || rule == RULE_KEYS ||
				    rule == RULE_NESTING || rule == RULE_SIZE));
}

/* index: the event's place, -1 a fault of the file; name may be NULL. */
static void put(struct fault_list *list, enum check_rule rule, int64_t index,
		const char *name, const char *format, va_list args)
{
	struct text_buffer shown = {0};

	if (list->found[rule]++ >= FAULT_LINES_MAX)
		return;
	fprintf(list->out, "%s: %s", list->file,
		is_warning(list, rule) ? "warning: " : "");
	if (index >= 0)
		fprintf(list->out, "event %" PRId64, index);
	if (name) {
		text_buffer_add_printable(&shown, name, strlen(name),
					  NAME_BYTES_MAX);
		fprintf(list->out, " (name \"%s\")",
			shown.len ? shown.data : "");
	}
	if (index >= 0)
		fputs(": ", list->out);
	vfprintf(list->out, format, args);
	fprintf(list->out, " [rule %s]\n", rules[rule].number);
	text_buffer_free(&shown);
}

void fault_add(struct fault_list *list, enum check_rule rule,
	       const struct trace_event *event, const char *format, ...)
{
	const bool is_named =
		event && event->field[FIELD_NAME].type == TRACE_STRING;
	va_list args;

	va_start(args, format);
	put(list, rule, event ? (int64_t)event->index : -1,
	    is_named ? event->field[FIELD_NAME].text : NULL, format, args);
	va_end(args);
}

void fault_add_at(struct fault_list *list, enum check_rule rule, uint32_t index,
		  const char *name, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	put(list, rule, index, name, format, args);
	va_end(args);
}

void fault_list_end(const struct fault_list *list)
{
	for (unsigned int rule = 0; rule < RULE_COUNT; rule++)
		if (list->found[rule] > FAULT_LINES_MAX)
			fprintf(list->out,
				"%s: and %" PRIu64 " more: %s [rule %s]\n",
				list->file, list->found[rule] - FAULT_LINES_MAX,
				rules[rule].text, rules[rule].number);
}

uint64_t fault_list_sum(const struct fault_list *list, bool warnings)
{
	uint64_t total = 0;

	for (unsigned int rule = 0; rule < RULE_COUNT; rule++)
		if (is_warning(list, rule) == warnings)
			total += list->found[rule];
	return total;
}

void fault_list_rules(FILE *out)
{
	for (unsigned int rule = 0; rule < RULE_COUNT; rule++)
		fprintf(out, "%4s  %s%s\n", rules[rule].number,
			rules[rule].text,
			rules[rule].warning ? " (warning only)" : "");
}
