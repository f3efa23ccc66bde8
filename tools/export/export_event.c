/* SPDX-License-Identifier: MIT */
/* export_event.c - what the formats share: lanes, args, the output. */
#include "tools/export/export.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/util/numbers.h"

bool export_lane(const struct trace_event *event, int64_t *pid, int64_t *tid)
{
	const struct trace_value *field = event->field;

	return !decimal_to_integer(field[FIELD_PID].text, field[FIELD_PID].len,
				   pid) &&
	       !decimal_to_integer(field[FIELD_TID].text, field[FIELD_TID].len,
				   tid);
}

const char *export_args(const struct trace_event *event,
			struct text_buffer *text)
{
	text_buffer_cut(text, 0);
	text_buffer_add(text, "{", 1);
	for (size_t at = 0; at < event->pair_count; at++) {
		const struct trace_pair *pair = &event->pairs[at];

		if (pair->value.type == TRACE_OBJECT ||
		    (pair->value.type == TRACE_ARRAY && !pair->value.len))
			continue;
		if (text->len > 1)
			text_buffer_add(text, ",", 1);
		text_buffer_add_quoted(text, pair->key, strlen(pair->key));
		text_buffer_add(text, ":", 1);
		if (pair->value.type == TRACE_STRING)
			text_buffer_add_quoted(text, pair->value.text,
					       pair->value.len);
		else
			text_buffer_add(text, pair->value.text,
					pair->value.len);
	}
	text_buffer_add(text, "}", 1);
	return text->data;
}

void export_no_entry(void *arg, const struct trace_entry *entry)
{
	(void)arg;
	(void)entry;
}

void export_discard(const char *output)
{
	struct stat status;

	if (!lstat(output, &status) && S_ISREG(status.st_mode))
		unlink(output);
}

gzFile export_open(const char *output, const char *mode, char *why)
{
	gzFile out = strcmp(output, "-") ? gzopen(output, mode)
					 : gzdopen(dup(STDOUT_FILENO), mode);

	if (out)
		gzbuffer(out, 1 << 18);
	else
		snprintf(why, EXPORT_WHY, "%s: %s", output, strerror(errno));
	return out;
}

int export_close(gzFile out, const char *output, char *why)
{
	int status;
	const char *said = gzerror(out, &status);
	const int error = status == Z_ERRNO ? errno : EIO;

	if (status != Z_OK && status != Z_STREAM_END) {
		snprintf(why, EXPORT_WHY, "%s: %s", output,
			 status == Z_ERRNO ? strerror(error) : said);
		gzclose(out);
		return -error;
	}
	errno = EIO;
	if (gzclose(out) == Z_OK)
		return 0;
	snprintf(why, EXPORT_WHY, "%s: %s", output, strerror(errno));
	return -errno;
}
