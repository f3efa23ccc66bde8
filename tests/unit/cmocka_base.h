/* SPDX-License-Identifier: MIT */
/*
 * cmocka_base.h - cmocka with the headers that it wants included before it.
 */
#ifndef UNIT_CMOCKA_BASE_H
#define UNIT_CMOCKA_BASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#endif
