/* SPDX-License-Identifier: MIT */
/*
 * page_files.c - the page's script and style, put in by the assembler.
 */
#include "tools/page/page.h"

#define EMBED(symbol, file)                                                    \
	__asm__(".section .rodata\n"                                           \
		".global " #symbol "\n" #symbol ":\n"                          \
		".incbin \"tools/page/" file "\"\n"                            \
		".byte 0\n"                                                    \
		".previous\n")

EMBED(page_charts, "charts.js");
EMBED(page_script, "page.js");
EMBED(page_style, "page.css");
