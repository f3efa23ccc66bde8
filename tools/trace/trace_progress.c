/* SPDX-License-Identifier: MIT */
/* trace_progress.c - how far a file is; see trace_progress.h. */
#include "tools/trace/trace_progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tools/util/numbers.h"

void trace_progress_take(struct trace_progress *unfinished, const char *path,
			 const char *text)
{
	if (strncmp(path, "traceprof.", 10) != 0)
		return;
	path += 10;
	if (!strcmp(path, "final"))
		unfinished->is_so = !strcmp(text, "false");
	else if (!strcmp(path, "waiting"))
		decimal_to_integer(text, strlen(text), &unfinished->waiting);
	else if (!strcmp(path, "events.written"))
		decimal_to_integer(text, strlen(text), &unfinished->written);
}

struct text_buffer trace_progress_text(const struct trace_progress *unfinished,
				       const char *file)
{
	const char *last = strrchr(file, '/');
	struct text_buffer text = {0};

	text_buffer_cut(&text, 0);
	text_buffer_format(&text,
			   "not finished: %" PRId64
			   " events were in it and %" PRId64
			   " waited when it was last written. While its "
			   "program runs or another process writes the rest, "
			   "look again later; if not, `traceprof recover ",
			   unfinished->written, unfinished->waiting);
	if (last)
		text_buffer_add_printable(
			&text, file, last > file ? (size_t)(last - file) : 1,
			SIZE_MAX);
	else
		text_buffer_format(&text, ".");
	text_buffer_format(&text, "` adds what memory holds");
	return text;
}

void trace_progress_say(const struct trace_progress *unfinished,
			const char *file)
{
	static char said[4096]; /* the caller's text may be gone */
	struct text_buffer text;

	if (!strcmp(said, file))
		return;
	snprintf(said, sizeof(said), "%s", file);
	text = trace_progress_text(unfinished, file);
	fprintf(stderr, "%s: %s\n", file, text.data);
	text_buffer_free(&text);
}
