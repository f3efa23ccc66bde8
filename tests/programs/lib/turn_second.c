/* SPDX-License-Identifier: MIT */
/* turn_second.c - see turn_plugin.h. */
#include "turn_plugin.h"

TURNS(works_second)
