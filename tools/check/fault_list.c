/* SPDX-License-Identifier: MIT */
/*
 * fault_list.c - prints what was found against the rules, and counts it.
 */
#include "tools/check/fault_list.h"

#include <inttypes.h>
#include <stdarg.h>

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

/* Counts one; true while its line shall still be printed. */
static bool count(struct fault_list *list, enum rule rule)
{
	return list->found[rule]++ < FAULT_LINES_MAX;
}

static void put(struct fault_list *list, enum rule rule, const char *place,
		const char *format, va_list args)
{
	fprintf(list->out, "%s: %s%s", list->file,
		rules[rule].warning ? "warning: " : "", place);
	vfprintf(list->out, format, args);
	fprintf(list->out, " [rule %s]\n", rules[rule].number);
}

void fault_add(struct fault_list *list, enum rule rule,
	       const struct trace_event *event, const char *format, ...)
{
	struct text_buffer place = {0};
	va_list args;

	if (!count(list, rule))
		return;
	text_buffer_cut(&place, 0);
	if (event) {
		const struct trace_value *name = &event->field[FIELD_NAME];

		text_buffer_format(&place, "event %" PRIu64, event->index);
		if (name->type == TRACE_STRING) {
			text_buffer_add(&place, " (name \"", 8);
			text_buffer_add_printable(&place, name->text, name->len,
						  NAME_BYTES_MAX);
			text_buffer_add(&place, "\")", 2);
		}
		text_buffer_add(&place, ": ", 2);
	}
	va_start(args, format);
	put(list, rule, place.data, format, args);
	va_end(args);
	text_buffer_free(&place);
}

void fault_add_at(struct fault_list *list, enum rule rule, uint64_t index,
		  const char *format, ...)
{
	char place[40];
	va_list args;

	if (!count(list, rule))
		return;
	snprintf(place, sizeof(place), "event %" PRIu64 ": ", index);
	va_start(args, format);
	put(list, rule, place, format, args);
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

static uint64_t sum(const struct fault_list *list, bool warnings)
{
	uint64_t total = 0;

	for (unsigned int rule = 0; rule < RULE_COUNT; rule++)
		if (rules[rule].warning == warnings)
			total += list->found[rule];
	return total;
}

uint64_t fault_list_faults(const struct fault_list *list)
{
	return sum(list, false);
}

uint64_t fault_list_warnings(const struct fault_list *list)
{
	return sum(list, true);
}

void fault_list_rules(FILE *out)
{
	for (unsigned int rule = 0; rule < RULE_COUNT; rule++)
		fprintf(out, "%4s  %s%s\n", rules[rule].number,
			rules[rule].text,
			rules[rule].warning ? " (warning only)" : "");
}
