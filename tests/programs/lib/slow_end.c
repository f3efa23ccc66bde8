/* SPDX-License-Identifier: MIT */
/* slow_end.c - a library whose destructor takes half a second. */
#include <unistd.h>

__attribute__((destructor)) static void end(void)
{
	usleep(500000);
}
