/* SPDX-License-Identifier: MIT */
/*
 * json_print.h - JSON for programs, by yajl.
 *
 * Nothing is kept: what is put goes to the stream, and a failure shows there
 * (ferror()).  Text that isn't UTF-8 has '?' for each byte that is wrong, so
 * that the output is JSON whatever a trace names its functions.
 */
#ifndef TOOLS_JSON_PRINT_H
#define TOOLS_JSON_PRINT_H

#ifdef HAVE_YAJL

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <yajl/yajl_gen.h>

/* Opens the outermost object; never NULL (memory.h). */
yajl_gen json_print_begin(FILE *out, bool indented);
/* Closes it; what is indented ends its last line. */
void json_print_end(yajl_gen gen);

/* An element of a list. */
void json_print_string(yajl_gen gen, const char *text);

/* Members of an object. */
void json_print_text(yajl_gen gen, const char *key, const char *text);
void json_print_integer(yajl_gen gen, const char *key, int64_t value);
/* What is no finite number is 0. */
void json_print_number(yajl_gen gen, const char *key, double value);
void json_print_bool(yajl_gen gen, const char *key, bool value);

/* Closed by yajl_gen_map_close() and yajl_gen_array_close(). */
void json_print_object(yajl_gen gen, const char *key);
void json_print_list(yajl_gen gen, const char *key);

#endif
#endif
