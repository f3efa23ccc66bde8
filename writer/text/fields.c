/* SPDX-License-Identifier: MIT */
/* fields.c - notes on lines and fields of a text; see fields.h. */
#include "writer/text/fields.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/* A line has 60 bytes and more, a field with its key 16. */
#define LINES 8192u
#define ENDS  32768u

#define BYTES (LINES * sizeof(struct field_line) + ENDS * sizeof(uint32_t))

int fields_open(struct fields *fields)
{
	void *room = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memset(fields, 0, sizeof(*fields));
	if (room == MAP_FAILED)
		return -ENOMEM;
	fields->line = room;
	fields->line_room = LINES - 1;
	fields->end = (uint32_t *)(fields->line + LINES);
	fields->end_room = ENDS;
	return 0;
}

void fields_close(struct fields *fields)
{
	if (fields->line)
		munmap(fields->line, BYTES);
	memset(fields, 0, sizeof(*fields));
}

void fields_back(struct fields *fields, size_t at)
{
	while (fields->lines && fields->line[fields->lines - 1].begin >= at)
		fields->lines--;
	while (fields->ends && (fields->end[fields->ends - 1] & FIELD_END) > at)
		fields->ends--;
	fields->last = (uint32_t)min_u64(fields->last, at);
}
