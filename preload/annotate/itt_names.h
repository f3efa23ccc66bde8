/* SPDX-License-Identifier: MIT */
/*
 * itt_names.h - domains and strings of ITT, made for the copies of ittnotify.
 *
 * Older copies make them by themselves.  Newer ones do so before they have a
 * collector alone, and have none then.
 */
#ifndef PRELOAD_ITT_NAMES_H
#define PRELOAD_ITT_NAMES_H

#include "preload/annotate/itt_abi.h"

/* One for each text, never freed.  NULL: no room, which is counted. */
struct itt_domain *itt_domain_create(const char *name);
struct itt_string *itt_string_create(const char *text);

#endif
