/* SPDX-License-Identifier: MIT */
/* proto.c - protobuf's wire format, little endian. */
#include "tools/util/proto.h"

enum { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2 };

void proto_varint(struct text_buffer *out, uint64_t value)
{
	char bytes[10];
	size_t len = 0;

	for (; value > 0x7f; value >>= 7)
		bytes[len++] = (char)(value | 0x80);
	bytes[len++] = (char)value;
	text_buffer_add(out, bytes, len);
}

static void put_tag(struct text_buffer *out, unsigned int field, int wire)
{
	proto_varint(out, (uint64_t)field << 3 | (unsigned int)wire);
}

void proto_uint(struct text_buffer *out, unsigned int field, uint64_t value)
{
	put_tag(out, field, WIRE_VARINT);
	proto_varint(out, value);
}

void proto_fixed64(struct text_buffer *out, unsigned int field, uint64_t value)
{
	put_tag(out, field, WIRE_64);
	text_buffer_add(out, (const char *)&value, sizeof(value));
}

void proto_double(struct text_buffer *out, unsigned int field, double value)
{
	put_tag(out, field, WIRE_64);
	text_buffer_add(out, (const char *)&value, sizeof(value));
}

void proto_bytes(struct text_buffer *out, unsigned int field, const char *bytes,
		 size_t len)
{
	put_tag(out, field, WIRE_BYTES);
	proto_varint(out, len);
	text_buffer_add(out, bytes, len);
}

void proto_text(struct text_buffer *out, unsigned int field, const char *text)
{
	proto_bytes(out, field, text, strlen(text));
}

void proto_message(struct text_buffer *out, unsigned int field,
		   struct text_buffer *inner)
{
	proto_bytes(out, field, inner->data, inner->len);
	text_buffer_cut(inner, 0);
}
