/* SPDX-License-Identifier: MIT */
/* line_table.c - reads CPython's tables of lines; see line_table.h. */
#include "preload/stack/line_table.h"

#include "collector/system/base.h"

static int next_byte(struct line_table *table)
{
	if (table->used == table->bytes) {
		table->bytes = (uint32_t)min_u64(table->end - table->at,
						 sizeof(table->data));
		table->used = 0;
		if (!table->bytes ||
		    !table->peek(table->at, table->data, table->bytes)) {
			table->bytes = 0;
			return -1;
		}
		table->at += table->bytes;
	}
	return table->data[table->used++];
}

static int32_t next_number(struct line_table *table)
{
	uint32_t value = 0;
	int byte;
	int shift = 0;

	do {
		byte = next_byte(table);
		if (byte < 0 || shift > 24)
			return 0;
		value |= (uint32_t)(byte & 63) << shift;
		shift += 6;
	} while (byte & 64);
	/* The sign is the lowest bit. */
	return value & 1 ? -(int32_t)(value >> 1) : (int32_t)(value >> 1);
}

int32_t line_table_find(struct line_table *table, int32_t line, uint64_t offset)
{
	uint64_t end = 0;
	int byte;

	while ((byte = next_byte(table)) >= 0) {
		const int kind = byte >> 3 & 15;

		end += 2 * (uint64_t)((byte & 7) + 1);
		if (kind == 13 || kind == 14)
			line += next_number(table);
		else if (kind >= 10 && kind <= 12)
			line += kind - 10;
		if (offset < end)
			return line;
		/* Columns end where the next entry begins. */
		while (table->used < table->bytes || table->at < table->end) {
			byte = next_byte(table);
			if (byte < 0)
				break;
			if (byte & 128) {
				table->used--;
				break;
			}
		}
	}
	return line;
}

int32_t line_table_find_10(struct line_table *table, int32_t line,
			   uint64_t offset)
{
	uint64_t end = 0;
	int bytes, delta;

	while ((bytes = next_byte(table)) >= 0 &&
	       (delta = next_byte(table)) >= 0) {
		if (delta != 128)
			line += (int8_t)delta;
		end += (uint64_t)bytes;
		if (offset < end)
			break;
	}
	return line;
}
