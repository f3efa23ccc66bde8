/* SPDX-License-Identifier: MIT */
/* report_breaks.c - see report_breaks.h. */
#include "tools/report/report_breaks.h"

#include <inttypes.h>
#include <string.h>

#include "tools/util/numbers.h"
#include "tools/util/text_wrap.h"

static const char begins[] = "graph break: ";

void report_breaks_event(struct report_breaks *breaks,
			 const struct trace_event *event)
{
	const struct trace_value *name = &event->field[FIELD_NAME];
	const size_t len = sizeof(begins) - 1;
	struct report_break *found;

	/* Earlier files have marks. */
	if ((!trace_value_is(&event->field[FIELD_PH], "X") &&
	     !trace_value_is(&event->field[FIELD_PH], "i")) ||
	    name->type != TRACE_STRING || name->len <= len ||
	    memcmp(name->text, begins, len) != 0)
		return;
	breaks->reasons.row_bytes = sizeof(*found);
	found = key_table_row(&breaks->reasons,
			      key_table_number(&breaks->reasons,
					       name->text + len,
					       name->len - len));
	found->count++;
	if (trace_event_is_slice(event))
		saturate_into(&found->in_vain_ns, event->dur_ns);
}

void report_breaks_free(struct report_breaks *breaks)
{
	key_table_free(&breaks->reasons);
}

const struct report_break *report_break(const struct report_breaks *breaks,
					size_t at)
{
	return key_table_row(&breaks->reasons, at);
}

void report_breaks_print(const struct report_breaks *breaks, size_t top,
			 FILE *out)
{
	const size_t count = breaks->reasons.count;

	if (count)
		fputc('\n', out);
	for (size_t at = 0; at < count && (!top || at < top); at++) {
		const struct report_break *found = report_break(breaks, at);
		const char *reason = key_table_key(&breaks->reasons, at, NULL);
		const struct quantity in_vain =
			quantity_time((double)found->in_vain_ns);

		text_wrap_print(
			out, 2,
			"Graph break in %" PRId64 " compilation%s%s%s%s: %s\n",
			found->count, plural(found->count),
			found->in_vain_ns ? ", " : "",
			found->in_vain_ns ? in_vain.text : "",
			found->in_vain_ns ? " traced in vain" : "", reason);
	}
	if (top && count > top)
		text_wrap_print(out, 2, "and %zu more reasons\n", count - top);
}
