/* SPDX-License-Identifier: MIT */
/* turn_first.c - see turn_plugin.h. */
#include "turn_plugin.h"

TURNS(works_first)
