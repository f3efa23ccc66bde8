/* SPDX-License-Identifier: MIT */
/* module_name.c - modules of addresses without symbols; see module_name.h. */
#include "tools/util/module_name.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool is_number(const char *text)
{
	static const char digits[] = "0123456789abcdef";

	return *text && !text[strspn(text, digits)];
}

size_t module_name(const char *text, char *name, size_t bytes)
{
	static const char nowhere[] = "code at 0x";
	const char *plus = NULL;
	size_t len;

	if (!strncmp(text, nowhere, sizeof(nowhere) - 1) &&
	    is_number(text + sizeof(nowhere) - 1))
		return (size_t)snprintf(name, bytes, "[no module]");
	for (const char *at = text; (at = strstr(at, "+0x")); at += 3)
		plus = at;
	len = plus ? (size_t)(plus - text) : 0;
	if (!len || len + sizeof("[]") > bytes || !is_number(plus + 3))
		return 0;
	return (size_t)snprintf(name, bytes, "[%.*s]", (int)len, text);
}
