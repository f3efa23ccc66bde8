/* SPDX-License-Identifier: MIT */
/*
 * proto.h - fields of protobuf messages, as bytes.
 *
 * Six kinds of fields are all that Perfetto's traces and pprof's profiles
 * need; a library would be more code than this.  A message in a message is made
 * in a buffer of its own and put in as bytes.
 */
#ifndef TOOLS_PROTO_H
#define TOOLS_PROTO_H

#include <stdint.h>

#include "tools/util/text_buffer.h"

void proto_varint(struct text_buffer *out, uint64_t value);
void proto_uint(struct text_buffer *out, unsigned int field, uint64_t value);
void proto_fixed64(struct text_buffer *out, unsigned int field, uint64_t value);
void proto_double(struct text_buffer *out, unsigned int field, double value);
void proto_bytes(struct text_buffer *out, unsigned int field, const char *bytes,
		 size_t len);
void proto_text(struct text_buffer *out, unsigned int field, const char *text);

/* `inner`, and empties it. */
void proto_message(struct text_buffer *out, unsigned int field,
		   struct text_buffer *inner);

#endif
